#include "config.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include "io/options.h"

/* Questions without an answer before a connection is over. */
#define KEEPALIVE_PROBES 4

/* The kernel keeps the times as short numbers. */
#define KEEPALIVE_MAX_S 32767

bool socket_option_set(int fd, int level, int name, uint32_t value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

static bool set_keepalive(int fd, uint32_t keepalive_ms)
{
	uint32_t idle_s = keepalive_ms / 1000 + (keepalive_ms % 1000 > 0), pause_s;

	if (idle_s > KEEPALIVE_MAX_S)
		idle_s = KEEPALIVE_MAX_S;
	pause_s = (idle_s + KEEPALIVE_PROBES - 1) / KEEPALIVE_PROBES;
	return socket_option_set(fd, SOL_SOCKET, SO_KEEPALIVE, 1) &&
	       socket_option_set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle_s) &&
	       socket_option_set(fd, IPPROTO_TCP, TCP_KEEPINTVL, pause_s) &&
	       socket_option_set(fd, IPPROTO_TCP, TCP_KEEPCNT, KEEPALIVE_PROBES);
}

bool socket_buffers_set(int fd, const struct socket_options *options)
{
	return (options->send_buffer == 0 ||
		   socket_option_set(fd, SOL_SOCKET, SO_SNDBUF, options->send_buffer)) &&
	       (options->receive_buffer == 0 ||
		   socket_option_set(fd, SOL_SOCKET, SO_RCVBUF, options->receive_buffer));
}

bool socket_options_set(int fd, const struct socket_options *options)
{
	/* For the first two 0 means the kernel's own limit to the kernel, too. */
	return socket_option_set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, options->notsent_lowat) &&
	       socket_option_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, options->user_timeout_ms) &&
	       socket_buffers_set(fd, options) &&
	       (options->keepalive_ms == 0 || set_keepalive(fd, options->keepalive_ms));
}
