/*
 * The way out: send -> send queue -> drain. No timer takes part.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/uio.h>

#include "base/panic.h"
#include "conn/parts.h"
#include "conn/tally.h"

static void log_refusal(struct rnl_conn *conn)
{
	char peer[ENDPOINT_TEXT_SIZE];
	char rest[LOG_REST_SIZE];

	if (!log_cap_allows(&conn->refusals, conn->table->now_ms, rest) ||
	    !log_budget_allows(&conn->table->refusals, conn->table->now_ms))
		return;
	log_warn("%s %s: %s: send refused, %" PRIu32 " messages and %" PRIu32
		 " bytes are queued%s%s",
	    listener_kind(conn->listener), conn->listener->name,
	    endpoint_format(&conn->peer, peer), conn->out.n_messages, conn->out.held_bytes,
	    conn->table->is_pool_short ? ", worker-send-memory is used up" : "", rest);
}

/* Has the queue room for a frame that was refused, so that it is the pool which has none? */
static bool has_own_room(
    const struct rnl_conn *conn, size_t size, const struct shared_frame *shared)
{
	const struct sendq_limits *limits = &conn->listener->limits;

	return shared != NULL ? sendq_has_room_shared(&conn->out, limits, size)
			      : sendq_has_room(&conn->out, limits, size);
}

static enum rnl_status refuse_full(struct rnl_conn *conn)
{
	counter_add(conn->table->seat->counters.sends_refused, 1);
	if (conn->is_tallied)
		conn_tally(conn)->sends_refused++;
	log_refusal(conn);
	conn->is_refused = true;
	if (conn->listener->settings->when_full == WHEN_FULL_PAUSE)
		conn->is_paused = true;
	else if (conn->listener->settings->when_full == WHEN_FULL_CLOSE)
		conn_abort(conn, CLOSE_REASON_queue_full);
	return RNL_EFULL;
}

static enum rnl_status refuse(struct rnl_conn *conn, enum rnl_status status, size_t size,
    const struct shared_frame *shared)
{
	if (status != RNL_EFULL)
		return status;
	if (has_own_room(conn, size, shared))
		conn->table->is_pool_short = true;
	return refuse_full(conn);
}

enum rnl_status conn_refuse_copy(struct rnl_conn *conn)
{
	conn->table->is_pool_short = true;
	return refuse_full(conn);
}

/* Reserve size bytes, or queue a shared frame where there is one. */
static enum rnl_status try_join(struct rnl_conn *conn, size_t size, struct shared_frame *shared)
{
	const struct sendq_limits *limits = &conn->listener->limits;
	struct chunk_pool *pool = &conn->table->pool;

	if (shared != NULL)
		return sendq_push_shared(&conn->out, pool, limits, shared);
	return sendq_reserve(&conn->out, pool, limits, size);
}

/* On a full queue one drain is tried before the refusal. */
static enum rnl_status drain_and_join(
    struct rnl_conn *conn, size_t size, struct shared_frame *shared)
{
	enum rnl_status status;

	conn_drain(conn);
	if (conn->state != CONN_OPEN)
		return RNL_ECLOSED;
	status = try_join(conn, size, shared);
	return status == RNL_OK ? RNL_OK : refuse(conn, status, size, shared);
}

/* The connection is open. */
static inline enum rnl_status join(
    struct rnl_conn *conn, size_t size, struct shared_frame *shared)
{
	enum rnl_status status = try_join(conn, size, shared);

	return status == RNL_EFULL ? drain_and_join(conn, size, shared) : status;
}

/* Find room for a payload of len bytes; its frame begins at conn->out.at. */
static inline enum rnl_status reserve(struct rnl_conn *conn, size_t len)
{
	const struct listener *listener = conn->listener;

	if (conn->state != CONN_OPEN)
		return RNL_ECLOSED;
	if (!listener_may_send(listener, len))
		return RNL_ETOOBIG;
	return join(conn, len + framing_overhead(listener->framing), NULL);
}

/* A frame joined the queue: see that it is drained. */
static void queued(struct rnl_conn *conn)
{
	counter_add(conn->table->seat->counters.frames_out, 1);
	if (conn->is_tallied)
		conn_tally(conn)->frames_out++;
	if (conn == conn->table->current)
		conn->table->n_replies++;
	else
		conn_schedule(conn);
}

enum rnl_status conn_refuse_message(struct rnl_conn *conn, uint32_t id, size_t len)
{
	char peer[ENDPOINT_TEXT_SIZE];
	char rest[LOG_REST_SIZE];

	/* What was reserved for it goes with the next drain. */
	if (conn != conn->table->current)
		conn_schedule(conn);
	if (log_cap_allows(&conn->refusals, conn->table->now_ms, rest) &&
	    log_budget_allows(&conn->table->refusals, conn->table->now_ms))
		log_warn("%s %s: %s: send refused, framing %s has no frame for it (id %" PRIu32
			 ", length %zu)%s",
		    listener_kind(conn->listener), conn->listener->name,
		    endpoint_format(&conn->peer, peer), conn->listener->framing->name, id, len,
		    rest);
	return RNL_EINVAL;
}

