#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "io/passing.h"

/* Room for one descriptor, aligned as the header of a control message has to be. */
union room {
	char bytes[CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

static void put(struct msghdr *msg, union room *room, int passed)
{
	struct cmsghdr *control;

	msg->msg_control = room;
	msg->msg_controllen = sizeof(*room);
	control = CMSG_FIRSTHDR(msg);
	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(sizeof(passed));
	memcpy(CMSG_DATA(control), &passed, sizeof(passed));
}

ssize_t passing_send(int to, const void *bytes, size_t len, int passed)
{
	/* What sendmsg() takes is not const, for old times' sake. */
	struct iovec iov = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	union room room = { { 0 } };
	ssize_t n;

	if (passed >= 0)
		put(&msg, &room, passed);
	do
		n = sendmsg(to, &msg, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n;
}

ssize_t passing_receive(int from, void *bytes, size_t size, int *passed)
{
	struct iovec iov = { .iov_base = bytes, .iov_len = size };
	union room room;
	struct msghdr msg = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &room,
		.msg_controllen = sizeof(room) };
	const struct cmsghdr *control;
	ssize_t n;

	*passed = -1;
	do
		n = recvmsg(from, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	control = n >= 0 ? CMSG_FIRSTHDR(&msg) : NULL;
	if (control != NULL && control->cmsg_level == SOL_SOCKET &&
	    control->cmsg_type == SCM_RIGHTS)
		memcpy(passed, CMSG_DATA(control), sizeof(*passed));
	return n;
}
