/*
 * The life of a connection: made, settled after each turn, ended, destroyed.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/panic.h"
#include "conn/callbacks.h"
#include "conn/extras.h"
#include "conn/parts.h"
#include "conn/tally.h"

#define SERIAL_BITS 48

void conn_do(struct rnl_conn *conn, enum doing_what what, unsigned int module)
{
	struct doing *doing = &conn->table->seat->doing;

	doing->conn = conn_id(conn);
	doing->id = 0;
	doing->module = (uint16_t)module;
	doing->what = (uint16_t)what;
	/* Which takes its time. */
	conn->table->turned_ns = 0;
}

static void call_open(struct rnl_conn *conn)
{
	const struct listener *listener = conn->listener;

	conn->table->current = conn;
	for (size_t i = 0; i < listener->n_modules; i++) {
		if (listener->modules[i].api->open == NULL)
			continue;
		conn_do(conn, DOING_OPEN, listener->modules[i].index);
		listener->modules[i].api->open(conn);
	}
	conn_do(conn, DOING_NOTHING, 0);
	conn->table->current = NULL;
}

/* Add to a count that other workers read. */
static void count_open(struct rnl_conn *conn, int n)
{
	uint32_t *n_open = &conn->table->seat->n_open[conn->listener->index];

	__atomic_store_n(n_open, *n_open + (uint32_t)n, __ATOMIC_RELAXED);
}

enum status conn_make(struct conn_table *table, const struct listener *listener, int fd,
    const struct endpoint *peer, uint64_t id, struct rnl_conn **result)
{
	bool is_tallied = tally_is_wanted(listener);
	struct rnl_conn *conn =
	    calloc(1, sizeof(*conn) + table->n_data * sizeof(conn->data[0]) +
			  (is_tallied ? sizeof(struct conn_tally) : 0));

	if (conn == NULL) {
		close(fd);
		return STATUS_NOMEM;
	}
	conn->magic = CONN_MAGIC;
	conn->table = table;
	conn->listener = listener;
	conn->peer = *peer;
	conn->heard_ms = conn->sent_ms = conn->beat_ms = (uint32_t)table->now_ms;
	conn->opened_ds = (uint32_t)(table->now_ms / 100);
	conn->fd = fd;
	conn->is_tallied = is_tallied;
	if (is_tallied)
		conn_tally(conn)->opened_ms = table->now_ms;
	list_init(&conn->turn);
	wheel_entry_init(&conn->deadline);
	input_init(&conn->in);
	sendq_init(&conn->out);
	if (poller_add(table->poller, fd, EPOLLIN, conn) != STATUS_OK) {
		close(fd);
		free(conn);
		return STATUS_ERRNO;
	}
	conn->interest = EPOLLIN;
	hash_insert(&table->by_id, &conn->by_id, id);
	list_append(&table->conns, &conn->all);
	table->n_conns++;
	count_open(conn, 1);
	*result = conn;
	return STATUS_OK;
}

/* All processes of the slot take their serials from its page. */
static uint64_t new_id(const struct conn_table *table)
{
	uint64_t *last = &table->pages[table->slot].last_serial;

	return (uint64_t)table->slot << SERIAL_BITS |
	       __atomic_add_fetch(last, 1, __ATOMIC_RELAXED);
}

enum status conn_new(struct conn_table *table, const struct listener *listener, int fd,
    const struct endpoint *peer)
{
	struct rnl_conn *conn;
	enum status status = conn_make(table, listener, fd, peer, new_id(table), &conn);

	if (status != STATUS_OK)
		return status;
	if (listener->is_outgoing) {
		table->n_outgoing++;
		counter_add(table->seat->counters.connected, 1);
		connector_up(conn);
	} else {
		counter_add(table->seat->counters.accepted, 1);
	}
	tally_log_begin(conn);
	call_open(conn);
	conn_settle(conn);
	return STATUS_OK;
}

void conn_set_data(struct rnl_conn *conn, size_t i, void *data)
{
	void *old = conn->data[i];

	conn->data[i] = data;
	if (old != NULL && old != data && conn->table->free_data[i] != NULL)
		conn->table->free_data[i](old);
}

uint32_t conn_idle_ms(const struct rnl_conn *conn)
{
	uint32_t now_ms = (uint32_t)conn->table->now_ms;
	uint32_t heard = now_ms - conn->heard_ms, sent = now_ms - conn->sent_ms;

	return heard < sent ? heard : sent;
}

uint64_t conn_age_ms(const struct rnl_conn *conn)
{
	return UINT64_C(100) * ((uint32_t)(conn->table->now_ms / 100) - conn->opened_ds);
}

void conn_schedule(struct rnl_conn *conn)
{
	if (!list_is_linked(&conn->turn))
		list_append(&conn->table->agenda, &conn->turn);
}

void conn_close(struct rnl_conn *conn, enum close_reason reason)
{
	if (conn->state != CONN_OPEN)
		return;
	conn->state = CONN_FLUSHING;
	conn->reason = reason;
	if (conn != conn->table->current)
		conn_schedule(conn);
}

