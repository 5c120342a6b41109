/*
 * A failed assertion ends the test's process, so nothing here is undone for it.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/log.h"

#include "test_conn_rig.h"

struct rig rig;

/* These stand before the C library's; the first is visible, and so for libev, too. */
__attribute__((visibility("default"))) int epoll_ctl(
    int epoll_fd, int op, int fd, struct epoll_event *event)
{
	if (rig.is_watch_refused && op != EPOLL_CTL_DEL) {
		errno = ENOSPC;
		return -1;
	}
	return (int)syscall(SYS_epoll_ctl, epoll_fd, op, fd, event);
}

int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	if (rig.n_accepts_refused > 0) {
		rig.n_accepts_refused--;
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_accept4, fd, addr, len, flags);
}

enum rnl_verdict rig_echo(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)conn_send(conn, msg->id, msg->payload, msg->len);
	return RNL_DONE;
}

static enum rnl_verdict on_message(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rig.n_handled++;
	return rig.handle(conn, msg);
}

static void on_open(struct rnl_conn *conn)
{
	rig.n_opened++;
	if (rig.open != NULL)
		rig.open(conn);
}

static void on_writable(struct rnl_conn *conn)
{
	rig.n_writable++;
	if (rig.writable != NULL)
		rig.writable(conn);
}

static void on_close(struct rnl_conn *conn)
{
	rig.n_closed++;
	if (rig.close != NULL)
		rig.close(conn);
}

static void on_pulse(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)timer;
	(void)revents;
}

static struct router *make_router(void)
{
	const struct rnl_route route = {
		.first = 0, .last = RIG_UNKNOWN - 1, .handler = on_message
	};
	struct router *router = router_new();
	struct reason why;

	ck_assert_ptr_nonnull(router);
	ck_assert_int_eq(router_add(router, "rig", 0, &route, &why), STATUS_OK);
	ck_assert_int_eq(router_seal(router, &why), STATUS_OK);
	return router;
}

/* The defaults of the conf, but for a queue that is soon full. */
static void make_listener(void)
{
	static char name[] = "main";

	rig.settings = (struct listen_settings){ .name = name,
		.max_connections = 100,
		.max_message = 4096,
		.send_timeout_ms = 10000,
		.frame_timeout_ms = 30000,
		.linger_timeout_ms = 2000 };
	rig.module =
	    (struct rnl_module){ .open = on_open, .writable = on_writable, .close = on_close };
	rig.modules[0] = (struct listener_module){ .api = &rig.module, .name = "rig" };
	rig.listener = (struct listener){ .name = name,
		.settings = &rig.settings,
		.framing = &framing_tlv,
		.router = make_router(),
		.modules = rig.modules,
		.n_modules = 1,
		.limits = { .max_messages = 1024, .max_bytes = 64 * 1024 },
		.reply_room = rig.settings.max_message + HEAD,
		.max_connections = rig.settings.max_connections };
}

static void open_log(void)
{
	struct reason why;
	int fd;

	strcpy(rig.log, "/tmp/runnel-conn-XXXXXX");
	fd = mkstemp(rig.log);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_int_eq(log_open(rig.log, LOG_LEVEL_DEBUG, LOG_FORMAT_TEXT, &why), STATUS_OK);
}

void rig_set_up(void)
{
	rig = (struct rig){ .handle = rig_echo };
	open_log();
	rig.pages = calloc(2, sizeof(*rig.pages));
	ck_assert_ptr_nonnull(rig.pages);
	rig.pages[0].seats[0].generation = 1;
	rig.pages[1].seats[0].generation = 1;
	make_listener();
	rig.loop = ev_loop_new(EVFLAG_AUTO);
	ck_assert_ptr_nonnull(rig.loop);
	ck_assert_int_eq(table_new(rig.loop, rig.pages, 2, 0, rig.pages[0].seats, 256u << 20, 0,
			     1, &rig.table),
	    STATUS_OK);
	ev_timer_init(&rig.pulse, on_pulse, 0., 0.001);
}

