/*
 * What has to be right about a conf on the machine where it is going to run: the users it names
 * and the like. It is asked once, where the file is read; a worker that is started later goes
 * by what was found then.
 */
#ifndef RUNNEL_SETTINGS_MACHINE_H
#define RUNNEL_SETTINGS_MACHINE_H

#include "base/status.h"

struct outline;
struct settings;

/*
 * Only the options outside of sections are read. STATUS_INVALID: see outline_refuse().
 */
enum status machine_check(const struct outline *outline, const struct settings *settings,
    struct reason *why) MUST_CHECK;

#endif
