#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "worker/channel.h"

/* Room for one descriptor, aligned as the header of a control message has to be. */
union passing {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

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
	struct channel_message message = { .type = type, .arg = arg };
	struct iovec iov = { .iov_base = &message, .iov_len = sizeof(message) };
	union passing passing = { { 0 } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n;

	if (passed >= 0) {
		struct cmsghdr *control;

		msg.msg_control = &passing;
		msg.msg_controllen = sizeof(passing);
		control = CMSG_FIRSTHDR(&msg);
		control->cmsg_level = SOL_SOCKET;
		control->cmsg_type = SCM_RIGHTS;
		control->cmsg_len = CMSG_LEN(sizeof(passed));
		memcpy(CMSG_DATA(control), &passed, sizeof(passed));
	}
	do
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(message);
}

enum channel_read channel_receive(int fd, struct channel_message *message, int *passed)
{
	struct iovec iov = { .iov_base = message, .iov_len = sizeof(*message) };
	union passing passing;
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &passing,
		.msg_controllen = sizeof(passing) };
	const struct cmsghdr *control;
	ssize_t n;

	if (reserve >= 0)
		close(reserve);
	reserve = -1;
	*passed = -1;
	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return CHANNEL_NOTHING;
	if (n != (ssize_t)sizeof(*message))
		return CHANNEL_END;
	control = CMSG_FIRSTHDR(&msg);
	if (control != NULL && control->cmsg_level == SOL_SOCKET &&
	    control->cmsg_type == SCM_RIGHTS)
		memcpy(passed, CMSG_DATA(control), sizeof(*passed));
	return CHANNEL_MESSAGE;
}

void channel_reserve(int fd)
{
	if (reserve < 0)
		reserve = fcntl(fd, F_DUPFD_CLOEXEC, 0);
}
