/*
 * A module that keeps things: names, data, close callbacks, timers; and has its own
 * mind about heartbeats.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <runnel/module.h>

#include "system/modules/keeper.h"

static const char *on_beat, *on_silence;
static uint32_t tick_ms;
static struct rnl_timer *conn_timer; /* the one that was started last */
static char marks[8];                /* their addresses are keys of callbacks */
static unsigned n_marks;
static char *last_text; /* of the callback that was added last */

static enum rnl_verdict answer(
    struct rnl_conn *conn, const struct rnl_msg *msg, const char *text)
{
	rnl_send(conn, msg->id, text, strlen(text));
	return RNL_DONE;
}

static enum rnl_verdict answer_number(
    struct rnl_conn *conn, const struct rnl_msg *msg, long long number)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", number);
	return answer(conn, msg, text);
}

static long long id_of(const struct rnl_conn *conn)
{
	return conn != NULL ? (long long)rnl_conn_id(conn) : 0;
}

/* NULL: no memory. free() */
static char *text_of(const struct rnl_msg *msg)
{
	char *text = calloc(1, msg->len + 1);

	if (text != NULL)
		memcpy(text, msg->payload, msg->len);
	return text;
}

static enum rnl_verdict on_bind(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct rnl_conn *former = NULL;
	enum rnl_status status = rnl_bind_here(conn, msg->payload, msg->len, &former);
	char text[64];

	(void)arg;
	snprintf(text, sizeof(text), "%d %lld", (int)status, id_of(former));
	if (former != NULL)
		rnl_close(former);
	return answer(conn, msg, text);
}

static enum rnl_verdict on_find(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	return answer_number(conn, msg, id_of(rnl_find_here(msg->payload, msg->len)));
}

static enum rnl_verdict on_unbind(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_unbind_here(conn, msg->payload, msg->len);
	return answer(conn, msg, "done");
}

static enum rnl_verdict on_send(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	return answer_number(conn, msg,
	    rnl_send_here(msg->payload, msg->len, KEEPER_TOLD, msg->payload, msg->len));
}

static enum rnl_verdict on_data(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_set_data(conn, text_of(msg));
	return answer(conn, msg, "done");
}

static void keeper_free(void *text)
{
	rnl_log(RNL_LOG_INFO, "freed %s", (char *)text);
	free(text);
}

static void on_closed(struct rnl_conn *conn, void *text)
{
	rnl_log(RNL_LOG_INFO, "called %s, data %s", (char *)text,
	    rnl_data(conn) != NULL ? "there" : "gone");
	free(text);
}

static enum rnl_verdict on_add(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	n_marks = (n_marks + 1) % sizeof(marks);
	last_text = text_of(msg);
	return answer_number(
	    conn, msg, rnl_add_on_close(conn, &marks[n_marks], on_closed, last_text));
}

static enum rnl_verdict on_remove(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_remove_on_close(conn, &marks[n_marks]);
	free(last_text);
	return answer(conn, msg, "done");
}

static enum rnl_verdict on_where(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	char text[128];

	(void)arg;
	snprintf(text, sizeof(text), "%s %" PRIu64 " %" PRIu32, rnl_conn_local(conn),
	    rnl_conn_age_ms(conn), rnl_conn_idle_ms(conn));
	return answer(conn, msg, text);
}

static void tick_one(struct rnl_timer *timer, struct rnl_conn *conn, void *arg)
{
	(void)timer;
	(void)arg;
	rnl_send(conn, KEEPER_TICK, "conn", 4);
}

static enum rnl_verdict on_every(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const uint8_t *at = msg->payload;
	uint32_t ms;

	(void)arg;
	if (msg->len != 4)
		return rnl_malformed(conn, msg, "not four bytes");
	ms = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
	conn_timer = rnl_start_conn_timer(conn, ms, ms, tick_one, NULL);
	return conn_timer != NULL ? RNL_DONE : RNL_ABORT;
}

static enum rnl_verdict on_halt(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_stop_timer(conn_timer);
	return answer(conn, msg, "done");
}

static void send_tick(struct rnl_conn *conn, void *arg)
{
	(void)arg;
	rnl_send(conn, KEEPER_TICK, "all", 3);
}

static void tick_all(struct rnl_timer *timer, struct rnl_conn *conn, void *arg)
{
	(void)timer;
	(void)arg;
	if (conn == NULL)
		rnl_each(send_tick, NULL);
}

static int keeper_configure(struct rnl_setup *setup)
{
	on_beat = rnl_option_string(setup, "on-beat");
	on_silence = rnl_option_string(setup, "on-silence");
	tick_ms = (uint32_t)rnl_option_number(setup, "tick");
	return 0;
}

static int keeper_start(void)
{
	if (tick_ms != 0 && rnl_start_timer(tick_ms, tick_ms, tick_all, NULL) == NULL)
		return -1;
	return 0;
}

static enum rnl_verdict keeper_beat(struct rnl_conn *conn, uint32_t id)
{
	if (*on_beat == '\0')
		return RNL_NEXT;
	rnl_send(conn, id, on_beat, strlen(on_beat));
	return RNL_DONE;
}

static enum rnl_verdict keeper_silent(struct rnl_conn *conn, uint32_t silent_ms)
{
	(void)conn;
	rnl_log(RNL_LOG_INFO, "silent for %" PRIu32 " ms", silent_ms);
	if (strcmp(on_silence, "keep") == 0)
		return RNL_DONE;
	return strcmp(on_silence, "abort") == 0 ? RNL_ABORT : RNL_NEXT;
}

static void keeper_close(struct rnl_conn *conn)
{
	rnl_log(RNL_LOG_INFO, "closed %" PRIu64, rnl_conn_id(conn));
}

static enum rnl_verdict on_null(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	enum rnl_status status = rnl_add_on_close(conn, marks, NULL, NULL);
	int n_timers = (rnl_start_timer(0, 0, NULL, NULL) != NULL) +
		       (rnl_start_conn_timer(conn, 0, 0, NULL, NULL) != NULL);
	char text[32];

	(void)arg;
	rnl_each(NULL, NULL);
	snprintf(text, sizeof(text), "%d %d", (int)status, n_timers);
	return answer(conn, msg, text);
}

static const struct rnl_route routes[] = {
	RNL_ON(KEEPER_BIND, on_bind),
	RNL_ON(KEEPER_FIND, on_find),
	RNL_ON(KEEPER_UNBIND, on_unbind),
	RNL_ON(KEEPER_SEND, on_send),
	RNL_ON(KEEPER_DATA, on_data),
	RNL_ON(KEEPER_ADD, on_add),
	RNL_ON(KEEPER_REMOVE, on_remove),
	RNL_ON(KEEPER_WHERE, on_where),
	RNL_ON(KEEPER_EVERY, on_every),
	RNL_ON(KEEPER_HALT, on_halt),
	RNL_ON(KEEPER_NULL, on_null),
};

static const struct rnl_option options[] = {
	{ "on-beat", RNL_STRING, "", 0, 0, "payload of heartbeats; empty: the host's" },
	{ "on-silence", RNL_STRING, "next", 0, 0, "next, keep or abort" },
	{ "tick", RNL_DURATION, "0", 0, 0, "a message to all this often" },
};

RNL_MODULE(.version = "1.0", .options = options,
    .n_options = sizeof(options) / sizeof(options[0]), .routes = routes,
    .n_routes = sizeof(routes) / sizeof(routes[0]), .configure = keeper_configure,
    .start = keeper_start, .heartbeat = keeper_beat, .silent = keeper_silent,
    .close = keeper_close, .free_data = keeper_free);
