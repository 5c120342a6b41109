/*
 * What few connections have: what modules have hung on one while it lives, close
 * callbacks, names and timers; and what a stop leaves to be read. It is kept beside the connection and found by its id, so that the many
 * connections which have none of it pay nothing.
 */
#ifndef RUNNEL_CONN_EXTRAS_H
#define RUNNEL_CONN_EXTRAS_H

#include <stddef.h>

#include "base/hash.h"
#include "base/list.h"

struct rnl_conn;

struct extras {
	struct hash_link by_conn; /* in table->extras; its key is the connection's id */
	struct link callbacks;    /* of struct callback, in the order they were added */
	struct link names;        /* of struct name */
	struct link timers;       /* of struct rnl_timer */
	size_t stop_bytes;        /* is_stopping: in the socket since before that */
};

/* NULL: the connection has none. */
struct extras *extras_find(const struct rnl_conn *conn);

/* Make them if there are none yet. NULL: no memory. The connection has not ended. */
struct extras *extras_get(struct rnl_conn *conn);

/*
 * The connection is over here: drop all. Callbacks that were not called, since it goes on in
 * another worker, are not called.
 */
void extras_destroy(struct rnl_conn *conn);

#endif
