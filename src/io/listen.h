/*
 * Listening sockets: one SO_REUSEPORT group for an address, a socket for each
 * slot. The kernel spreads new connections over the group; each socket has a
 * queue of its own, which waits while the slot has no worker.
 */
#ifndef RUNNEL_IO_LISTEN_H
#define RUNNEL_IO_LISTEN_H

#include <sys/socket.h>

#include "base/status.h"
#include "io/endpoint.h"

/* What accepted sockets inherit from the listening one; 0: what the kernel does by itself. */
struct socket_options {
	uint32_t notsent_lowat;   /* bytes: TCP_NOTSENT_LOWAT, see tcp(7) */
	uint32_t user_timeout_ms; /* TCP_USER_TIMEOUT */
	uint32_t send_buffer;     /* bytes: SO_SNDBUF, see socket(7) */
	uint32_t receive_buffer;  /* bytes: SO_RCVBUF */
};

/*
 * Open n sockets on addr, non-blocking and close-on-exec; fds[] are the caller's
 * then. *bound is where they listen (port 0 in addr: a free port).
 *
 * The address is ours alone or STATUS_ERRNO with EADDRINUSE comes back, also
 * when another process would have shared it: the first socket binds and listens
 * without SO_REUSEPORT, which the kernel grants to one process only, and takes
 * the option afterwards, so that the rest of the group may join it.
 */
enum status listen_open(const struct sockaddr_storage *addr, socklen_t addr_len,
    const struct socket_options *options, unsigned int n, int fds[],
    struct endpoint *bound) MUST_CHECK;

#endif
