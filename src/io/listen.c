#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <unistd.h>

#include "io/listen.h"

/* The kernel cuts this to net.core.somaxconn. */
#define BACKLOG 65535

static int set_option(int fd, int level, int name)
{
	int on = 1;

	return setsockopt(fd, level, name, &on, sizeof(on));
}

static int open_one(const struct sockaddr_storage *addr, socklen_t addr_len, bool is_first)
{
	int fd = socket(addr->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int saved_errno;

	if (fd < 0)
		return -1;
	/* Accepted sockets inherit TCP_NODELAY: what is flushed leaves at once. */
	if (set_option(fd, SOL_SOCKET, SO_REUSEADDR) < 0 ||
	    set_option(fd, IPPROTO_TCP, TCP_NODELAY) < 0 ||
	    (addr->ss_family == AF_INET6 && set_option(fd, IPPROTO_IPV6, IPV6_V6ONLY) < 0) ||
	    (!is_first && set_option(fd, SOL_SOCKET, SO_REUSEPORT) < 0) ||
	    bind(fd, (const struct sockaddr *)addr, addr_len) < 0 || listen(fd, BACKLOG) < 0 ||
	    (is_first && set_option(fd, SOL_SOCKET, SO_REUSEPORT) < 0)) {
		saved_errno = errno;
		close(fd);
		errno = saved_errno;
		return -1;
	}
	return fd;
}

enum status listen_open(const struct sockaddr_storage *addr, socklen_t addr_len, unsigned int n,
    int fds[], struct endpoint *bound)
{
	struct sockaddr_storage actual = *addr;
	socklen_t actual_len = sizeof(actual);
	unsigned int n_open;
	int saved_errno;

	for (n_open = 0; n_open < n; n_open++) {
		fds[n_open] = open_one(&actual, addr_len, n_open == 0);
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
