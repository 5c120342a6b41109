/*
 * Listening sockets: one SO_REUSEPORT group for an address. The kernel spreads
 * new connections over those of the group that listen; each has a queue of its own.
 */
#ifndef RUNNEL_IO_LISTEN_H
#define RUNNEL_IO_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/status.h"
#include "io/options.h"

/*
 * Open the first socket of a group: it listens. *fd, non-blocking and
 * close-on-exec, is the caller's then, and *addr is where it listens (port 0: a
 * free port has been chosen).
 *
 * The address is ours alone or STATUS_ERRNO with EADDRINUSE comes back, also
 * when another process would have shared it: the socket binds and listens
 * without SO_REUSEPORT, which the kernel grants to one process only, and takes
 * the option afterwards, so that the rest of the group may join it.
 */
enum status listen_open(struct sockaddr_storage *addr, socklen_t len,
    const struct socket_options *options, int *fd) MUST_CHECK;

/*
 * Make a listening socket that another process has opened the first of a group. Sockets of this
 * process may join it only when they have the same user.
 */
enum status listen_take_over(int fd, const struct socket_options *options) MUST_CHECK;

/*
 * Open another socket of the group at addr, or one whose address overlaps it. It does not
 * listen yet.
 */
enum status listen_join(const struct sockaddr_storage *addr, socklen_t len,
    const struct socket_options *options, int *fd) MUST_CHECK;

/* From now on connections come to it. */
enum status listen_start(int fd) MUST_CHECK;

/* Give a listening socket these options; connections accepted before keep theirs. */
enum status listen_adjust(int fd, const struct socket_options *options) MUST_CHECK;

#endif
