/*
 * Listening sockets that a service manager has opened before it started the daemon, as
 * sd_listen_fds(3) describes it: LISTEN_FDS descriptors from 3 on, for the process LISTEN_PID.
 * An inherited socket becomes the first of the group of the address that it is bound to, so the
 * conf has to list that address. Process: the master.
 */
#ifndef RUNNEL_MASTER_ACTIVATION_H
#define RUNNEL_MASTER_ACTIVATION_H

#include <sys/socket.h>

#include "base/status.h"

/*
 * Take the variables out of the environment and the descriptors that they promise, which are
 * close-on-exec and non-blocking then: before the first fork. STATUS_INVALID: *why names what
 * is no listening TCP socket.
 */
enum status activation_init(struct reason *why) MUST_CHECK;

/* The inherited socket that listens on addr, the caller's; -1: none, or it is taken already. */
int activation_take(const struct sockaddr_storage *addr);

/*
 * When all addresses have been asked for: STATUS_INVALID: *why names the address of an inherited
 * socket that nobody took.
 */
enum status activation_check(struct reason *why) MUST_CHECK;

/* Close what nobody took. */
void activation_close(void);

#endif
