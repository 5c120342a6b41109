/*
 * What came and went over one connection, for its lines in the journal. It stands behind the
 * pointers of modules, in connections that have such lines and in no others.
 */
#ifndef RUNNEL_CONN_TALLY_H
#define RUNNEL_CONN_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "conn/conn.h"

/* Counted as the counters of these names are. */
struct conn_tally {
	uint64_t frames_in, frames_out;
	uint64_t bytes_in, bytes_out;
	uint64_t sends_refused;
	uint64_t opened_ms; /* the monotonic clock */
};

/* Are connections of this listener to have one? */
bool tally_is_wanted(const struct listener *listener);

/* Of a connection with is_tallied. */
static inline struct conn_tally *conn_tally(struct rnl_conn *conn)
{
	return (struct conn_tally *)&conn->data[conn->table->n_data];
}

/* It came without a byte from either side, and its peer ended it so. */
static inline bool conn_is_probe(const struct rnl_conn *conn)
{
	return !conn->has_traffic && !conn->listener->is_outgoing &&
	       conn->reason == CLOSE_REASON_peer;
}

/* The line at its beginning, if it is to have one. */
void tally_log_begin(struct rnl_conn *conn);

/* The line at its end, if it is to have one; false: it is not. */
bool tally_log_end(struct rnl_conn *conn);

#endif
