/*
 * Files that root opens by name again and again, for as long as the daemon runs. Whoever can
 * write to a folder on the way could put another file in their place, and have root write there.
 */
#ifndef RUNNEL_MASTER_GUARD_H
#define RUNNEL_MASTER_GUARD_H

#include "base/status.h"

struct privileges;

/*
 * Path is absolute; what is "log file" or the like. STATUS_INVALID: the user of the workers can
 * write to the folder that *why names.
 */
enum status guard_path(const char *path, const char *what, const struct privileges *privileges,
    struct reason *why) MUST_CHECK;

#endif
