/*
 * What concerns several options of a listener's framing.
 */
#ifndef RUNNEL_SETTINGS_CHECK_FRAMING_H
#define RUNNEL_SETTINGS_CHECK_FRAMING_H

#include "base/status.h"

struct listen_settings;
struct outline;

/*
 * A section of another framing, and a length-field that no frame can have, are refused. Whether
 * there is a framing of that name is seen later, when the modules are known.
 * STATUS_INVALID: see outline_refuse().
 */
enum status settings_check_framing(const struct outline *outline,
    const struct listen_settings *listener, struct reason *why) MUST_CHECK;

#endif
