/*
 * floor: a bare epoll server for the c10k protocol (TLV framing) and nothing
 * else. It has no modules, no queue limits and no timers, and is therefore
 * the least that a server on epoll can spend on an answer: the floor that
 * runneld is measured against. It is no server for production.
 *
 * Replies are made in place, in the buffer that the requests were read into: one
 * recv, all frames in it, one send. A connection owns memory only while a frame
 * of its is incomplete or the kernel has not taken its replies.
 *
 * Events are edge-triggered, so that epoll need not look at a served socket again:
 * a connection is read until a read comes back short. A peer that could fill
 * the whole buffer again and again would keep the others waiting; with a bounded
 * number of requests in flight none can.
 */
#include "config.h"

#include <arpa/inet.h>
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	HEADER = 8,
	PAYLOAD_MAX = 4096,
	SCRATCH = 64 * 1024,
	EVENTS = 512,
	BACKLOG = 65535,
	WORKERS_MAX = 256,
};

struct conn {
	int fd;
	uint32_t in_len;            /* bytes of an incomplete frame in `in` */
	uint32_t out_from, out_len; /* what is left to send of `out` */
	uint8_t *in, *out;          /* owned; NULL while empty */
};

static uint8_t scratch[SCRATCH];
static int epoll_fd;

static uint32_t get_u32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return ntohl(value);
}

static void put_u32(uint8_t *to, uint32_t value)
{
	value = htonl(value);
	memcpy(to, &value, sizeof(value));
}

/* Turn the payload of a request into its reply. Returns the reply's length; 0: none. */
static uint32_t answer(uint32_t id, uint8_t *payload, uint32_t len)
{
	static const struct {
		uint32_t id, len, field;
	} rows[] = { { 2001, 16, 0 }, { 3001, 64, 4 }, { 4001, 256, 8 } };
	size_t i;

	if (id == 1001 && len >= 12) {
		put_u32(payload + 8, get_u32(payload) + get_u32(payload + 4));
		return 12;
	}
	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (id == rows[i].id && len >= rows[i].len) {
			put_u32(payload + rows[i].field, get_u32(payload + rows[i].field) + 1);
			return rows[i].len;
		}
	}
	return 0;
}

/*
 * Answer all whole frames at the start of the scratch buffer. The replies stand there
 * afterwards, *out_len bytes; never longer than the requests, they trail them. Returns the
 * bytes consumed; -1: a frame is too long.
 */
static ssize_t answer_all(size_t len, size_t *out_len)
{
	size_t at = 0, out = 0;

	while (len - at >= HEADER) {
		uint8_t *frame = scratch + at;
		uint32_t payload_len = get_u32(frame + 4);
		uint32_t reply_len;

		if (payload_len > PAYLOAD_MAX)
			return -1;
		if (len - at < HEADER + payload_len)
			break;
		reply_len = answer(get_u32(frame), frame + HEADER, payload_len);
		at += HEADER + payload_len;
		if (reply_len == 0)
			continue;
		put_u32(frame + 4, reply_len);
		if (frame != scratch + out)
			memmove(scratch + out, frame, HEADER + reply_len);
		out += HEADER + reply_len;
	}
	*out_len = out;
	return (ssize_t)at;
}

/* Keep bytes for later in memory of their own. False: there is none. */
static bool keep(uint8_t **kept, const uint8_t *bytes, size_t len)
{
	*kept = malloc(len);
	if (*kept == NULL)
		return false;
	memcpy(*kept, bytes, len);
	return true;
}

