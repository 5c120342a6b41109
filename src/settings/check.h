/*
 * What has to be right about several options together, when each of them is.
 */
#ifndef RUNNEL_SETTINGS_CHECK_H
#define RUNNEL_SETTINGS_CHECK_H

#include "base/status.h"

struct outline;
struct settings;

/* outline is of the conf that the settings come from; STATUS_INVALID: see outline_refuse(). */
enum status settings_check(const struct outline *outline, const struct settings *settings,
    struct reason *why) MUST_CHECK;

/* Log what is allowed but hardly meant: a module that no listener has. */
void settings_warn(const struct outline *outline, const struct settings *settings);

#endif
