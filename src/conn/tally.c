#include "config.h"

#include "base/journal.h"
#include "conn/tally.h"

bool tally_is_wanted(const struct listener *listener)
{
	return journal_is_open() && listener->settings->log_connections != LOG_CONNECTIONS_NONE;
}

/* What both lines begin with: which connection it is. */
#define N_WHICH 3

static void say_which(const struct rnl_conn *conn, char peer[ENDPOINT_TEXT_SIZE],
    struct log_field fields[N_WHICH])
{
	const struct listener *listener = conn->listener;

	fields[0] = (struct log_field){ .name = "id", .number = conn_id(conn) };
	fields[1] = (struct log_field){ .name = listener->is_outgoing ? "upstream" : "listener",
		.text = listener->name };
	fields[2] =
	    (struct log_field){ .name = "peer", .text = endpoint_format(&conn->peer, peer) };
}

void tally_log_begin(struct rnl_conn *conn)
{
	char peer[ENDPOINT_TEXT_SIZE];
	struct log_field fields[N_WHICH];

	if (!conn->is_tallied ||
	    conn->listener->settings->log_connections != LOG_CONNECTIONS_ALL)
		return;
	say_which(conn, peer, fields);
	journal_write("connection began", fields, N_WHICH, conn->table->now_ms);
}

static struct log_field number(const char *name, uint64_t value)
{
	return (struct log_field){ .name = name, .number = value };
}

bool tally_log_end(struct rnl_conn *conn)
{
	char peer[ENDPOINT_TEXT_SIZE];
	const struct conn_tally *tally = conn_tally(conn);
	struct log_field fields[N_WHICH + 7];
	size_t n = N_WHICH;

	if (!conn->is_tallied ||
	    (conn_is_probe(conn) &&
		conn->listener->settings->log_connections != LOG_CONNECTIONS_ALL))
		return false;
	say_which(conn, peer, fields);
	fields[n++] = number("duration_ms", conn->table->now_ms - tally->opened_ms);
	fields[n++] = number("frames_in", tally->frames_in);
	fields[n++] = number("frames_out", tally->frames_out);
	fields[n++] = number("bytes_in", tally->bytes_in);
	fields[n++] = number("bytes_out", tally->bytes_out);
	fields[n++] = number("sends_refused", tally->sends_refused);
	fields[n++] =
	    (struct log_field){ .name = "reason", .text = close_reason_name(conn->reason) };
	journal_write("connection ended", fields, n, conn->table->now_ms);
	return true;
}