void conn_abort(struct rnl_conn *conn, enum close_reason reason)
{
	if (conn->state == CONN_BROKEN)
		return;
	if (!conn->is_ended)
		conn->reason = reason;
	conn->state = CONN_BROKEN;
	if (conn != conn->table->current)
		conn_schedule(conn);
}

enum close_reason conn_reason_of(int error)
{
	if (error == ECONNRESET || error == EPIPE || error == ETIMEDOUT)
		return CLOSE_REASON_peer;
	return CLOSE_REASON_error;
}

void conn_hold(struct rnl_conn *conn)
{
	conn->n_holds++;
}

void conn_release(struct rnl_conn *conn)
{
	CHECK(conn->n_holds > 0);
	conn->n_holds--;
	if (conn->n_holds == 0 && (conn->is_input_over || conn->table->movable != 0) &&
	    conn != conn->table->current)
		conn_schedule(conn);
}

void conn_rest(struct rnl_conn *conn)
{
	conn->is_rested = true;
	if (conn != conn->table->current)
		conn_schedule(conn);
}

/* Whether its queue has room is another matter: a pause of that goes on. */
void conn_resume(struct rnl_conn *conn)
{
	if (!conn->is_rested)
		return;
	conn->is_rested = false;
	conn_go_on(conn);
	conn_schedule(conn);
}

/* A frame that was not read on has its time from now, and a peer that was not heard. */
void conn_go_on(struct rnl_conn *conn)
{
	if (conn_is_held_up(conn))
		return;
	conn->frame_ms = (uint32_t)conn->table->now_ms;
	conn->heard_ms = (uint32_t)conn->table->now_ms;
}

void conn_turn(struct rnl_conn *conn)
{
	CHECK_MAGIC(conn, CONN_MAGIC);
	if (conn->state == CONN_OPEN && conn->is_waiting && !conn_is_held_up(conn)) {
		struct view view = input_view(&conn->in);

		conn_serve(conn, &view, table_turn(conn->table));
	}
	conn_settle(conn);
}

void conn_stop(struct rnl_conn *conn)
{
	size_t n_bytes;

	if (conn->state != CONN_OPEN || conn->is_input_over || conn->is_stopping)
		return;
	conn->is_stopping = true;
	/* Who goes on sending does not put off the end: what is there now is counted off. */
	n_bytes = input_waiting(conn->fd);
	if (n_bytes > 0) {
		struct extras *extras = extras_get(conn);

		if (extras != NULL)
			extras->stop_bytes = n_bytes;
	}
	if (!conn_is_held_up(conn))
		conn_read(conn);
	conn_count_off(conn, 0);
	conn_schedule(conn);
}

void conn_count_off(struct rnl_conn *conn, size_t n_bytes)
{
	struct extras *extras = extras_find(conn);

	if (extras != NULL && extras->stop_bytes > n_bytes) {
		extras->stop_bytes -= n_bytes;
		return;
	}
	if (extras != NULL)
		extras->stop_bytes = 0;
	/* What was read may have been the end, or have closed it: then that is the reason. */
	if (conn->state == CONN_OPEN && !conn->is_input_over) {
		conn->is_input_over = true;
		conn->reason = CLOSE_REASON_shutdown;
	}
}

/* Free what modules still have in it. */
static void detach(struct rnl_conn *conn)
{
	for (size_t i = 0; i < conn->table->n_data; i++) {
		if (conn->data[i] == NULL)
			continue;
		conn_do(conn, DOING_CLOSE, (unsigned int)i);
		conn_set_data(conn, i, NULL);
	}
	extras_destroy(conn);
}

/* The connection is over as far as modules and counters are concerned. */
static void end(struct rnl_conn *conn)
{
	const struct listener *listener = conn->listener;
	char peer[ENDPOINT_TEXT_SIZE];

	conn->is_ended = true;
	if (listener->is_outgoing)
		connector_down(conn);
	for (size_t i = 0; i < listener->n_modules; i++) {
		if (listener->modules[i].api->close == NULL)
			continue;
		conn_do(conn, DOING_CLOSE, listener->modules[i].index);
		listener->modules[i].api->close(conn);
	}
	callbacks_run(conn);
	detach(conn);
	conn_do(conn, DOING_NOTHING, 0);
	hash_remove(&conn->table->by_id, &conn->by_id);
	counter_add(conn->table->seat->counters.closed[conn->reason], 1);
	counter_add(conn->table->seat->counters.probes, conn_is_probe(conn));
	counter_add(conn->table->seat->n_upstreams_left,
	    listener->is_outgoing && (conn->reason == CLOSE_REASON_shutdown ||
					 conn->reason == CLOSE_REASON_drain_timeout));
	if (!tally_log_end(conn) && log_is_enabled(LOG_LEVEL_DEBUG))
		log_debug("%s %s: %s: connection %" PRIu64 " ended: %s",
		    listener_kind(listener), listener->name, endpoint_format(&conn->peer, peer),
		    conn_id(conn), close_reason_text(conn->reason));
}