/* The payload stands in the reserved frame: queue it. */
static inline enum rnl_status commit(struct rnl_conn *conn, uint32_t id, size_t len)
{
	const struct framing *framing = conn->listener->framing;
	size_t size = framing->seal(framing, conn->out.at, id, len);

	if (size == 0)
		return conn_refuse_message(conn, id, len);
	sendq_commit(&conn->out, size);
	queued(conn);
	return RNL_OK;
}

static uint8_t *reserved_payload(const struct rnl_conn *conn)
{
	return conn->out.at + conn->listener->framing->head;
}

enum rnl_status conn_send(struct rnl_conn *conn, uint32_t id, const void *payload, size_t len)
{
	enum rnl_status status = reserve(conn, len);

	if (status != RNL_OK)
		return status;
	if (len > 0)
		memcpy(reserved_payload(conn), payload, len);
	return commit(conn, id, len);
}

enum rnl_status conn_sendv(
    struct rnl_conn *conn, uint32_t id, const struct iovec *parts, size_t n_parts)
{
	enum rnl_status status;
	size_t len = 0;
	uint8_t *at;

	/* A sum that cannot be told is none that a framing can say. */
	for (size_t i = 0; i < n_parts; i++)
		len = parts[i].iov_len > SIZE_MAX - len ? SIZE_MAX : len + parts[i].iov_len;
	status = reserve(conn, len);
	if (status != RNL_OK)
		return status;
	at = reserved_payload(conn);
	for (size_t i = 0; i < n_parts; i++) {
		if (parts[i].iov_len > 0)
			memcpy(at, parts[i].iov_base, parts[i].iov_len);
		at += parts[i].iov_len;
	}
	return commit(conn, id, len);
}

enum rnl_status conn_reserve(struct rnl_conn *conn, size_t len, void **payload)
{
	enum rnl_status status = reserve(conn, len);

	if (status != RNL_OK)
		return status;
	*payload = reserved_payload(conn);
	/* If it is not committed its memory goes with the next drain. */
	if (conn != conn->table->current)
		conn_schedule(conn);
	return RNL_OK;
}

bool conn_may_commit(const struct rnl_conn *conn, size_t len)
{
	return conn->state != CONN_OPEN ||
	       sendq_tail_has_room(&conn->out, len + framing_overhead(conn->listener->framing));
}

enum rnl_status conn_commit(struct rnl_conn *conn, uint32_t id, size_t len)
{
	if (conn->state != CONN_OPEN)
		return RNL_ECLOSED;
	/* What was reserved is there still. */
	CHECK(conn_may_commit(conn, len));
	return commit(conn, id, len);
}

enum rnl_status conn_push(struct rnl_conn *conn, struct shared_frame *frame)
{
	enum rnl_status status = join(conn, frame->size, frame);

	if (status == RNL_OK)
		queued(conn);
	return status;
}

void conn_drain(struct rnl_conn *conn)
{
	struct conn_table *table = conn->table;
	struct counters *counters = &table->seat->counters;
	uint32_t n_before = conn->out.n_messages;
	enum drain drain;
	size_t n_bytes;

	if (sendq_is_empty(&conn->out) || conn->state == CONN_BROKEN)
		return;
	drain = sendq_drain(&conn->out, &table->pool, conn->fd, &n_bytes);
	counter_add(counters->drains, 1);
	counter_add(counters->bytes_out, n_bytes);
	table->turned_ns = replies_leave(&conn->replies, n_before - conn->out.n_messages,
	    conn->out.n_messages, &table->seat->times.reply);
	if (n_bytes > 0) {
		conn->sent_ms = (uint32_t)table->now_ms;
		conn->has_traffic = true;
	}
	if (conn->is_tallied)
		conn_tally(conn)->bytes_out += n_bytes;
	if (drain == DRAIN_BLOCKED) {
		counter_add(counters->drains_cut, 1);
		if (n_bytes > 0 || !conn->is_blocked)
			conn->progress_ms = (uint32_t)table->now_ms;
	} else if (drain == DRAIN_FAILED) {
		conn_abort(conn, conn_reason_of(errno));
	}
	conn->is_blocked = drain == DRAIN_BLOCKED;
}

static void call_writable(struct rnl_conn *conn)
{
	const struct listener *listener = conn->listener;

	conn->is_refused = false;
	conn->table->current = conn;
	for (size_t i = 0; i < listener->n_modules && conn->state == CONN_OPEN; i++) {
		if (listener->modules[i].api->writable == NULL)
			continue;
		conn_do(conn, DOING_WRITABLE, listener->modules[i].index);
		listener->modules[i].api->writable(conn);
	}
	conn_do(conn, DOING_NOTHING, 0);
	conn->table->current = NULL;
	/*
	 * What the hook sent is drained in the next round, so that a hook cannot hold up the
	 * worker.
	 */
	conn_schedule(conn);
}

void conn_relieve(struct rnl_conn *conn)
{
	if ((!conn->is_refused && !conn->is_paused) || conn->state != CONN_OPEN)
		return;
	if (conn->table->is_pool_short ||
	    !sendq_is_half_empty(&conn->out, &conn->listener->limits))
		return;
	if (conn->is_paused) {
		conn->is_paused = false;
		conn_go_on(conn);
	}
	if (conn->is_refused)
		call_writable(conn);
	if (conn->is_waiting && !conn_is_held_up(conn))
		conn_schedule(conn);
}
