#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "system/backend.h"
#include "system/client.h"

static void open_with_queue(struct backend *backend, int n)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);

	memset(backend, 0, sizeof(*backend));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	backend->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(backend->fd, 0);
	ck_assert_int_eq(bind(backend->fd, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(listen(backend->fd, n), 0);
	ck_assert_int_eq(getsockname(backend->fd, (struct sockaddr *)&address, &len), 0);
	backend->port = ntohs(address.sin_port);
}

void backend_open(struct backend *backend)
{
	open_with_queue(backend, 16);
}

void backend_open_crowded(struct backend *backend)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);

	open_with_queue(backend, 0);
	ck_assert_int_eq(getsockname(backend->fd, (struct sockaddr *)&address, &len), 0);
	for (int i = 0; i < BACKEND_CROWD; i++) {
		backend->crowd[i] =
		    socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)!connect(backend->crowd[i], (struct sockaddr *)&address, len);
	}
}

int backend_accept(const struct backend *backend)
{
	struct pollfd poll_fd = { .fd = backend->fd, .events = POLLIN };
	struct timeval deadline = { .tv_sec = DEADLINE_MS / 1000 };
	int fd;

	ck_assert_msg(poll(&poll_fd, 1, DEADLINE_MS) == 1, "nobody connects");
	fd = accept4(backend->fd, NULL, NULL, SOCK_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof(deadline));
	return fd;
}

void backend_close(struct backend *backend)
{
	for (int i = 0; i < BACKEND_CROWD && backend->crowd[i] > 0; i++)
		close(backend->crowd[i]);
	close(backend->fd);
	backend->fd = -1;
}

struct message message_receive(int fd)
{
	struct message message;

	message.len = client_receive_tlv(fd, &message.id, message.payload, MESSAGE_SIZE);
	return message;
}

void message_send(int fd, const struct message *message)
{
	struct bytes frame = { 0 };

	bytes_add_tlv(&frame, message->id, message->payload, message->len);
	client_send(fd, frame.data, frame.len);
	bytes_free(&frame);
}

void message_say(int fd, uint32_t id, const char *text)
{
	struct message message = { .id = id, .len = strlen(text) };

	ck_assert_uint_le(message.len, MESSAGE_SIZE);
	memcpy(message.payload, text, message.len);
	message_send(fd, &message);
}

void message_expect(const struct message *message, uint32_t id, size_t offset, const char *text)
{
	ck_assert_uint_eq(message->id, id);
	ck_assert_msg(message->len == offset + strlen(text) &&
			  memcmp(message->payload + offset, text, strlen(text)) == 0,
	    "not '%s' but '%.*s'", text, (int)(message->len - offset),
	    (const char *)message->payload + offset);
}
