/*
 * A module that does what a client tells it to: every call of the API, from
 * every place it may be made. It logs each open and close, and at the end of a
 * worker how many there were.
 */
#include <ev.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <runnel/module.h>

#include "system/modules/probe.h"

#define MAX_PUSH (4 << 20)
#define MAX_PARTS 256

/* A connection, as long as it is open. */
struct guest {
	struct guest *next, **link;
	struct rnl_conn *conn;
	uint64_t id;
	char trace[16]; /* the stages of a chain that ran */
	uint32_t n_asked, n_taken, n_refused, n_writable;
};

/* A job for later. */
struct later {
	struct ev_timer timer;
	uint64_t id;
	uint32_t n;
};

static struct guest *guests;
static unsigned n_opened, n_closed;
static const char *on_open, *on_start, *crash_mark;
static int64_t is_moving;
static char options_text[256];
static uint8_t push_buf[MAX_PUSH];

static uint32_t get32(const struct rnl_msg *msg, size_t offset)
{
	const uint8_t *at = (const uint8_t *)msg->payload + offset;

	if (offset + 4 > msg->len)
		return 0;
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static struct rnl_conn *get_conn(const struct rnl_msg *msg)
{
	return rnl_conn_find((uint64_t)get32(msg, 0) << 32 | get32(msg, 4));
}

static void put32(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 24);
	at[1] = (uint8_t)(value >> 16);
	at[2] = (uint8_t)(value >> 8);
	at[3] = (uint8_t)value;
}

static enum rnl_status push(struct rnl_conn *conn, uint32_t number, size_t size)
{
	struct guest *guest = rnl_data(conn);
	enum rnl_status status;

	put32(push_buf, number);
	status = rnl_send(conn, PROBE_PUSH, push_buf, size);
	guest->n_asked++;
	guest->n_taken += status == RNL_OK;
	guest->n_refused += status != RNL_OK;
	return status;
}

static uint32_t push_many(struct rnl_conn *conn, uint32_t n, size_t size)
{
	uint32_t n_taken = 0;

	for (uint32_t i = 0; i < n; i++)
		n_taken += push(conn, i, size) == RNL_OK;
	return n_taken;
}

static enum rnl_verdict answer(struct rnl_conn *conn, uint32_t value)
{
	uint8_t payload[4];

	put32(payload, value);
	rnl_send(conn, PROBE_RESULT, payload, sizeof(payload));
	return RNL_NEXT;
}

static enum rnl_verdict answer_text(struct rnl_conn *conn, uint32_t id, const char *text)
{
	rnl_send(conn, id, text, strlen(text));
	return RNL_NEXT;
}

static enum rnl_verdict on_echo(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_send(conn, msg->id, msg->payload, msg->len);
	return RNL_NEXT;
}

static uint64_t now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static enum rnl_verdict on_busy(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	uint64_t end_us = now_us() + get32(msg, 0);

	while (now_us() < end_us)
		continue;
	return on_echo(conn, msg, arg);
}

static enum rnl_verdict on_count(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)msg;
	(void)arg;
	return answer(conn, (uint32_t)rnl_count());
}

static enum rnl_verdict on_who(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	char text[256];

	(void)arg;
	snprintf(text, sizeof(text), "%llu %d %s %s", (unsigned long long)rnl_conn_id(conn),
	    rnl_worker(), rnl_conn_peer(conn), rnl_conn_listener(conn));
	return answer_text(conn, msg->id, text);
}

static enum rnl_verdict on_find(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	return answer(conn, get_conn(msg) != NULL);
}

static enum rnl_verdict on_send_to(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct rnl_conn *other = get_conn(msg);

	(void)arg;
	return answer(conn, other != NULL ? push_many(other, get32(msg, 8), 4) : 0);
}

static enum rnl_verdict on_broadcast(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	uint32_t n = get32(msg, 0);

	(void)conn;
	(void)arg;
	for (uint32_t i = 0; i < n; i++) {
		for (struct guest *guest = guests; guest != NULL; guest = guest->next)
			push(guest->conn, i, 4);
	}
	return RNL_NEXT;
}

static void send_shared(struct rnl_conn *conn, void *shared)
{
	rnl_send_shared(conn, shared);
}

