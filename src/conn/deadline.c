/*
 * Timeouts. One entry on the wheel serves all that apply to a connection. It is
 * armed when a deadline comes into being and not moved when activity postpones
 * it: conn_expire() then finds that nothing is due and arms it again.
 */
#include "config.h"

#include "conn/parts.h"

/* What is left of a timeout that has run since `since_ms`; 0: it is over. */
static uint32_t time_left(const struct rnl_conn *conn, uint32_t since_ms, uint32_t timeout_ms)
{
	uint32_t elapsed = (uint32_t)conn->table->now_ms - since_ms;

	return elapsed < timeout_ms ? timeout_ms - elapsed : 0;
}

enum deadline {
	DEADLINE_LINGER,
	DEADLINE_SEND,
	DEADLINE_FRAME,
	DEADLINE_IDLE,
	DEADLINE_SILENCE,
	DEADLINE_BEAT,
	DEADLINE_DRAIN,
};

struct due {
	uint32_t left_ms; /* of the deadline that comes first; UINT32_MAX: there is none */
	enum deadline what;
};

static void consider(struct due *due, const struct rnl_conn *conn, uint32_t since_ms,
    uint32_t timeout_ms, enum deadline what)
{
	uint32_t left_ms = time_left(conn, since_ms, timeout_ms);

	if (timeout_ms != 0 && left_ms < due->left_ms)
		*due = (struct due){ .left_ms = left_ms, .what = what };
}

/* Those of a connection that is open and whose input is read. */
static void consider_input(struct due *due, const struct rnl_conn *conn)
{
	const struct listen_settings *settings = conn->listener->settings;

	if (conn->is_in_frame)
		consider(due, conn, conn->frame_ms, settings->frame_timeout_ms, DEADLINE_FRAME);
	/* Who has frames waiting here is not silent. */
	if (!conn->is_waiting)
		consider(due, conn, conn->heard_ms, settings->heartbeat_timeout_ms,
		    DEADLINE_SILENCE);
}

/*
 * When its turn to go has come, counted from the start of the drain. One that
 * can move is given time to.
 */
static uint32_t drain_moment(const struct rnl_conn *conn)
{
	uint32_t end_ms = conn->table->drain_spread_ms;
	uint32_t start_ms = conn_is_movable(conn) ? end_ms - end_ms / 4 : 0;
	uint64_t scattered = conn_id(conn) * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	return 1 + start_ms + (uint32_t)(scattered * (end_ms - start_ms) >> 32);
}

static struct due first_due(const struct rnl_conn *conn)
{
	const struct listen_settings *settings = conn->listener->settings;
	struct due due = { .left_ms = UINT32_MAX };

	if (conn->state == CONN_LINGERING) {
		uint32_t left_ms =
		    time_left(conn, conn->progress_ms, settings->linger_timeout_ms);

		return (struct due){ .left_ms = left_ms, .what = DEADLINE_LINGER };
	}
	if (conn->is_blocked)
		consider(
		    &due, conn, conn->progress_ms, settings->send_timeout_ms, DEADLINE_SEND);
	if (conn->state != CONN_OPEN)
		return due;
	/* A frame that we do not read on is not late, nor is a peer silent. */
	if (!conn_is_held_up(conn) && !conn->is_input_over)
		consider_input(&due, conn);
	consider(&due, conn, (uint32_t)conn->table->now_ms - conn_idle_ms(conn),
	    settings->idle_timeout_ms, DEADLINE_IDLE);
	consider(&due, conn, conn->beat_ms, settings->heartbeat_interval_ms, DEADLINE_BEAT);
	if (conn->table->is_draining && !conn->is_input_over && !conn->is_stopping &&
	    !conn->listener->is_outgoing)
		consider(&due, conn, (uint32_t)conn->table->drain_ms, drain_moment(conn),
		    DEADLINE_DRAIN);
	return due;
}

/* Are there deadlines that an open connection always has? */
static bool has_standing(const struct rnl_conn *conn)
{
	const struct listen_settings *settings = conn->listener->settings;

	return settings->idle_timeout_ms != 0 || listen_has_heartbeat(settings) ||
	       conn->table->is_draining;
}

void conn_set_deadline(struct rnl_conn *conn)
{
	uint64_t deadline_ms;
	struct due due;

	/* Mostly there is none. */
	if (conn->state == CONN_OPEN && !conn->is_blocked && !conn->is_in_frame &&
	    !has_standing(conn))
		return;
	due = first_due(conn);
	deadline_ms = conn->table->now_ms + due.left_ms;
	if (due.left_ms == UINT32_MAX)
		return;
	if (wheel_is_armed(&conn->deadline) && conn->deadline.deadline_ms <= deadline_ms)
		return;
	wheel_arm(&conn->table->wheel, &conn->deadline, deadline_ms);
	table_start_tick(conn->table);
}

static void act(struct rnl_conn *conn, enum deadline what)
{
	switch (what) {
	case DEADLINE_LINGER:
		conn->state = CONN_BROKEN;
		break;
	case DEADLINE_SEND:
		conn_abort(conn, CLOSE_REASON_send_timeout);
		break;
	case DEADLINE_FRAME:
		conn_close(conn, CLOSE_REASON_frame_timeout);
		break;
	case DEADLINE_IDLE:
		conn_close(conn, CLOSE_REASON_idle);
		break;
	case DEADLINE_SILENCE:
		conn_judge_silence(conn);
		break;
	case DEADLINE_BEAT:
		conn_beat(conn);
		break;
	case DEADLINE_DRAIN:
		conn_stop(conn);
		break;
	}
}

void conn_expire(struct rnl_conn *conn)
{
	struct due due = first_due(conn);

	/* After the worker was held up, what the peer has said may still wait in its socket. */
	if (due.left_ms == 0 && due.what == DEADLINE_SILENCE) {
		conn_read(conn);
		due = first_due(conn);
	}
	if (due.left_ms == 0)
		act(conn, due.what);
	conn_settle(conn);
}
