#include "config.h"

#include <errno.h>
#include <sys/socket.h>

#include "worker/channel.h"

enum status channel_open(int ends[2])
{
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) < 0)
		return STATUS_ERRNO;
	return STATUS_OK;
}

bool channel_send(int fd, enum channel_type type, uint32_t arg)
{
	struct channel_message message = { .type = type, .arg = arg };
	ssize_t n;

	do
		n = send(fd, &message, sizeof(message), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(message);
}

enum channel_read channel_receive(int fd, struct channel_message *message)
{
	ssize_t n;

	do
		n = recv(fd, message, sizeof(*message), 0);
	while (n < 0 && errno == EINTR);
	if (n == (ssize_t)sizeof(*message))
		return CHANNEL_MESSAGE;
	return n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? CHANNEL_NOTHING
								  : CHANNEL_END;
}
