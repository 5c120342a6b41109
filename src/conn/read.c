/*
 * The way in: readable -> input -> frame decoder -> router -> handlers.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>

#include "base/clock.h"
#include "base/panic.h"
#include "conn/parts.h"
#include "conn/tally.h"

/* Frames that break the protocol are news once a second for all connections of the worker. */
static void log_violation(struct rnl_conn *conn, const char *what, const struct frame *frame)
{
	char peer[ENDPOINT_TEXT_SIZE];
	char rest[LOG_REST_SIZE];

	if (!log_cap_allows(&conn->table->violations, conn->table->now_ms, rest))
		return;
	log_warn("%s %s: %s: %s (id %" PRIu32 ", length %zu, max-message %" PRIu32 ")%s",
	    listener_kind(conn->listener), conn->listener->name,
	    endpoint_format(&conn->peer, peer), what, frame->id, frame->len,
	    conn->listener->settings->max_message, rest);
}

static void serve_unknown(struct rnl_conn *conn, const struct frame *frame)
{
	const struct listen_settings *settings = conn->listener->settings;

	/* A heartbeat has done all it is for by having come. */
	if (listen_has_heartbeat(settings) && frame->id == settings->heartbeat_id)
		return;
	counter_add(conn->table->seat->counters.unknown_ids, 1);
	if (settings->unknown_message == UNKNOWN_CLOSE) {
		log_violation(conn, "closed: no handler for a message", frame);
		conn_close(conn, CLOSE_REASON_protocol);
	}
}

/*
 * Reads the clock once: handlers run one after the other. The coarse clock may be
 * behind the one that the mark is from.
 */
static inline void note_time(struct conn_table *table, const struct step *step, uint32_t id)
{
	uint64_t now_ns = clock_coarse_ns();
	int64_t took_ns = (int64_t)(now_ns - table->mark_ns);

	table->mark_ns = now_ns;
	if (__builtin_expect(took_ns >= table->notice_ns, 0))
		table_note_slow(table, step, id, took_ns);
}

/* What runs is written down before: whoever finds the worker dead wants to know. */
static enum rnl_verdict run_chain(
    struct rnl_conn *conn, const struct step *step, const struct rnl_msg *msg)
{
	struct doing *doing = &conn->table->seat->doing;
	enum rnl_verdict verdict = RNL_NEXT;

	doing->id = msg->id;
	for (; verdict == RNL_NEXT && step->handler != NULL; step++) {
		doing->module = (uint16_t)step->index;
		verdict = step->handler(conn, msg, step->arg);
		note_time(conn->table, step, msg->id);
	}
	return verdict;
}

static void dispatch(struct rnl_conn *conn, const struct frame *frame)
{
	struct conn_table *table = conn->table;
	uint64_t mark_ns = table->mark_ns;
	const struct step *step = router_find(conn->listener->router, frame->id);
	void *scratch = NULL;
	const struct rnl_msg msg = { .size = sizeof(msg),
		.payload = frame->payload,
		.len = frame->len,
		.id = frame->id,
		.scratch = &scratch };
	enum rnl_verdict verdict;

	if (step == NULL) {
		serve_unknown(conn, frame);
		return;
	}
	verdict = run_chain(conn, step, &msg);
	stopwatch_lap(&table->stopwatch, table->mark_ns > mark_ns, &table->seat->times.handler);
	if (verdict == RNL_CLOSE)
		conn_close(conn, CLOSE_REASON_handler);
	else if (verdict == RNL_ABORT)
		conn_abort(conn, CLOSE_REASON_handler);
}

/*
 * With when-full = pause a request waits until its reply has room, so that a
 * module which answers each request once never sees a full queue.
 */
static bool must_pause(struct rnl_conn *conn)
{
	const struct listener *listener = conn->listener;

	if (listener->settings->when_full != WHEN_FULL_PAUSE || sendq_is_empty(&conn->out) ||
	    sendq_has_room(&conn->out, &listener->limits, listener->reply_room))
		return false;
	conn_drain(conn);
	conn->is_paused = !sendq_has_room(&conn->out, &listener->limits, listener->reply_room);
	return conn->is_paused;
}

static void keep_rest(struct rnl_conn *conn, const struct view *view, size_t n)
{
	bool was_in_frame = conn->is_in_frame && n == 0;

	if (conn->state != CONN_OPEN)
		return;
	if (input_keep(&conn->in, view, n) != STATUS_OK) {
		conn_abort(conn, CLOSE_REASON_error);
		return;
	}
	conn->is_in_frame = !conn->is_waiting && !input_is_empty(&conn->in);
	if (conn->is_in_frame && !was_in_frame)
		conn->frame_ms = (uint32_t)conn->table->now_ms;
}

static void log_no_frame(struct rnl_conn *conn, const struct frame *frame)
{
	char peer[ENDPOINT_TEXT_SIZE];
	char rest[LOG_REST_SIZE];

	if (!log_cap_allows(&conn->table->violations, conn->table->now_ms, rest))
		return;
	log_warn("%s %s: %s: closed: framing %s: %s%s", listener_kind(conn->listener),
	    conn->listener->name, endpoint_format(&conn->peer, peer),
	    conn->listener->framing->name, frame->why, rest);
}