void rig_tear_down(void)
{
	table_abort(rig.table, CLOSE_REASON_shutdown);
	RIG_UNTIL(rig.table->n_conns == 0);
	ck_assert_uint_eq(rig.n_closed, rig.n_opened);
	ck_assert_uint_eq(counters_open(&rig.table->seat->counters), 0);
	ck_assert_uint_eq(rig.table->seat->n_open[0], 0);
	ck_assert_uint_eq(rig.table->pool.held_bytes, 0);
	ck_assert_uint_eq(rig.table->by_id.n_links, 0);
	ck_assert_uint_eq(rig.table->extras.n_links, 0);
	ck_assert_uint_eq(rig.table->names.by_key.n_links, 0);
	table_destroy(&rig.table);
	router_destroy(&rig.listener.router);
	ev_loop_destroy(rig.loop);
	free(rig.pages);
	unlink(rig.log);
}

void rig_turn(void)
{
	ev_run(rig.loop, EVRUN_NOWAIT);
}

void rig_wait(void)
{
	ev_timer_again(rig.loop, &rig.pulse);
	ev_run(rig.loop, EVRUN_ONCE);
	ev_timer_stop(rig.loop, &rig.pulse);
}

unsigned rig_n_logged(const char *text)
{
	FILE *log = fopen(rig.log, "re");
	char line[2048];
	unsigned n = 0;

	ck_assert_ptr_nonnull(log);
	while (fgets(line, sizeof(line), log) != NULL)
		n += strstr(line, text) != NULL;
	fclose(log);
	return n;
}

void rig_limit_queue(uint32_t max_messages, uint32_t max_bytes)
{
	rig.listener.limits.max_messages = max_messages;
	rig.listener.limits.max_bytes = max_bytes;
}

/* Adopt the near end. */
static struct peer *meet(struct peer *peer, int near, int far)
{
	struct sockaddr_storage addr = { .ss_family = AF_INET };
	struct sockaddr_in *in = (struct sockaddr_in *)&addr;
	struct endpoint endpoint;

	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in->sin_port = htons(4000);
	endpoint_set(&endpoint, &addr);
	*peer = (struct peer){ .fd = far };
	ck_assert_int_eq(conn_new(rig.table, &rig.listener, near, &endpoint), STATUS_OK);
	peer->id = rig.pages[0].last_serial;
	peer->conn = table_find(rig.table, peer->id);
	return peer;
}