static enum rnl_verdict on_shared(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	uint32_t n = get32(msg, 0);

	(void)conn;
	(void)arg;
	for (uint32_t i = 0; i < n; i++) {
		struct rnl_shared *shared;

		put32(push_buf, i);
		shared = rnl_shared_new(PROBE_PUSH, push_buf, get32(msg, 4));
		if (shared == NULL)
			return RNL_ABORT;
		rnl_each(send_shared, shared);
		rnl_shared_free(shared);
	}
	return RNL_NEXT;
}

/* One byte, nothing, one byte, nothing ... */
static enum rnl_verdict on_parts(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct iovec parts[MAX_PARTS];
	size_t n = 0;

	(void)arg;
	memcpy(push_buf, msg->payload, msg->len);
	while (n / 2 < msg->len && n + 2 < MAX_PARTS) {
		parts[n] = (struct iovec){ .iov_base = push_buf + n / 2, .iov_len = 1 };
		parts[n + 1] = (struct iovec){ .iov_base = NULL, .iov_len = 0 };
		n += 2;
	}
	if (n / 2 < msg->len) {
		parts[n] =
		    (struct iovec){ .iov_base = push_buf + n / 2, .iov_len = msg->len - n / 2 };
		n++;
	}
	rnl_sendv(conn, msg->id, parts, n);
	return RNL_NEXT;
}

static enum rnl_verdict on_in_place(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	void *payload;

	(void)arg;
	if (rnl_reserve(conn, msg->len + 1000, &payload) != RNL_OK)
		return RNL_ABORT;
	memcpy(payload, msg->payload, msg->len);
	rnl_commit(conn, msg->id, msg->len);
	return RNL_NEXT;
}

static enum rnl_verdict on_forget(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	void *payload;

	if (rnl_reserve(conn, 2000, &payload) != RNL_OK)
		return RNL_ABORT;
	memset(payload, 'x', 2000);
	return on_echo(conn, msg, arg);
}

static enum rnl_verdict on_flood(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	return answer(conn, push_many(conn, get32(msg, 0), get32(msg, 4)));
}

static enum rnl_verdict on_sized(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	return answer(conn, (uint32_t)push(conn, 0, get32(msg, 0)));
}

static enum rnl_verdict on_counts(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct guest *guest = rnl_data(conn);
	char text[64];

	(void)arg;
	snprintf(text, sizeof(text), "%u %u %u %u", guest->n_asked, guest->n_taken,
	    guest->n_refused, guest->n_writable);
	return answer_text(conn, msg->id, text);
}

/* A second rnl_close() changes nothing. */
static enum rnl_verdict on_close(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	push_many(conn, get32(msg, 0), 1000);
	rnl_close(conn);
	rnl_log(RNL_LOG_INFO, "send after close: %d", (int)rnl_send(conn, PROBE_RESULT, "", 0));
	rnl_close(conn);
	return RNL_NEXT;
}

static enum rnl_verdict on_close_verdict(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	on_echo(conn, msg, arg);
	return RNL_CLOSE;
}

static enum rnl_verdict on_abort(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	on_echo(conn, msg, arg);
	rnl_abort(conn);
	rnl_log(RNL_LOG_INFO, "send after abort: %d", (int)rnl_send(conn, PROBE_RESULT, "", 0));
	return RNL_NEXT;
}

static enum rnl_verdict on_abort_verdict(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	on_echo(conn, msg, arg);
	return RNL_ABORT;
}

static enum rnl_verdict on_close_other(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct rnl_conn *other = get_conn(msg);

	(void)arg;
	if (other != NULL)
		rnl_close(other);
	return answer(conn, 0);
}

static enum rnl_verdict on_abort_other(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct rnl_conn *other = get_conn(msg);

	(void)arg;
	if (other != NULL)
		rnl_abort(other);
	return answer(conn, 0);
}

static void close_one(struct rnl_conn *conn, void *arg)
{
	const struct rnl_msg *msg = arg;

	rnl_send(conn, msg->id, msg->payload, msg->len);
	rnl_close(conn);
}

static enum rnl_verdict on_close_all(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct rnl_msg copy = *msg;

	(void)conn;
	(void)arg;
	rnl_each(close_one, &copy);
	return RNL_NEXT;
}

