/*
 * What concerns several options of the framing of a listener, or of an upstream.
 */
#ifndef RUNNEL_SETTINGS_CHECK_FRAMING_H
#define RUNNEL_SETTINGS_CHECK_FRAMING_H

#include "base/status.h"

struct listen_settings;
struct outline;
struct outline_section;

/*
 * place: the listener's section, or the upstream's. A section within it of another framing, and a length-field that no frame can have, are refused. Whether
 * there is a framing of that name is seen later, when the modules are known.
 * STATUS_INVALID: see outline_refuse().
 */
enum status settings_check_framing(const struct outline *outline,
    const struct outline_section *place, const struct listen_settings *listener,
    struct reason *why) MUST_CHECK;

#endif
