#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "system/client.h"

#define PING_ID 7

void bytes_add(struct bytes *bytes, const void *data, size_t len)
{
	if (len == 0)
		return;
	if (bytes->len + len > bytes->size) {
		bytes->size = (bytes->len + len) * 2;
		bytes->data = realloc(bytes->data, bytes->size);
		ck_assert_ptr_nonnull(bytes->data);
	}
	memcpy(bytes->data + bytes->len, data, len);
	bytes->len += len;
}

void bytes_add_be32(struct bytes *bytes, uint32_t value)
{
	uint8_t octets[4] = { (uint8_t)(value >> 24), (uint8_t)(value >> 16),
		(uint8_t)(value >> 8), (uint8_t)value };

	bytes_add(bytes, octets, 4);
}

void bytes_add_le32(struct bytes *bytes, uint32_t value)
{
	uint8_t octets[4] = { (uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
		(uint8_t)(value >> 24) };

	bytes_add(bytes, octets, 4);
}

void bytes_add_tlv(struct bytes *bytes, uint32_t id, const void *payload, size_t len)
{
	bytes_add_be32(bytes, id);
	bytes_add_be32(bytes, (uint32_t)len);
	bytes_add(bytes, payload, len);
}

void bytes_add_ltv(struct bytes *bytes, uint32_t id, const void *payload, size_t len)
{
	bytes_add_le32(bytes, (uint32_t)len);
	bytes_add_le32(bytes, id);
	bytes_add(bytes, payload, len);
}

void bytes_add_filled(struct bytes *bytes, uint32_t id, uint32_t seed, size_t len)
{
	uint32_t state = seed * 2654435761u + 1;

	ck_assert_uint_ge(len, 4);
	bytes_add_be32(bytes, id);
	bytes_add_be32(bytes, (uint32_t)len);
	bytes_add_be32(bytes, seed);
	for (size_t i = 4; i < len; i++) {
		uint8_t octet;

		state = state * 1664525u + 1013904223u;
		octet = (uint8_t)(state >> 24);
		bytes_add(bytes, &octet, 1);
	}
}

void bytes_free(struct bytes *bytes)
{
	free(bytes->data);
	*bytes = (struct bytes){ 0 };
}

/*
 * Little, and yet so much that the peer's kernel sends into every window: below half a segment
 * it waits for a timer, and a large stream takes minutes.
 */
#define SMALL_BUFFER 16384

static int connect_to(uint16_t port, int receive_buffer)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct timeval deadline = { .tv_sec = DEADLINE_MS / 1000 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	ck_assert_int_ge(fd, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &deadline, sizeof(deadline));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &deadline, sizeof(deadline));
	if (receive_buffer > 0)
		setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &receive_buffer, sizeof(receive_buffer));
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
		int error = errno;

		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

int client_try_connect(uint16_t port)
{
	int fd = connect_to(port, 0);

	if (fd < 0)
		ck_assert_msg(errno == ECONNREFUSED || errno == ECONNRESET, "connect: %s",
		    strerror(errno));
	return fd;
}

int client_connect(uint16_t port)
{
	int fd = connect_to(port, 0);

	ck_assert_msg(fd >= 0, "connect: %s", strerror(errno));
	return fd;
}

int client_connect_small(uint16_t port)
{
	int fd = connect_to(port, SMALL_BUFFER);

	ck_assert_msg(fd >= 0, "connect: %s", strerror(errno));
	return fd;
}

bool client_try_send(int fd, const void *data, size_t len)
{
	const uint8_t *at = data;

	while (len > 0) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0) {
			ck_assert_msg(
			    errno == EPIPE || errno == ECONNRESET, "send: %s", strerror(errno));
			return false;
		}
		at += n;
		len -= (size_t)n;
	}
	return true;
}

void client_send(int fd, const void *data, size_t len)
{
	ck_assert_msg(client_try_send(fd, data, len), "the connection ended while sending");
}

size_t client_send_until_stalled(int fd, const void *data, size_t len, int ms)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };
	const uint8_t *at = data;
	size_t done = 0;

	while (done < len) {
		ssize_t n = send(fd, at + done, len - done, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			done += (size_t)n;
			continue;
		}
		ck_assert_msg(errno == EAGAIN, "send: %s", strerror(errno));
		if (poll(&wait, 1, ms) == 0)
			break;
	}
	return done;
}