struct peer *peer_open(struct peer *peer)
{
	int size = 4096, ends[2];

	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	ck_assert_int_eq(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	return meet(peer, ends[0], ends[1]);
}

struct peer *peer_open_tcp(struct peer *peer)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int listening, far, near, size = 16384;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(listening, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(listen(listening, 1), 0);
	ck_assert_int_eq(getsockname(listening, (struct sockaddr *)&address, &len), 0);
	far = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(far, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(fcntl(far, F_SETFL, O_NONBLOCK), 0);
	near = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	ck_assert_int_ge(near, 0);
	ck_assert_int_eq(setsockopt(near, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	close(listening);
	return meet(peer, near, far);
}

void peer_end(struct peer *peer)
{
	if (peer->fd >= 0)
		close(peer->fd);
	free(peer->got);
	*peer = (struct peer){ .fd = -1 };
}

void peer_reset(struct peer *peer)
{
	struct linger linger = { .l_onoff = 1 };

	ck_assert_int_eq(
	    setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	close(peer->fd);
	peer->fd = -1;
}

void peer_write(struct peer *peer, const void *bytes, size_t len)
{
	uint64_t end_ms = clock_ms() + DEADLINE_MS;
	const uint8_t *at = bytes;

	while (len > 0) {
		ssize_t n = send(peer->fd, at, len, MSG_NOSIGNAL);

		if (n > 0) {
			at += n;
			len -= (size_t)n;
			continue;
		}
		ck_assert_msg(errno == EAGAIN, "send: %s", strerror(errno));
		ck_assert_msg(clock_ms() < end_ms, "the connection reads no more");
		rig_wait();
	}
}

static void put_be32(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 24);
	at[1] = (uint8_t)(value >> 16);
	at[2] = (uint8_t)(value >> 8);
	at[3] = (uint8_t)value;
}

static uint32_t get_be32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void fill(uint8_t *payload, uint32_t id, size_t len)
{
	uint32_t state = id * 2654435761u + 1;

	for (size_t i = 0; i < len; i++) {
		state = state * 1664525u + 1013904223u;
		payload[i] = (uint8_t)(state >> 24);
	}
}

void peer_send_many(struct peer *peer, uint32_t first, unsigned n, size_t len)
{
	uint8_t *frames = malloc(n * (HEAD + len)), *at = frames;

	ck_assert_ptr_nonnull(frames);
	for (unsigned i = 0; i < n; i++) {
		put_be32(at, first + i);
		put_be32(at + 4, (uint32_t)len);
		fill(at + HEAD, first + i, len);
		at += HEAD + len;
	}
	peer_write(peer, frames, n * (HEAD + len));
	free(frames);
}

void peer_send(struct peer *peer, uint32_t id, size_t len)
{
	peer_send_many(peer, id, 1, len);
}

void peer_read_some(struct peer *peer, size_t most)
{
	uint8_t buf[4096];

	while (most > 0 && !peer->is_over) {
		ssize_t n = recv(peer->fd, buf, most < sizeof(buf) ? most : sizeof(buf), 0);

		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0) {
			peer->is_over = true;
			peer->end = n < 0 ? errno : 0;
			return;
		}
		if (peer->n_got + (size_t)n > peer->got_size) {
			peer->got_size = 2 * (peer->n_got + (size_t)n);
			peer->got = realloc(peer->got, peer->got_size);
			ck_assert_ptr_nonnull(peer->got);
		}
		memcpy(peer->got + peer->n_got, buf, (size_t)n);
		peer->n_got += (size_t)n;
		most -= (size_t)n;
	}
}

void peer_read(struct peer *peer)
{
	peer_read_some(peer, SIZE_MAX);
}

bool peer_has_end(struct peer *peer)
{
	peer_read(peer);
	return peer->is_over;
}

/* The size of the frame at an offset; 0: it is not whole. */
static size_t frame_size(const struct peer *peer, size_t at)
{
	size_t left = peer->n_got - at, size;

	if (left < HEAD)
		return 0;
	size = HEAD + get_be32(peer->got + at + 4);
	return size <= left ? size : 0;
}

unsigned peer_n_frames(const struct peer *peer)
{
	unsigned n = 0;

	for (size_t at = 0, size; (size = frame_size(peer, at)) > 0; at += size)
		n++;
	return n;
}

const uint8_t *peer_frame(const struct peer *peer, unsigned i, uint32_t *id, size_t *len)
{
	size_t at = 0;

	for (; i > 0; i--)
		at += frame_size(peer, at);
	ck_assert_uint_gt(frame_size(peer, at), 0);
	*id = get_be32(peer->got + at);
	*len = get_be32(peer->got + at + 4);
	return peer->got + at + HEAD;
}

void peer_expect(const struct peer *peer, uint32_t first, unsigned n, size_t len)
{
	uint8_t *payload = malloc(len + 1);

	ck_assert_ptr_nonnull(payload);
	ck_assert_uint_eq(peer->n_got, n * (HEAD + len));
	for (unsigned i = 0; i < n; i++) {
		const uint8_t *frame = peer->got + i * (HEAD + len);

		fill(payload, first + i, len);
		ck_assert_uint_eq(get_be32(frame), first + i);
		ck_assert_uint_eq(get_be32(frame + 4), len);
		ck_assert_int_eq(memcmp(frame + HEAD, payload, len), 0);
	}
	free(payload);
}

enum rnl_status send_filled(struct rnl_conn *conn, uint32_t id, size_t len)
{
	uint8_t *payload = malloc(len + 1);
	enum rnl_status status;

	ck_assert_ptr_nonnull(payload);
	fill(payload, id, len);
	status = conn_send(conn, id, payload, len);
	free(payload);
	return status;
}

unsigned send_until_refused(struct rnl_conn *conn, uint32_t first, size_t len)
{
	enum rnl_status status;
	unsigned n = 0;

	while ((status = send_filled(conn, first + n, len)) == RNL_OK)
		n++;
	ck_assert_int_eq(status, RNL_EFULL);
	return n;
}

unsigned send_until_blocked(struct rnl_conn *conn, uint32_t first, size_t len)
{
	unsigned n = 0;

	while (!conn->is_blocked) {
		ck_assert_int_eq(send_filled(conn, first + n, len), RNL_OK);
		n++;
		rig_turn();
	}
	return n;
}
