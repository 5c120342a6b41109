/*
 * A timer that is stopped by its own call is freed when that has returned. A
 * connection never ends while a call runs: that waits for the agenda.
 */
#include "config.h"

#include <ev.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/panic.h"
#include "conn/conn.h"
#include "conn/extras.h"
#include "conn/timers.h"

#define MAGIC 0x74696d65u

struct rnl_timer {
	uint32_t magic;
	bool is_called; /* now */
	ev_timer watcher;
	struct link link; /* in table->timers or extras->timers; unlinked: it is stopped */
	struct conn_table *table; /* borrowed */
	size_t owner;
	struct rnl_conn *conn; /* borrowed: its end stops the timer; NULL: the module's own */
	rnl_timer_f *call;
	void *arg;
};

static void destroy(struct rnl_timer *timer)
{
	timer->magic = 0;
	free(timer);
}

static void note(const struct rnl_timer *timer, enum doing_what what)
{
	timer->table->seat->doing = (struct doing){
		.conn = timer->conn != NULL ? conn_id(timer->conn) : 0,
		.module = (uint16_t)timer->owner,
		.what = (uint16_t)what,
	};
}

static void on_time(struct ev_loop *loop, ev_timer *watcher, int revents)
{
	struct rnl_timer *timer = container_of(watcher, struct rnl_timer, watcher);

	(void)loop;
	(void)revents;
	timer->is_called = true;
	note(timer, DOING_TIMER);
	timer->call(timer, timer->conn, timer->arg);
	note(timer, DOING_NOTHING);
	timer->is_called = false;
	if (ev_is_active(watcher))
		return;
	list_remove(&timer->link);
	destroy(timer);
}

static struct rnl_timer *start(struct conn_table *table, size_t owner, uint32_t after_ms,
    uint32_t every_ms, rnl_timer_f *call, void *arg)
{
	struct rnl_timer *timer = calloc(1, sizeof(*timer));

	if (timer == NULL)
		return NULL;
	timer->magic = MAGIC;
	timer->table = table;
	timer->owner = owner;
	timer->call = call;
	timer->arg = arg;
	ev_timer_init(&timer->watcher, on_time, after_ms / 1000., every_ms / 1000.);
	ev_timer_start(table->loop, &timer->watcher);
	return timer;
}

struct rnl_timer *timer_start(struct conn_table *table, size_t owner, uint32_t after_ms,
    uint32_t every_ms, rnl_timer_f *call, void *arg)
{
	struct rnl_timer *timer = start(table, owner, after_ms, every_ms, call, arg);

	if (timer != NULL)
		list_append(&table->timers, &timer->link);
	return timer;
}

struct rnl_timer *timer_start_for(struct rnl_conn *conn, size_t owner, uint32_t after_ms,
    uint32_t every_ms, rnl_timer_f *call, void *arg)
{
	struct rnl_timer *timer;
	struct extras *extras;

	if (conn->is_ended)
		return NULL;
	extras = extras_get(conn);
	if (extras == NULL)
		return NULL;
	timer = start(conn->table, owner, after_ms, every_ms, call, arg);
	if (timer == NULL)
		return NULL;
	timer->conn = conn;
	list_append(&extras->timers, &timer->link);
	return timer;
}

bool timer_is_there(const struct rnl_timer *timer)
{
	return timer != NULL && timer->magic == MAGIC;
}

void timer_stop(struct rnl_timer *timer)
{
	CHECK_MAGIC(timer, MAGIC);
	ev_timer_stop(timer->table->loop, &timer->watcher);
	list_remove(&timer->link);
	if (!timer->is_called)
		destroy(timer);
}

void timers_clear(struct link *timers)
{
	struct link *link, *after;

	list_foreach_safe(link, after, timers)
		timer_stop(container_of(link, struct rnl_timer, link));
}