static void refuse_input(struct rnl_conn *conn, enum decode decode, const struct frame *frame)
{
	if (decode == DECODE_TOO_LONG) {
		counter_add(conn->table->seat->counters.oversize, 1);
		log_violation(conn, "closed: a message is longer than max-message", frame);
	} else {
		log_no_frame(conn, frame);
	}
	conn_close(conn, CLOSE_REASON_protocol);
}

/* A frame came damaged: go on behind it, or close. */
static void meet_corrupt(struct rnl_conn *conn, const struct frame *frame)
{
	counter_add(conn->table->seat->counters.bad_checksums, 1);
	if (conn->listener->settings->bad_checksum == BAD_CHECKSUM_SKIP) {
		log_violation(conn, "skipped: a message with a wrong checksum", frame);
		return;
	}
	log_violation(conn, "closed: a message with a wrong checksum", frame);
	conn_close(conn, CLOSE_REASON_protocol);
}

/* The handlers of a batch are about to run. */
static void batch_begin(struct rnl_conn *conn, uint64_t began_ns)
{
	struct conn_table *table = conn->table;

	table->current = conn;
	table->mark_ns = began_ns;
	table->n_replies = 0;
	conn_do(conn, DOING_MESSAGE, 0);
	stopwatch_start(&table->stopwatch, began_ns);
}

static void batch_end(struct rnl_conn *conn)
{
	struct conn_table *table = conn->table;
	uint32_t n_queued = conn->out.n_messages;

	stopwatch_stop(&table->stopwatch, &table->seat->times.handler);
	table->seat->doing.what = DOING_NOTHING;
	table->current = NULL;
	table->turned_ns = 0;
	if (table->n_replies == 0)
		return;
	replies_join(&conn->replies, table->n_replies, conn->read_ns, n_queued);
	/* Else the drain after the batch counts them. */
	if (n_queued == 0)
		replies_leave(&conn->replies, 0, 0, &table->seat->times.reply);
}

void conn_serve(struct rnl_conn *conn, const struct view *view, uint64_t began_ns)
{
	const struct framing *framing = conn->listener->framing;
	size_t max_message = conn->listener->settings->max_message;
	enum decode decode = DECODE_FRAME;
	struct frame frame = { 0 };
	/* A large frame is served whole, so at may go beyond. */
	size_t most = view->len < CONN_TURN_BYTES ? view->len : CONN_TURN_BYTES;
	unsigned int n_frames = 0, n_corrupt = 0;
	size_t at = 0;

	batch_begin(conn, began_ns);
	while (conn->state == CONN_OPEN && at < most && n_frames < CONN_TURN_FRAMES) {
		if (must_pause(conn) || conn_is_held_up(conn))
			break;
		decode = framing->decode(
		    framing, view->bytes + at, view->len - at, max_message, &frame);
		if (decode == DECODE_FRAME) {
			dispatch(conn, &frame);
		} else if (decode == DECODE_CORRUPT) {
			meet_corrupt(conn, &frame);
			n_corrupt++;
		} else {
			break;
		}
		at += frame.size;
		n_frames++;
	}
	batch_end(conn);
	counter_add(conn->table->seat->counters.frames_in, n_frames - n_corrupt);
	if (conn->is_tallied)
		conn_tally(conn)->frames_in += n_frames - n_corrupt;
	conn->is_waiting =
	    (decode == DECODE_FRAME || decode == DECODE_CORRUPT) && at < view->len;
	if (decode == DECODE_TOO_LONG || decode == DECODE_BAD)
		refuse_input(conn, decode, &frame);
	keep_rest(conn, view, at);
	if (conn->is_waiting && !conn_is_held_up(conn))
		conn_schedule(conn);
}

static void read_failed(struct rnl_conn *conn)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		return;
	conn_abort(conn, conn_reason_of(errno));
}

/* What a peer still sends while it is told the end is dropped, or the kernel would reset it. */
static void read_off(struct rnl_conn *conn)
{
	struct view view;
	ssize_t n = input_read(&conn->in, &conn->table->scratch, conn->fd, &view);

	if (n == 0)
		conn->state = CONN_BROKEN;
	else if (n < 0)
		read_failed(conn);
}

void conn_read(struct rnl_conn *conn)
{
	struct conn_table *table = conn->table;
	struct view view;
	uint64_t began_ns;
	ssize_t n;

	if (conn->state == CONN_LINGERING) {
		read_off(conn);
		return;
	}
	/* Frames that wait are served on the agenda, and before those that follow them. */
	if (conn->state != CONN_OPEN || conn->is_waiting)
		return;
	began_ns = table_turn(table);
	n = input_read(&conn->in, &table->scratch, conn->fd, &view);
	if (n > 0) {
		counter_add(table->seat->counters.bytes_in, n);
		conn->has_traffic = true;
		if (conn->is_tallied)
			conn_tally(conn)->bytes_in += (size_t)n;
		conn->heard_ms = (uint32_t)table->now_ms;
		conn->read_ns = began_ns;
		conn_serve(conn, &view, began_ns);
	} else if (n == 0) {
		conn->is_input_over = true;
		conn->reason = CLOSE_REASON_peer;
	} else {
		read_failed(conn);
	}
	if (conn->is_stopping)
		conn_count_off(conn, n > 0 ? (size_t)n : SIZE_MAX);
}
