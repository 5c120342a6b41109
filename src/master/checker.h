/*
 * The checker: a child process that reads the conf, loads the modules, configures
 * them and lays the routes, so that the master, which loads no module, knows that
 * it all fits together, and so that no fault of a module can hurt the master.
 */
#ifndef RUNNEL_MASTER_CHECKER_H
#define RUNNEL_MASTER_CHECKER_H

#include "base/status.h"

/*
 * Check the conf at path. On success *text is the normalised conf, owned by the
 * caller. STATUS_INVALID: *why says what is wrong, also when the checker crashed
 * or did not end in time.
 */
enum status checker_run(const char *path, char **text, struct reason *why) MUST_CHECK;

#endif
