/*
 * Becoming a daemon. The process that was started waits until the daemon serves
 * or has failed, and its exit status says which.
 */
#ifndef RUNNEL_MASTER_DETACH_H
#define RUNNEL_MASTER_DETACH_H

#include "base/status.h"

/*
 * Go on in a child process, in a session of its own. The parent does not return
 * from this: it exits with 0 once detach_ready() was called, with 1 if the child
 * ended before. Standard error stays until then, for start-up trouble.
 */
enum status detach(struct reason *why) MUST_CHECK;

/*
 * The daemon serves: let the parent go, and with it the terminal. Without detach() nothing
 * happens.
 */
void detach_ready(void);

/* In a worker: it is not the one to say so. */
void detach_forget(void);

#endif
