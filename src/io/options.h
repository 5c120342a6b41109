/*
 * Options of the sockets of connections, see tcp(7) and socket(7). Accepted ones
 * inherit them from the listening socket.
 */
#ifndef RUNNEL_IO_OPTIONS_H
#define RUNNEL_IO_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* 0: what the kernel does by itself; a buffer's size stays as it is. */
struct socket_options {
	uint32_t notsent_lowat;   /* bytes: TCP_NOTSENT_LOWAT */
	uint32_t user_timeout_ms; /* TCP_USER_TIMEOUT */
	uint32_t send_buffer;     /* bytes: SO_SNDBUF */
	uint32_t receive_buffer;  /* bytes: SO_RCVBUF */
	/*
	 * Of silence, after which the peer is asked; without an answer it is over when the same
	 * time has passed again. SO_KEEPALIVE, in seconds, rounded up.
	 */
	uint32_t keepalive_ms;
};

/* False: errno says why. */
bool socket_options_set(int fd, const struct socket_options *options);

/* Only the sizes of the buffers, which any socket has. */
bool socket_buffers_set(int fd, const struct socket_options *options);

/* One option whose value is a number. */
bool socket_option_set(int fd, int level, int name, uint32_t value);

#endif
