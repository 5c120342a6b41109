#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <unistd.h>

#include "io/listen.h"

/* The kernel cuts this to net.core.somaxconn. */
#define BACKLOG 65535

static bool set_option(int fd, int level, int name, uint32_t value)
{
	return setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

/* Accepted sockets inherit TCP_NODELAY: what is flushed leaves at once. */
static bool set_options(int fd, sa_family_t family, const struct socket_options *options)
{
	return set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) &&
	       set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1) &&
	       (family != AF_INET6 || set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1)) &&
	       (options->notsent_lowat == 0 ||
		   set_option(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, options->notsent_lowat)) &&
	       (options->user_timeout_ms == 0 ||
		   set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, options->user_timeout_ms)) &&
	       (options->send_buffer == 0 ||
		   set_option(fd, SOL_SOCKET, SO_SNDBUF, options->send_buffer)) &&
	       (options->receive_buffer == 0 ||
		   set_option(fd, SOL_SOCKET, SO_RCVBUF, options->receive_buffer));
}

static int open_one(const struct sockaddr_storage *addr, socklen_t addr_len,
    const struct socket_options *options, bool is_first)
{
	int fd = socket(addr->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int saved_errno;

	if (fd < 0)
		return -1;
	if (!set_options(fd, addr->ss_family, options) ||
	    (!is_first && !set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1)) ||
	    bind(fd, (const struct sockaddr *)addr, addr_len) < 0 || listen(fd, BACKLOG) < 0 ||
	    (is_first && !set_option(fd, SOL_SOCKET, SO_REUSEPORT, 1))) {
		saved_errno = errno;
		close(fd);
		errno = saved_errno;
		return -1;
	}
	return fd;
}

enum status listen_open(const struct sockaddr_storage *addr, socklen_t addr_len,
    const struct socket_options *options, unsigned int n, int fds[], struct endpoint *bound)
{
	struct sockaddr_storage actual = *addr;
	socklen_t actual_len = sizeof(actual);
	unsigned int n_open;
	int saved_errno;

	for (n_open = 0; n_open < n; n_open++) {
		fds[n_open] = open_one(&actual, addr_len, options, n_open == 0);
		if (fds[n_open] < 0)
			goto fail;
		if (n_open == 0 &&
		    getsockname(fds[0], (struct sockaddr *)&actual, &actual_len) < 0) {
			n_open++;
			goto fail;
		}
	}
	endpoint_set(bound, &actual);
	return STATUS_OK;
fail:
	saved_errno = errno;
	while (n_open > 0)
		close(fds[--n_open]);
	errno = saved_errno;
	return STATUS_ERRNO;
}
