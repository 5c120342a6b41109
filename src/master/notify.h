/*
 * Telling the service manager what the daemon is doing, as sd_notify(3) and sd_watchdog_enabled(3)
 * describe it: datagrams to the socket that NOTIFY_SOCKET names. Without one, nothing happens.
 * Process: the master.
 */
#ifndef RUNNEL_MASTER_NOTIFY_H
#define RUNNEL_MASTER_NOTIFY_H

#include <ev.h>
#include <sys/types.h>

#include "base/status.h"

/*
 * Take the variables out of the environment, so that no child has them: before the first fork.
 */
void notify_init(void);

/* The daemon serves: at the start, and after each reload, whether that has succeeded or not. */
void notify_ready(void);

/* It reads its conf anew; notify_ready() has to follow. */
void notify_reloading(void);

/* It ends. */
void notify_stopping(void);

/* One line about it, for people. */
void notify_status(const char *fmt, ...) PRINTF_LIKE(1, 2);

/*
 * Another process is the master from now on: this one says so, for the service manager takes it
 * from nobody else, and nothing more.
 */
void notify_hand_over(pid_t pid);

/* Keep telling a watchdog that the loop turns, if there is one. */
void notify_watchdog_start(struct ev_loop *loop);

/* Also in a worker process. */
void notify_watchdog_stop(struct ev_loop *loop);

/* In a child that is about to execute the next master: put the variables back, for its pid. */
void notify_export(void);

#endif
