#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/passing.h"
#include "worker/channel.h"

static int reserve = -1; /* a descriptor that holds the place; -1: none */

enum status channel_open(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
		return STATUS_ERRNO;
	return STATUS_OK;
}

bool channel_send(int fd, enum channel_type type, uint32_t arg)
{
	return channel_send_fd(fd, type, arg, -1);
}

bool channel_send_fd(int fd, enum channel_type type, uint32_t arg, int passed)
{
	const struct channel_message message = { .type = type, .arg = arg };

	return passing_send(fd, &message, sizeof(message), passed) == (ssize_t)sizeof(message);
}

enum channel_read channel_receive(int fd, struct channel_message *message, int *passed)
{
	ssize_t n;

	if (reserve >= 0)
		close(reserve);
	reserve = -1;
	n = passing_receive(fd, message, sizeof(*message), passed);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return CHANNEL_NOTHING;
	return n == (ssize_t)sizeof(*message) ? CHANNEL_MESSAGE : CHANNEL_END;
}

void channel_reserve(int fd)
{
	if (reserve < 0)
		reserve = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}
