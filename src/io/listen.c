#include "config.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <unistd.h>

#include "io/listen.h"

/* The kernel cuts this to net.core.somaxconn. */
#define BACKLOG 65535

/* Of two that begin to listen at one address in the same instant. */
#define CLASH_TRIES 5
#define CLASH_PAUSE_US 1000

enum status listen_adjust(int fd, const struct socket_options *options)
{
	return socket_options_set(fd, options) ? STATUS_OK : STATUS_ERRNO;
}

static bool set_options(int fd, sa_family_t family, const struct socket_options *options)
{
	/* Accepted sockets inherit TCP_NODELAY: what is flushed leaves at once. */
	return socket_option_set(fd, SOL_SOCKET, SO_REUSEADDR, 1) &&
	       socket_option_set(fd, IPPROTO_TCP, TCP_NODELAY, 1) &&
	       (family != AF_INET6 || socket_option_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1)) &&
	       listen_adjust(fd, options) == STATUS_OK;
}

/* A socket bound to addr, which shares it or not. */
static int open_bound(const struct sockaddr_storage *addr, socklen_t len,
    const struct socket_options *options, bool is_sharing)
{
	int fd = socket(addr->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int saved_errno;

	if (fd < 0)
		return -1;
	if (set_options(fd, addr->ss_family, options) &&
	    (!is_sharing || socket_option_set(fd, SOL_SOCKET, SO_REUSEPORT, 1)) &&
	    bind(fd, (const struct sockaddr *)addr, len) == 0)
		return fd;
	saved_errno = errno;
	close(fd);
	errno = saved_errno;
	return -1;
}

/* A socket that is bound to addr alone, and listens. */
static int open_listening(
    const struct sockaddr_storage *addr, socklen_t len, const struct socket_options *options)
{
	int fd = open_bound(addr, len, options, false), saved_errno;

	if (fd < 0 || listen_start(fd) == STATUS_OK)
		return fd;
	saved_errno = errno;
	close(fd);
	errno = saved_errno;
	return -1;
}

/*
 * bind() fails when somebody listens there. When nobody does, but two begin to at once, each may
 * see the other, and the kernel refuses both: they try again, one before the other.
 */
static int open_alone(
    const struct sockaddr_storage *addr, socklen_t len, const struct socket_options *options)
{
	int fd = open_listening(addr, len, options);

	for (unsigned int i = 1; i < CLASH_TRIES && fd < 0 && errno == EADDRINUSE; i++) {
		usleep(CLASH_PAUSE_US * (1 + (unsigned int)getpid() * i % 7));
		fd = open_listening(addr, len, options);
	}
	return fd;
}

enum status listen_open(struct sockaddr_storage *addr, socklen_t len,
    const struct socket_options *options, int *result)
{
	socklen_t actual_len = sizeof(*addr);
	int fd = open_alone(addr, len, options), saved_errno;

	if (fd < 0)
		return STATUS_ERRNO;
	if (socket_option_set(fd, SOL_SOCKET, SO_REUSEPORT, 1) &&
	    getsockname(fd, (struct sockaddr *)addr, &actual_len) == 0) {
		*result = fd;
		return STATUS_OK;
	}
	saved_errno = errno;
	close(fd);
	errno = saved_errno;
	return STATUS_ERRNO;
}

enum status listen_take_over(int fd, const struct socket_options *options)
{
	if (socket_option_set(fd, IPPROTO_TCP, TCP_NODELAY, 1) &&
	    listen_adjust(fd, options) == STATUS_OK && listen_start(fd) == STATUS_OK &&
	    socket_option_set(fd, SOL_SOCKET, SO_REUSEPORT, 1))
		return STATUS_OK;
	return STATUS_ERRNO;
}

enum status listen_join(const struct sockaddr_storage *addr, socklen_t len,
    const struct socket_options *options, int *result)
{
	*result = open_bound(addr, len, options, true);
	return *result >= 0 ? STATUS_OK : STATUS_ERRNO;
}

enum status listen_start(int fd)
{
	return listen(fd, BACKLOG) == 0 ? STATUS_OK : STATUS_ERRNO;
}