static void abort_one(struct rnl_conn *conn, void *arg)
{
	(void)arg;
	rnl_abort(conn);
}

static enum rnl_verdict on_abort_all(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)msg;
	(void)arg;
	rnl_each(abort_one, NULL);
	return RNL_NEXT;
}

static void send_later(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct later *later = (struct later *)(void *)timer;
	struct rnl_conn *conn = rnl_conn_find(later->id);

	(void)events;
	ev_timer_stop(loop, timer);
	if (conn != NULL)
		push_many(conn, later->n, 4);
	free(later);
}

static void close_later(struct ev_loop *loop, struct ev_timer *timer, int events)
{
	struct later *later = (struct later *)(void *)timer;
	struct rnl_conn *conn = rnl_conn_find(later->id);

	(void)events;
	ev_timer_stop(loop, timer);
	if (conn != NULL)
		rnl_close(conn);
	free(later);
}

static enum rnl_verdict start_timer(
    const struct rnl_msg *msg, void (*callback)(struct ev_loop *, struct ev_timer *, int))
{
	struct later *later = calloc(1, sizeof(*later));

	if (later == NULL)
		return RNL_ABORT;
	later->id = (uint64_t)get32(msg, 0) << 32 | get32(msg, 4);
	later->n = get32(msg, 8);
	ev_timer_init(&later->timer, callback, 0.001, 0.);
	ev_timer_start(rnl_loop(), &later->timer);
	return RNL_NEXT;
}

static enum rnl_verdict on_timer_send(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)arg;
	return start_timer(msg, send_later);
}

static enum rnl_verdict on_timer_close(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)arg;
	return start_timer(msg, close_later);
}

static enum rnl_verdict on_malformed(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	return rnl_malformed(conn, msg, "the client asked for it");
}

static enum rnl_verdict on_options(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	return answer_text(conn, msg->id, options_text);
}

static enum rnl_verdict on_exit_now(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)arg;
	_exit((int)get32(msg, 0));
}

static enum rnl_verdict on_crash(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)msg;
	(void)arg;
	abort();
}

static enum rnl_verdict on_misuse(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	void *payload;

	(void)arg;
	switch (get32(msg, 0)) {
	case PROBE_MISUSE_RELEASE:
		rnl_hold(conn);
		rnl_release(conn);
		rnl_release(conn);
		break;
	case PROBE_MISUSE_COMMIT:
		if (rnl_reserve(conn, 10, &payload) == RNL_OK)
			rnl_commit(conn, 1, 1 << 20);
		break;
	case PROBE_MISUSE_TIMER:
		rnl_stop_timer(NULL);
		break;
	case PROBE_MISUSE_GET:
		rnl_upstream_get(0, 5);
		break;
	case PROBE_MISUSE_NEXT:
		rnl_upstream_next(-1);
		break;
	}
	return RNL_DONE;
}

/* arg is the letter of the stage. */
static enum rnl_verdict on_chain(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct guest *guest = rnl_data(conn);
	const char *letter = arg;

	strncat(guest->trace, letter, sizeof(guest->trace) - strlen(guest->trace) - 1);
	if (*letter == 'b' && msg->id == PROBE_CHAIN_CLOSE)
		return RNL_CLOSE;
	if (*letter == 'a' || (*letter == 'b' && msg->id == PROBE_CHAIN_DONE)) {
		answer_text(conn, msg->id, guest->trace);
		guest->trace[0] = '\0';
		return RNL_DONE;
	}
	return RNL_NEXT;
}

static char before[] = "b", handle[] = "h", after[] = "a";