void client_receive(int fd, void *data, size_t len)
{
	uint8_t *at = data;
	size_t done = 0;

	while (done < len) {
		ssize_t n = recv(fd, at + done, len - done, 0);

		ck_assert_msg(n > 0, "%zu of %zu bytes received, then %s", done, len,
		    n == 0            ? "EOF"
		    : errno == EAGAIN ? "nothing more"
				      : strerror(errno));
		done += (size_t)n;
	}
}

/* An assertion of check costs a system call, so there is one for all bytes. */
static void compare(const uint8_t *got, const uint8_t *expected, size_t len, size_t offset)
{
	size_t i = 0;

	if (memcmp(got, expected, len) == 0)
		return;
	while (got[i] == expected[i])
		i++;
	ck_abort_msg("byte %zu is 0x%02x, not 0x%02x", offset + i, got[i], expected[i]);
}

void client_expect(int fd, const struct bytes *expected)
{
	uint8_t buf[16384];
	size_t done = 0;

	while (done < expected->len) {
		size_t want = expected->len - done;

		if (want > sizeof(buf))
			want = sizeof(buf);
		client_receive(fd, buf, want);
		compare(buf, expected->data + done, want, done);
		done += want;
	}
}

void client_exchange(int fd, const struct bytes *request, const struct bytes *expected)
{
	struct pollfd wait = { .fd = fd };
	size_t sent = 0, received = 0;
	uint8_t buf[16384];
	ssize_t n;

	while (sent < request->len || received < expected->len) {
		wait.events = POLLIN | (sent < request->len ? POLLOUT : 0);
		ck_assert_msg(poll(&wait, 1, DEADLINE_MS) == 1,
		    "%zu of %zu bytes sent, %zu of %zu received, then nothing more", sent,
		    request->len, received, expected->len);
		if (wait.revents & POLLOUT) {
			n = send(fd, request->data + sent, request->len - sent,
			    MSG_NOSIGNAL | MSG_DONTWAIT);
			ck_assert_msg(n > 0 || errno == EAGAIN, "send: %s", strerror(errno));
			sent += n > 0 ? (size_t)n : 0;
		}
		if (wait.revents & ~POLLOUT) {
			size_t want = expected->len - received;

			n = recv(fd, buf, want < sizeof(buf) ? want : sizeof(buf), 0);
			ck_assert_msg(n > 0, "%zu of %zu bytes received, then %s", received,
			    expected->len, n == 0 ? "EOF" : strerror(errno));
			compare(buf, expected->data + received, (size_t)n, received);
			received += (size_t)n;
		}
	}
}

static uint32_t be32(const uint8_t *octets)
{
	return (uint32_t)octets[0] << 24 | (uint32_t)octets[1] << 16 |
	       (uint32_t)octets[2] << 8 | octets[3];
}

size_t client_receive_tlv(int fd, uint32_t *id, void *payload, size_t size)
{
	uint8_t head[8];
	size_t len;

	client_receive(fd, head, sizeof(head));
	*id = be32(head);
	len = be32(head + 4);
	ck_assert_msg(len <= size, "a payload of %zu bytes, at most %zu expected", len, size);
	client_receive(fd, payload, len);
	return len;
}

void client_expect_eof(int fd)
{
	uint8_t octet;
	ssize_t n = recv(fd, &octet, 1, 0);

	ck_assert_msg(n == 0, "%s instead of EOF",
	    n > 0             ? "a byte"
	    : errno == EAGAIN ? "nothing"
			      : strerror(errno));
}

/* How reading ends, after whatever arrives: 0 is EOF, otherwise errno. */
static int end_of(int fd, size_t *n_bytes)
{
	uint8_t buf[16384];
	ssize_t n;

	*n_bytes = 0;
	while ((n = recv(fd, buf, sizeof(buf), 0)) > 0)
		*n_bytes += (size_t)n;
	return n == 0 ? 0 : errno;
}

void client_expect_reset(int fd)
{
	size_t n_bytes;
	int end = end_of(fd, &n_bytes);

	ck_assert_msg(
	    end == ECONNRESET, "%s instead of a reset", end == 0 ? "EOF" : strerror(end));
}

size_t client_expect_end(int fd)
{
	size_t n_bytes;
	int end = end_of(fd, &n_bytes);

	ck_assert_msg(end == 0 || end == ECONNRESET, "no end: %s", strerror(end));
	return n_bytes;
}

void client_ping(int fd, const char *text)
{
	struct bytes frame = { 0 };

	bytes_add_tlv(&frame, PING_ID, text, strlen(text));
	client_send(fd, frame.data, frame.len);
	client_expect(fd, &frame);
	bytes_free(&frame);
}