/* Send what replies are left over from before. False: the connection is broken. */
static bool flush_kept(struct conn *conn)
{
	ssize_t n = send(conn->fd, conn->out + conn->out_from, conn->out_len, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN;
	conn->out_from += (uint32_t)n;
	conn->out_len -= (uint32_t)n;
	if (conn->out_len == 0) {
		free(conn->out);
		conn->out = NULL;
	}
	return true;
}

/* Send the replies in the scratch buffer; what the kernel does not take is kept. */
static bool send_replies(struct conn *conn, size_t len)
{
	ssize_t n;

	if (len == 0)
		return true;
	n = send(conn->fd, scratch, len, MSG_NOSIGNAL);
	if (n == (ssize_t)len)
		return true;
	if (n < 0) {
		if (errno != EAGAIN)
			return false;
		n = 0;
	}
	conn->out_from = 0;
	conn->out_len = (uint32_t)(len - (size_t)n);
	return keep(&conn->out, scratch + n, conn->out_len);
}

/*
 * Read once, answer, send once. *is_short: the read left room in the buffer. False: close the
 * connection.
 */
static bool serve_once(struct conn *conn, bool *is_short)
{
	size_t len = conn->in_len, out_len, rest;
	ssize_t n, used;

	if (len > 0)
		memcpy(scratch, conn->in, len);
	n = recv(conn->fd, scratch + len, SCRATCH - len, 0);
	if (n <= 0) {
		*is_short = true;
		return n < 0 && errno == EAGAIN;
	}
	*is_short = (size_t)n < SCRATCH - len;
	free(conn->in);
	conn->in = NULL;
	conn->in_len = 0;
	len += (size_t)n;
	used = answer_all(len, &out_len);
	if (used < 0)
		return false;
	/* Before the replies, which overwrite nothing beyond `used`. */
	rest = len - (size_t)used;
	if (rest > 0 && !keep(&conn->in, scratch + used, rest))
		return false;
	conn->in_len = (uint32_t)rest;
	return send_replies(conn, out_len);
}

static void conn_close(struct conn *conn)
{
	close(conn->fd);
	free(conn->in);
	free(conn->out);
	free(conn);
}

/*
 * No request is read while replies wait for room; the edge of EPOLLOUT brings us back. At the
 * end of the stream a short read is not the last: the edge may have told of both.
 */
static void conn_serve(struct conn *conn, uint32_t events)
{
	bool is_ending = (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
	bool is_short = false;

	if (conn->out != NULL && !flush_kept(conn)) {
		conn_close(conn);
		return;
	}
	while (conn->out == NULL && (!is_short || is_ending)) {
		if (!serve_once(conn, &is_short)) {
			conn_close(conn);
			return;
		}
	}
}

static void conn_open(int fd)
{
	static const int on = 1;
	struct conn *conn = calloc(1, sizeof(*conn));
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.ptr = conn,
	};

	if (conn == NULL) {
		close(fd);
		return;
	}
	conn->fd = fd;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		conn_close(conn);
}

static void accept_all(int listen_fd)
{
	int fd;

	while ((fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0)
		conn_open(fd);
	if (errno != EAGAIN && errno != ECONNABORTED)
		err(1, "accept");
}

static _Noreturn void serve(int listen_fd)
{
	static struct epoll_event events[EVENTS];
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = NULL };
	int i, n;

	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_fd < 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, listen_fd, &event) < 0)
		err(1, "epoll");
	for (;;) {
		n = epoll_wait(epoll_fd, events, EVENTS, -1);
		if (n < 0 && errno != EINTR)
			err(1, "epoll_wait");
		for (i = 0; i < n; i++) {
			if (events[i].data.ptr == NULL)
				accept_all(listen_fd);
			else
				conn_serve(events[i].data.ptr, events[i].events);
		}
	}
}

/* *port 0: any free one; set to the one that it is. */
static int listen_open(uint16_t *port)
{
	static const int on = 1;
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(*port) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0)
		err(1, "socket");
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) < 0)
		err(1, "setsockopt");
	if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, BACKLOG) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &len) < 0)
		err(1, "127.0.0.1:%" PRIu16, *port);
	*port = ntohs(address.sin_port);
	return fd;
}

static void stop(int signo)
{
	(void)signo;
	_exit(0);
}

static void raise_descriptor_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Workers end with the process that started them, which serves like the others. */
static void fork_workers(const int *listen_fds, long n_workers)
{
	pid_t parent = getpid();
	long i;

	for (i = 1; i < n_workers; i++) {
		switch (fork()) {
		case -1:
			err(1, "fork");
		case 0:
			prctl(PR_SET_PDEATHSIG, SIGTERM);
			if (getppid() != parent)
				_exit(0);
			serve(listen_fds[i]);
		default:
			break;
		}
	}
}

static long number_or_exit(const char *text, long min, long max)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || value < min || value > max)
		errx(2, "'%s' is not a number from %ld to %ld", text, min, max);
	return value;
}

static _Noreturn void usage(void)
{
	errx(2, "usage: floor [-p port] [-w workers]");
}

int main(int argc, char **argv)
{
	int listen_fds[WORKERS_MAX];
	long n_workers = 1, i;
	uint16_t port = 0;
	int opt;

	while ((opt = getopt(argc, argv, "p:w:")) != -1) {
		switch (opt) {
		case 'p':
			port = (uint16_t)number_or_exit(optarg, 0, 65535);
			break;
		case 'w':
			n_workers = number_or_exit(optarg, 1, WORKERS_MAX);
			break;
		default:
			usage();
		}
	}
	if (optind != argc)
		usage();
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	raise_descriptor_limit();
	for (i = 0; i < n_workers; i++)
		listen_fds[i] = listen_open(&port);
	fork_workers(listen_fds, n_workers);
	printf("listening on 127.0.0.1:%" PRIu16 "\n", port);
	fflush(stdout);
	serve(listen_fds[0]);
}