static const struct rnl_route routes[] = {
	RNL_ON(PROBE_ECHO, on_echo),
	RNL_ON(PROBE_BUSY, on_busy),
	RNL_ON(PROBE_WHO, on_who),
	RNL_ON(PROBE_FIND, on_find),
	RNL_ON(PROBE_COUNT, on_count),
	RNL_ON(PROBE_COUNTS, on_counts),
	RNL_ON(PROBE_OPTIONS, on_options),
	RNL_ON(PROBE_MALFORMED, on_malformed),
	RNL_ON(PROBE_SEND_TO, on_send_to),
	RNL_ON(PROBE_TIMER_SEND, on_timer_send),
	RNL_ON(PROBE_BROADCAST, on_broadcast),
	RNL_ON(PROBE_SHARED, on_shared),
	RNL_ON(PROBE_FLOOD, on_flood),
	RNL_ON(PROBE_SIZED, on_sized),
	RNL_ON(PROBE_PARTS, on_parts),
	RNL_ON(PROBE_IN_PLACE, on_in_place),
	RNL_ON(PROBE_FORGET, on_forget),
	RNL_ON(PROBE_CLOSE, on_close),
	RNL_ON(PROBE_CLOSE_VERDICT, on_close_verdict),
	RNL_ON(PROBE_ABORT, on_abort),
	RNL_ON(PROBE_ABORT_VERDICT, on_abort_verdict),
	RNL_ON(PROBE_CLOSE_OTHER, on_close_other),
	RNL_ON(PROBE_ABORT_OTHER, on_abort_other),
	RNL_ON(PROBE_TIMER_CLOSE, on_timer_close),
	RNL_ON(PROBE_CLOSE_ALL, on_close_all),
	RNL_ON(PROBE_ABORT_ALL, on_abort_all),
	RNL_ON(PROBE_EXIT, on_exit_now),
	RNL_ON(PROBE_CRASH, on_crash),
	RNL_ON(PROBE_MISUSE, on_misuse),
	{ PROBE_CHAIN, PROBE_CHAIN_BARE, on_chain, after, RNL_AFTER },
	{ PROBE_CHAIN, PROBE_CHAIN_CLOSE, on_chain, handle, RNL_HANDLE },
};

static const struct rnl_option options[] = {
	{ "on-open", RNL_STRING, "none", 0, 0, "none, greet, close, abort" },
	{ "on-start", RNL_STRING, "ok", 0, 0,
	    "ok, fail, crash, hang; a path: until it is gone" },
	{ "refuse", RNL_STRING, "", 0, 0,
	    "refuse the conf for this reason; abort: crash; hang; ask: as a number" },
	{ "number", RNL_NUMBER, "5", -10, 10, "a number" },
	{ "size", RNL_SIZE, "64k", 0, 0, "a size" },
	{ "duration", RNL_DURATION, "1s", 0, 0, "a duration" },
	{ "flag", RNL_BOOL, "false", 0, 0, "yes or no" },
	{ "text", RNL_STRING, "some text", 0, 0, "a text" },
	{ "moves", RNL_BOOL, "false", 0, 0, "connections may be handed over" },
	{ "crash-mark", RNL_STRING, "", 0, 0,
	    "a file: who makes it crashes while it takes its tenth connection over" },
};

static int probe_configure(struct rnl_setup *setup)
{
	struct rnl_route route = { .first = PROBE_CHAIN,
		.last = PROBE_CHAIN_BARE,
		.handler = on_chain,
		.arg = before,
		.stage = RNL_BEFORE };
	struct rnl_route backwards = { .first = 2, .last = 1, .handler = on_echo };
	const char *why;

	on_open = rnl_option_string(setup, "on-open");
	on_start = rnl_option_string(setup, "on-start");
	is_moving = rnl_option_number(setup, "moves");
	crash_mark = rnl_option_string(setup, "crash-mark");
	why = rnl_option_string(setup, "refuse");
	if (strcmp(why, "abort") == 0)
		abort();
	if (strcmp(why, "ask") == 0)
		rnl_option_number(setup, "refuse");
	while (strcmp(why, "hang") == 0)
		pause();
	if (*why != '\0')
		return rnl_refuse(setup, "%s", why);
	snprintf(options_text, sizeof(options_text), "%lld %lld %lld %lld %s",
	    (long long)rnl_option_number(setup, "number"),
	    (long long)rnl_option_number(setup, "size"),
	    (long long)rnl_option_number(setup, "duration"),
	    (long long)rnl_option_number(setup, "flag"), rnl_option_string(setup, "text"));
	if (rnl_add_route(setup, &backwards) != RNL_EINVAL)
		return rnl_refuse(setup, "a route whose first id is after its last was taken");
	return rnl_add_route(setup, &route) == RNL_OK ? 0 : -1;
}