bool client_try_ping(int fd)
{
	struct bytes frame = { 0 };
	uint8_t reply[16];
	size_t done = 0;
	ssize_t n = 1;

	bytes_add_tlv(&frame, PING_ID, "ping", 4);
	if (!client_try_send(fd, frame.data, frame.len))
		n = 0;
	while (n > 0 && done < frame.len) {
		n = recv(fd, reply + done, frame.len - done, 0);
		ck_assert_msg(n >= 0 || errno == ECONNRESET, "a ping: %s", strerror(errno));
		done += n > 0 ? (size_t)n : 0;
	}
	if (n > 0)
		compare(reply, frame.data, frame.len, 0);
	bytes_free(&frame);
	return n > 0;
}

void client_reset(int fd)
{
	struct linger linger = { .l_onoff = 1 };

	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	close(fd);
}

static void get_name(int fd, bool is_peer, struct sockaddr_in *address)
{
	socklen_t len = sizeof(*address);

	if (is_peer)
		ck_assert_int_eq(getpeername(fd, (struct sockaddr *)address, &len), 0);
	else
		ck_assert_int_eq(getsockname(fd, (struct sockaddr *)address, &len), 0);
}

struct diag_request {
	struct nlmsghdr head;
	struct inet_diag_req_v2 body;
};

struct diag_reply {
	struct nlmsghdr head;
	union {
		struct inet_diag_msg body;
		struct nlmsgerr error;
	};
	uint8_t attributes[4096];
};

/*
 * Ask the kernel for one socket, the daemon's end of our connection. The table in
 * /proc would do, but takes a second to read when there are many connections.
 */
static void diagnose(int netlink, int fd, struct diag_reply *reply)
{
	struct diag_request request = {
		.head = { .nlmsg_len = sizeof(request),
		    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
		    .nlmsg_flags = NLM_F_REQUEST },
		.body = { .sdiag_family = AF_INET,
		    .sdiag_protocol = IPPROTO_TCP,
		    .id.idiag_cookie = { INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE } },
	};
	struct sockaddr_in ours, theirs;

	get_name(fd, false, &ours);
	get_name(fd, true, &theirs);
	request.body.id.idiag_sport = theirs.sin_port;
	request.body.id.idiag_src[0] = theirs.sin_addr.s_addr;
	request.body.id.idiag_dport = ours.sin_port;
	request.body.id.idiag_dst[0] = ours.sin_addr.s_addr;
	ck_assert_int_eq(send(netlink, &request, sizeof(request), 0), (ssize_t)sizeof(request));
	ck_assert_int_ge(
	    recv(netlink, reply, sizeof(*reply), 0), (ssize_t)sizeof(struct nlmsghdr));
}

/* Bytes in the receive queue of the other end. */
static uint32_t peer_queue(int netlink, int fd)
{
	struct diag_reply reply;

	diagnose(netlink, fd, &reply);
	if (reply.head.nlmsg_type == NLMSG_ERROR) {
		/* The daemon has closed it: nothing is queued. */
		ck_assert_int_eq(reply.error.error, -ENOENT);
		return 0;
	}
	ck_assert_uint_eq(reply.head.nlmsg_type, SOCK_DIAG_BY_FAMILY);
	return reply.body.idiag_rqueue;
}

static int unacknowledged(int fd)
{
	int n = 0;

	ck_assert_int_eq(ioctl(fd, SIOCOUTQ, &n), 0);
	return n;
}

void client_await_read(int fd)
{
	int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);

	ck_assert_int_ge(netlink, 0);
	WAIT_FOR(unacknowledged(fd) == 0);
	WAIT_FOR(peer_queue(netlink, fd) == 0);
	close(netlink);
}

/*
 * Between this and the daemon's start nobody is bound to the port, and other tests run: an
 * abstract name, which is kept, tells them that it is taken.
 */
static bool reserve_port(uint16_t port)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	snprintf(
	    address.sun_path + 1, sizeof(address.sun_path) - 1, "runnel-test-port-%u", port);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return true;
	ck_assert_int_eq(errno, EADDRINUSE);
	close(fd);
	return false;
}

static bool is_bindable(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_free;

	ck_assert_int_ge(fd, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	is_free = bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	close(fd);
	return is_free;
}

uint16_t client_free_port(void)
{
	static unsigned n_tried;

	for (;;) {
		unsigned number = (unsigned)getpid() * 16 + n_tried++;
		uint16_t port = (uint16_t)(10000 + number % 20000);

		if (reserve_port(port) && is_bindable(port))
			return port;
	}
}
