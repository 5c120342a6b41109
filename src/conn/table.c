#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/panic.h"
#include "conn/conn.h"
#include "conn/timers.h"

/* Connections that a short pool refused may send again: it has fallen to half. */
static void end_shortage(struct conn_table *table)
{
	struct link *link;

	table->is_pool_short = false;
	list_foreach(link, &table->conns) {
		struct rnl_conn *conn = container_of(link, struct rnl_conn, all);

		if (conn->is_refused || conn->is_paused)
			conn_schedule(conn);
	}
}

/* One turn for each connection that is on the agenda now. */
static void run_agenda(struct conn_table *table)
{
	struct link round, *link;

	if (list_is_empty(&table->agenda))
		return;
	list_init(&round);
	list_splice(&round, &table->agenda);
	/* Anything may have run since. */
	table->turned_ns = 0;
	while ((link = list_shift(&round)) != NULL)
		conn_turn(container_of(link, struct rnl_conn, turn));
}

static void before_sleep(struct ev_loop *loop, ev_prepare *watcher, int revents)
{
	struct conn_table *table = container_of(watcher, struct conn_table, before_sleep);

	(void)revents;
	if (table->is_pool_short && table->pool.held_bytes <= table->pool.max_bytes / 2)
		end_shortage(table);
	run_agenda(table);
	/* An idle watcher keeps the loop from sleeping while the agenda has entries. */
	if (list_is_empty(&table->agenda))
		ev_idle_stop(loop, &table->no_sleep);
	else
		ev_idle_start(loop, &table->no_sleep);
}

static void after_sleep(struct ev_loop *loop, ev_check *watcher, int revents)
{
	struct conn_table *table = container_of(watcher, struct conn_table, after_sleep);

	(void)loop;
	(void)revents;
	table->turned_ns = clock_ns();
	table->now_ms = clock_to_ms(table->turned_ns);
}

static void on_idle(struct ev_loop *loop, ev_idle *watcher, int revents)
{
	(void)loop;
	(void)watcher;
	(void)revents;
}

static void on_deadline(struct wheel_entry *entry, void *arg)
{
	(void)arg;
	conn_expire(container_of(entry, struct rnl_conn, deadline));
}

static void on_tick(struct ev_loop *loop, ev_timer *watcher, int revents)
{
	struct conn_table *table = container_of(watcher, struct conn_table, tick);

	(void)revents;
	wheel_advance(&table->wheel, table->now_ms, on_deadline, table);
	if (table->wheel.n_armed == 0)
		ev_timer_stop(loop, watcher);
}

void table_start_tick(struct conn_table *table)
{
	if (!ev_is_active(&table->tick))
		ev_timer_again(table->loop, &table->tick);
}

static void start_watchers(struct conn_table *table)
{
	ev_prepare_init(&table->before_sleep, before_sleep);
	ev_check_init(&table->after_sleep, after_sleep);
	/* The clock is read before anything else runs. */
	ev_set_priority(&table->after_sleep, EV_MAXPRI);
	ev_idle_init(&table->no_sleep, on_idle);
	ev_timer_init(&table->tick, on_tick, 0., WHEEL_TICK_MS / 1000.);
	ev_prepare_start(table->loop, &table->before_sleep);
	ev_unref(table->loop);
	ev_check_start(table->loop, &table->after_sleep);
	ev_unref(table->loop);
}

/*
 * Before the first of these nothing is known of handlers, and the coarse clock
 * tells no less apart.
 */
#define FIRST_NOTICE_MS 10u

#define NS_PER_MS 1000000

static void set_notice(struct conn_table *table, uint32_t slowest_ms)
{
	uint32_t notice_ms = slowest_ms + 1;

	if (table->slow_handler_ms != 0 && table->slow_handler_ms < notice_ms)
		notice_ms = table->slow_handler_ms;
	if (notice_ms < FIRST_NOTICE_MS)
		notice_ms = FIRST_NOTICE_MS;
	table->notice_ns = (int64_t)notice_ms * NS_PER_MS;
}

/* What takes memory and can fail; what is not made is zero. */
static enum status table_alloc(struct conn_table *table, size_t n_data)
{
	enum status status;

	table->free_data = calloc(n_data + 1, sizeof(*table->free_data));
	if (table->free_data == NULL)
		return STATUS_NOMEM;
	status = hash_init(&table->by_id);
	if (status == STATUS_OK)
		status = hash_init(&table->extras);
	if (status == STATUS_OK)
		status = names_init(&table->names);
	if (status == STATUS_OK)
		status = poller_new(table->loop, conn_on_event, &table->poller);
	return status;
}

static void table_free(struct conn_table *table)
{
	if (table->poller != NULL)
		poller_destroy(&table->poller);
	names_destroy(&table->names);
	hash_destroy(&table->extras);
	hash_destroy(&table->by_id);
	free(table->free_data);
	free(table);
}

