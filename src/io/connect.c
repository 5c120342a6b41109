#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "io/connect.h"

static bool set_options(int fd, sa_family_t family, const struct socket_options *options)
{
	if (family == AF_UNIX)
		return socket_buffers_set(fd, options);
	return socket_option_set(fd, IPPROTO_TCP, TCP_NODELAY, 1) &&
	       socket_options_set(fd, options);
}

enum status connect_begin(const struct sockaddr_storage *addr, socklen_t addr_len,
    const struct socket_options *options, int *result)
{
	int fd = socket(addr->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int saved_errno;

	if (fd < 0)
		return STATUS_ERRNO;
	/* After EINTR, too, it goes on by itself. */
	if (set_options(fd, addr->ss_family, options) &&
	    (connect(fd, (const struct sockaddr *)addr, addr_len) == 0 ||
		errno == EINPROGRESS || errno == EINTR)) {
		*result = fd;
		return STATUS_OK;
	}
	saved_errno = errno;
	close(fd);
	errno = saved_errno;
	return STATUS_ERRNO;
}

static bool is_own(int fd)
{
	struct sockaddr_storage near = { 0 }, far = { 0 };
	socklen_t near_len = sizeof(near), far_len = sizeof(far);

	return getsockname(fd, (struct sockaddr *)&near, &near_len) == 0 &&
	       getpeername(fd, (struct sockaddr *)&far, &far_len) == 0 && near_len == far_len &&
	       memcmp(&near, &far, near_len) == 0;
}

int connect_outcome(int fd)
{
	socklen_t len = sizeof(int);
	int error;

	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		return errno;
	if (error != 0)
		return error;
	return is_own(fd) ? ECONNREFUSED : 0;
}
