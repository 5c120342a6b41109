/*
 * Heartbeats, both ways: what is sent so that the peer hears from us, and what
 * becomes of a peer that is not heard. Both are told by the wheel of deadlines.
 */
#include "config.h"

#include "conn/parts.h"

/* True: none of the modules has said anything, and the connection is open. */
static bool obey(struct rnl_conn *conn, enum rnl_verdict verdict, enum close_reason reason)
{
	if (verdict == RNL_CLOSE)
		conn_close(conn, reason);
	else if (verdict == RNL_ABORT)
		conn_abort(conn, reason);
	return verdict == RNL_NEXT && conn->state == CONN_OPEN;
}

static enum rnl_verdict ask_to_beat(struct rnl_conn *conn, uint32_t id)
{
	const struct listener *listener = conn->listener;
	enum rnl_verdict verdict = RNL_NEXT;

	for (size_t i = 0; i < listener->n_modules && verdict == RNL_NEXT; i++) {
		if (listener->modules[i].api->heartbeat == NULL)
			continue;
		conn_do(conn, DOING_HEARTBEAT, listener->modules[i].index);
		verdict = listener->modules[i].api->heartbeat(conn, id);
	}
	conn_do(conn, DOING_NOTHING, 0);
	return verdict;
}

void conn_beat(struct rnl_conn *conn)
{
	uint32_t id = conn->listener->settings->heartbeat_id;

	conn->beat_ms = (uint32_t)conn->table->now_ms;
	/* What waits to be sent says as much, and a full queue is no reason to close. */
	if (conn->is_blocked || conn->table->is_pool_short)
		return;
	conn->table->current = conn;
	if (obey(conn, ask_to_beat(conn, id), CLOSE_REASON_handler))
		(void)conn_send(conn, id, NULL, 0);
	conn->table->current = NULL;
}

static enum rnl_verdict ask_about_silence(struct rnl_conn *conn, uint32_t silent_ms)
{
	const struct listener *listener = conn->listener;
	enum rnl_verdict verdict = RNL_NEXT;

	for (size_t i = 0; i < listener->n_modules && verdict == RNL_NEXT; i++) {
		if (listener->modules[i].api->silent == NULL)
			continue;
		conn_do(conn, DOING_SILENT, listener->modules[i].index);
		verdict = listener->modules[i].api->silent(conn, silent_ms);
	}
	conn_do(conn, DOING_NOTHING, 0);
	return verdict;
}

void conn_judge_silence(struct rnl_conn *conn)
{
	uint32_t now_ms = (uint32_t)conn->table->now_ms;
	enum rnl_verdict verdict;

	conn->table->current = conn;
	verdict = ask_about_silence(conn, now_ms - conn->heard_ms);
	conn->table->current = NULL;
	/* It has its time again. */
	conn->heard_ms = now_ms;
	if (obey(conn, verdict, CLOSE_REASON_heartbeat))
		conn_close(conn, CLOSE_REASON_heartbeat);
}