enum status table_new(struct ev_loop *loop, struct slot_page pages[], unsigned int n_slots,
    unsigned int slot, struct seat *seat, uint64_t max_send_bytes, uint32_t slow_handler_ms,
    size_t n_data, struct conn_table **result)
{
	struct conn_table *table = calloc(1, sizeof(*table));
	enum status status;

	if (table == NULL)
		return STATUS_NOMEM;
	table->loop = loop;
	status = table_alloc(table, n_data);
	if (status != STATUS_OK) {
		table_free(table);
		return status;
	}
	table->seat = seat;
	table->pages = pages;
	table->n_slots = n_slots;
	table->slot = slot;
	table->n_data = n_data;
	table->now_ms = clock_ms();
	table->slow_handler_ms = slow_handler_ms;
	table->refusals.what = "sends refused, on many connections";
	set_notice(table, 0);
	list_init(&table->conns);
	list_init(&table->agenda);
	list_init(&table->timers);
	wheel_init(&table->wheel, table->now_ms);
	chunk_pool_init(&table->pool, max_send_bytes);
	start_watchers(table);
	*result = table;
	return STATUS_OK;
}

struct rnl_conn *table_find(const struct conn_table *table, uint64_t id)
{
	struct hash_link *link = hash_find(&table->by_id, id);

	return link != NULL ? container_of(link, struct rnl_conn, by_id) : NULL;
}

void table_each(const struct conn_table *table, conn_visit_f *visit, void *arg)
{
	struct link *link;

	/* None is destroyed by what a visitor does: that waits for the agenda. */
	list_foreach(link, &table->conns) {
		struct rnl_conn *conn = container_of(link, struct rnl_conn, all);

		if (!conn->is_ended)
			visit(conn, arg);
	}
}

void table_note_slow(
    struct conn_table *table, const struct step *step, uint32_t id, int64_t took_ns)
{
	struct slowest *slowest = &table->seat->slowest;
	int64_t took_ms = took_ns / NS_PER_MS;
	char rest[LOG_REST_SIZE];

	if (took_ms > slowest->ms)
		*slowest = (struct slowest){
			.ms = took_ms < UINT32_MAX ? (uint32_t)took_ms : UINT32_MAX,
			.id = id,
			.module = (uint16_t)step->index,
		};
	set_notice(table, slowest->ms);
	if (table->slow_handler_ms == 0 || took_ms < (int64_t)table->slow_handler_ms ||
	    !log_cap_allows(&table->slow_handlers, clock_ms(), rest))
		return;
	log_warn("slow handler: module '%s': message id %" PRIu32 " took %" PRId64 " ms%s",
	    step->module, id, took_ms, rest);
}

void table_schedule_all(struct conn_table *table)
{
	struct link *link;

	list_foreach(link, &table->conns)
		conn_schedule(container_of(link, struct rnl_conn, all));
}

static void stop_each(struct conn_table *table, bool is_outgoing)
{
	struct link *link;

	list_foreach(link, &table->conns) {
		struct rnl_conn *conn = container_of(link, struct rnl_conn, all);

		if (conn->listener->is_outgoing == is_outgoing)
			conn_stop(conn);
	}
}

bool table_is_ending(const struct conn_table *table)
{
	return table->is_stopping ||
	       (table->is_draining && table->n_conns == table->n_outgoing);
}

/* Outgoing connections go when nobody is left who may wait for what comes over them. */
static void stop_outgoing(struct conn_table *table)
{
	if (table_is_ending(table) && table->n_conns == table->n_outgoing)
		stop_each(table, true);
}

void table_drain(struct conn_table *table, uint32_t spread_ms)
{
	table->is_draining = true;
	table->drain_ms = table->now_ms;
	table->drain_spread_ms = spread_ms;
	/* Their deadlines are reckoned anew in their turns. */
	table_schedule_all(table);
	stop_outgoing(table);
}

void table_stop(struct conn_table *table)
{
	table->is_stopping = true;
	stop_each(table, false);
	stop_outgoing(table);
}

void table_conn_gone(struct conn_table *table)
{
	stop_outgoing(table);
	if (table->n_conns == 0 && table->on_empty != NULL)
		table->on_empty(table->on_empty_arg);
}

void table_abort(struct conn_table *table, enum close_reason reason)
{
	struct link *link;

	table->is_stopping = true;
	list_foreach(link, &table->conns)
		conn_abort(container_of(link, struct rnl_conn, all), reason);
}

void table_destroy(struct conn_table **tablep)
{
	struct conn_table *table = *tablep;
	uint64_t lost;

	CHECK(table->n_conns == 0);
	ev_ref(table->loop);
	ev_prepare_stop(table->loop, &table->before_sleep);
	ev_ref(table->loop);
	ev_check_stop(table->loop, &table->after_sleep);
	ev_idle_stop(table->loop, &table->no_sleep);
	ev_timer_stop(table->loop, &table->tick);
	timers_clear(&table->timers);
	lost = chunk_pool_destroy(&table->pool);
	if (lost > 0)
		log_warn(
		    "%" PRIu64 " bytes of shared messages were not freed by modules", lost);
	table_free(table);
	*tablep = NULL;
}
