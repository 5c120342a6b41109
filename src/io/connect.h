/*
 * Connecting without waiting: begun, then looked at when the socket is writable.
 */
#ifndef RUNNEL_IO_CONNECT_H
#define RUNNEL_IO_CONNECT_H

#include <sys/socket.h>

#include "base/status.h"
#include "io/options.h"

/*
 * Begin to connect: *fd is the caller's, non-blocking and close-on-exec, and writable when the
 * outcome is known. STATUS_ERRNO: it failed at once.
 */
enum status connect_begin(const struct sockaddr_storage *addr, socklen_t addr_len,
    const struct socket_options *options, int *fd) MUST_CHECK;

/*
 * The outcome, when fd is writable: 0, or the errno of the failure. A socket that has connected
 * to itself, which happens on the own machine when nobody listens on a port that the kernel
 * gives to clients, is ECONNREFUSED.
 */
int connect_outcome(int fd);

#endif