static int probe_start(void)
{
	if (strcmp(on_start, "crash") == 0)
		abort();
	while (strcmp(on_start, "hang") == 0)
		pause();
	while (on_start[0] == '/' && access(on_start, F_OK) == 0)
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	if (strcmp(on_start, "fail") == 0) {
		rnl_log(RNL_LOG_ERROR, "told to fail");
		return -1;
	}
	return 0;
}

static struct guest *add_guest(struct rnl_conn *conn)
{
	struct guest *guest = calloc(1, sizeof(*guest));

	n_opened++;
	rnl_set_data(conn, guest);
	if (guest == NULL)
		return NULL;
	guest->conn = conn;
	guest->id = rnl_conn_id(conn);
	guest->next = guests;
	guest->link = &guests;
	if (guests != NULL)
		guests->link = &guest->next;
	guests = guest;
	return guest;
}

static void remove_guest(struct rnl_conn *conn)
{
	struct guest *guest = rnl_data(conn);

	n_closed++;
	if (guest == NULL)
		return;
	*guest->link = guest->next;
	if (guest->next != NULL)
		guest->next->link = guest->link;
	free(guest);
}

static void probe_open(struct rnl_conn *conn)
{
	if (add_guest(conn) == NULL) {
		rnl_abort(conn);
		return;
	}
	if (strcmp(on_open, "none") != 0)
		answer(conn, 0);
	if (strcmp(on_open, "close") == 0)
		rnl_close(conn);
	else if (strcmp(on_open, "abort") == 0)
		rnl_abort(conn);
}

static void probe_writable(struct rnl_conn *conn)
{
	struct guest *guest = rnl_data(conn);

	guest->n_writable++;
}

/* Closing again from here must do no harm. */
static void probe_close(struct rnl_conn *conn)
{
	struct guest *guest = rnl_data(conn);

	rnl_log(RNL_LOG_INFO, "closed %llu from %s on %s, data %s, send %d",
	    (unsigned long long)rnl_conn_id(conn), rnl_conn_peer(conn), rnl_conn_listener(conn),
	    guest != NULL && guest->id == rnl_conn_id(conn) ? "valid" : "lost",
	    (int)rnl_send(conn, PROBE_RESULT, "", 0));
	rnl_close(conn);
	remove_guest(conn);
}

static void probe_drain(void)
{
	rnl_log(RNL_LOG_INFO, "draining");
}

/* All but the pointers. */
struct kept {
	uint32_t n_asked, n_taken, n_refused, n_writable;
};

static ptrdiff_t probe_save(struct rnl_conn *conn, void *state, size_t size)
{
	const struct guest *guest = rnl_data(conn);
	const struct kept kept = { guest->n_asked, guest->n_taken, guest->n_refused,
		guest->n_writable };

	if (!is_moving || size < sizeof(kept))
		return -1;
	memcpy(state, &kept, sizeof(kept));
	return sizeof(kept);
}

static void probe_moved(struct rnl_conn *conn)
{
	remove_guest(conn);
}

static void crash_once(void)
{
	static unsigned n_restored;

	if (++n_restored == 10 && *crash_mark != '\0' &&
	    open(crash_mark, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600) >= 0)
		abort();
}

static int probe_restore(struct rnl_conn *conn, const void *state, size_t len)
{
	struct guest *guest = add_guest(conn);
	struct kept kept;

	crash_once();
	if (guest == NULL || len != sizeof(kept))
		return -1;
	memcpy(&kept, state, sizeof(kept));
	guest->n_asked = kept.n_asked;
	guest->n_taken = kept.n_taken;
	guest->n_refused = kept.n_refused;
	guest->n_writable = kept.n_writable;
	return 0;
}

static void probe_stop(void)
{
	rnl_log(
	    RNL_LOG_INFO, "opened %u closed %u left %d", n_opened, n_closed, guests != NULL);
}

RNL_MODULE(.version = "1.0", .options = options,
    .n_options = sizeof(options) / sizeof(options[0]), .routes = routes,
    .n_routes = sizeof(routes) / sizeof(routes[0]), .configure = probe_configure,
    .start = probe_start, .open = probe_open, .writable = probe_writable, .close = probe_close,
    .drain = probe_drain, .save = probe_save, .moved = probe_moved, .restore = probe_restore,
    .stop = probe_stop);