/*
 * All is written: tell the peer the end, and wait for its own. A plain close(2)
 * with unread input would reset the connection and lose what the kernel holds.
 */
static void finish(struct rnl_conn *conn)
{
	end(conn);
	if (conn->state != CONN_FLUSHING)
		return;
	if (conn->reason == CLOSE_REASON_peer ||
	    conn->listener->settings->linger_timeout_ms == 0 ||
	    shutdown(conn->fd, SHUT_WR) < 0) {
		conn->state = CONN_BROKEN;
		return;
	}
	conn->state = CONN_LINGERING;
	conn->progress_ms = (uint32_t)conn->table->now_ms;
}

/* The one place where a connection dies. */
static void destroy(struct rnl_conn *conn)
{
	struct conn_table *table = conn->table;

	if (!conn->is_ended)
		end(conn);
	if (conn->fd >= 0)
		poller_remove(table->poller, conn->fd);
	wheel_cancel(&table->wheel, &conn->deadline);
	list_remove(&conn->turn);
	list_remove(&conn->all);
	sendq_clear(&conn->out, &table->pool);
	input_clear(&conn->in);
	if (conn->fd >= 0)
		close(conn->fd);
	count_open(conn, -1);
	table->n_conns--;
	if (conn->listener->is_outgoing)
		table->n_outgoing--;
	conn->magic = 0;
	free(conn);
	table_conn_gone(table);
}

/* Are its requests read? */
static bool is_served(const struct rnl_conn *conn)
{
	return conn->state == CONN_OPEN && !conn_is_held_up(conn) && !conn->is_input_over;
}

static void call_moved(struct rnl_conn *conn)
{
	const struct listener *listener = conn->listener;

	for (size_t i = 0; i < listener->n_modules; i++) {
		if (listener->modules[i].api->moved == NULL)
			continue;
		conn_do(conn, DOING_MOVING, listener->modules[i].index);
		listener->modules[i].api->moved(conn);
	}
	detach(conn);
	conn_do(conn, DOING_NOTHING, 0);
}

/* Without close hooks and uncounted: it does not end, but is another's. */
static void forget(struct rnl_conn *conn)
{
	hash_remove(&conn->table->by_id, &conn->by_id);
	conn->is_ended = true;
	conn->state = CONN_BROKEN;
}

void conn_unmake(struct rnl_conn *conn)
{
	forget(conn);
	destroy(conn);
}

/*
 * With nothing to send or to come from a job, at the end of a frame or within one, another
 * worker can go on with it.
 */
static bool move(struct rnl_conn *conn)
{
	if (!conn_is_movable(conn) || !is_served(conn) || conn->is_waiting ||
	    conn->is_refused || conn->n_holds > 0 || !sendq_is_empty(&conn->out) ||
	    !conn->table->move(conn, conn->table->move_arg))
		return false;
	poller_remove(conn->table->poller, conn->fd);
	conn->fd = -1;
	counter_add(conn->table->seat->counters.moved_out, 1);
	forget(conn);
	call_moved(conn);
	return true;
}

/* Ask the poller for the events that matter now. */
static void watch(struct rnl_conn *conn)
{
	bool is_reading = conn->state == CONN_LINGERING || is_served(conn);
	uint32_t interest = (is_reading ? EPOLLIN : 0) | (conn->is_blocked ? EPOLLOUT : 0);

	if (interest == conn->interest)
		return;
	conn->interest = interest & 0x1f;
	if (poller_change(conn->table->poller, conn->fd, interest, conn) != STATUS_OK)
		conn_abort(conn, CLOSE_REASON_error);
}

void conn_on_event(void *owner, uint32_t events)
{
	struct rnl_conn *conn = owner;

	CHECK_MAGIC(conn, CONN_MAGIC);
	if (events & EPOLLOUT)
		conn_drain(conn);
	if ((conn->interest & EPOLLIN) && (events & ~(uint32_t)EPOLLOUT))
		conn_read(conn);
	else if (events & (EPOLLERR | EPOLLHUP))
		conn_abort(conn, CLOSE_REASON_peer);
	conn_settle(conn);
}

void conn_settle(struct rnl_conn *conn)
{
	if (!conn->is_blocked)
		conn_drain(conn);
	conn_relieve(conn);
	if (conn->state == CONN_OPEN && conn->is_input_over && !conn->is_waiting &&
	    conn->n_holds == 0)
		conn_close(conn, conn->reason);
	if (conn->state == CONN_FLUSHING && sendq_is_empty(&conn->out))
		finish(conn);
	if (conn->state == CONN_BROKEN) {
		destroy(conn);
		return;
	}
	if (conn->table->movable != 0 && move(conn)) {
		destroy(conn);
		return;
	}
	/* What it has not served it will not serve. */
	if (conn->state != CONN_OPEN)
		input_clear(&conn->in);
	watch(conn);
	conn_set_deadline(conn);
}
