/*
 * A connection: one socket, accepted or connected, owned by one worker for life.
 *
 *     OPEN ------> FLUSHING ------> LINGERING ------> gone
 *       |  close       |  all is written     end of input or linger-timeout
 *       +--------------+-----> BROKEN -----> gone
 *
 * Any code may move a connection forward in this picture. It is taken to its end
 * in one place, conn_settle(), which runs when no handler or hook of it is on
 * the stack: after its batch of frames, or from the agenda.
 */
#ifndef RUNNEL_CONN_CONN_H
#define RUNNEL_CONN_CONN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <runnel/module.h>

#include "base/counters.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/log.h"
#include "base/wheel.h"
#include "conn/listener.h"
#include "conn/replies.h"
#include "conn/table.h"
#include "io/endpoint.h"
#include "io/input.h"
#include "io/sendq.h"

struct iovec;

#define CONN_MAGIC 0x636f6e6eu

/* A connection's share of one turn; the rest waits for the next. */
#define CONN_TURN_FRAMES 64
#define CONN_TURN_BYTES (64 * 1024)

enum conn_state {
	CONN_OPEN,      /* frames are read, and may be sent */
	CONN_FLUSHING,  /* nothing is read and nothing joins the queue, which goes out */
	CONN_LINGERING, /* all is written; what the peer still sends is read and dropped */
	CONN_BROKEN,    /* goes when it is settled next; the queue is dropped */
};

/* What the data path touches comes first, in 128 bytes, which the poller prefetches. */
struct rnl_conn {
	uint32_t magic;

	enum conn_state state : 7;
	/* Why it is not OPEN, or will not be when its input is served. */
	enum close_reason reason : 8;
	uint32_t interest : 5;  /* what the poller is asked for: EPOLLIN, EPOLLOUT */
	bool has_traffic : 1;   /* a byte came or went */
	bool is_tallied : 1;    /* conn_tally() is there */
	bool is_input_over : 1; /* no more is read: the peer ended, or the worker stops */
	bool is_stopping : 1;   /* the worker stops: what had come by then is read still */
	bool is_waiting : 1;    /* input that is left over may hold whole frames */
	bool is_in_frame : 1;   /* input that is left over is the start of a frame */
	bool is_blocked : 1;    /* the kernel takes no more output now */
	bool is_paused : 1;     /* requests are not served: there was no room for a reply */
	bool is_refused : 1;    /* a send was refused; `writable` is owed */
	bool is_ended : 1;      /* counted and its close hooks called */
	bool has_extras : 1;    /* table->extras has more of it */
	bool is_rested : 1;     /* requests are not served: a module wants it so */

	/* The monotonic clock in ms, modulo 2^32. */
	uint32_t heard_ms; /* bytes came last */
	uint32_t frame_ms; /* is_in_frame since */
	uint32_t sent_ms;  /* bytes went last */

	int fd;                          /* owned; -1: it has moved, and goes */
	struct conn_table *table;        /* borrowed */
	const struct listener *listener; /* borrowed */
	struct input in;
	struct sendq out;
	uint64_t read_ns; /* the monotonic clock when the last read began */
	struct replies replies;

	uint32_t progress_ms; /* is_blocked and no byte went since; or LINGERING since */
	uint32_t n_holds;     /* replies that modules owe it; see conn_hold() */
	struct endpoint peer;
	struct link turn;            /* table->agenda */
	struct link all;             /* table->conns */
	struct hash_link by_id;      /* its key is the id: slot << 48 | serial */
	struct wheel_entry deadline; /* the earliest of those that apply, or an earlier time */
	struct log_cap refusals;
	uint32_t beat_ms;   /* a heartbeat was due last */
	uint32_t opened_ds; /* the monotonic clock in tenths of a second, modulo 2^32 */
	void *data[];       /* of modules, table->n_data; see tally.h for what is behind */
};

/*
 * A new connection on fd, which is non-blocking and is the connection's from now
 * on, also on failure. Calls the open hooks. STATUS_NOMEM, STATUS_ERRNO: fd is closed.
 */
enum status conn_new(struct conn_table *table, const struct listener *listener, int fd,
    const struct endpoint *peer) MUST_CHECK;

/*
 * Queue one frame, or refuse it whole; see rnl_send(). The queue is drained after
 * the batch of frames that is being served, or before the loop sleeps.
 */
enum rnl_status conn_send(struct rnl_conn *conn, uint32_t id, const void *payload, size_t len);

/* The same, with the payload gathered from parts; see rnl_sendv(). */
enum rnl_status conn_sendv(
    struct rnl_conn *conn, uint32_t id, const struct iovec *parts, size_t n_parts);

/*
 * The same in two steps, with the payload written in place; see rnl_reserve() and rnl_commit().
 */
enum rnl_status conn_reserve(struct rnl_conn *conn, size_t len, void **payload);
enum rnl_status conn_commit(struct rnl_conn *conn, uint32_t id, size_t len);

/* Whether what was reserved is len bytes at least, and is there still; true of one that closes. */
bool conn_may_commit(const struct rnl_conn *conn, size_t len);

/*
 * Set a module's pointer, i of table->n_data. What it was before is freed when the module has
 * a function for that, and when the connection ends so is what it is then.
 */
void conn_set_data(struct rnl_conn *conn, size_t i, void *data);

/* Read no more, send what is queued, then close. Without effect when it is closing. */
void conn_close(struct rnl_conn *conn, enum close_reason reason);

/* Close without sending what is queued. */
void conn_abort(struct rnl_conn *conn, enum close_reason reason);

/*
 * A reply is owed that will come from elsewhere: until as many releases, the end of its input
 * does not close it. Everything else may.
 */
void conn_hold(struct rnl_conn *conn);
void conn_release(struct rnl_conn *conn);

/* Serve no more requests, whatever has come, until the other is called. */
void conn_rest(struct rnl_conn *conn);
void conn_resume(struct rnl_conn *conn);

/* Are its requests left where they are, by its queue or by a module? */
static inline bool conn_is_held_up(const struct rnl_conn *conn)
{
	return conn->is_paused || conn->is_rested;
}

/* Give it a turn on the agenda. */
void conn_schedule(struct rnl_conn *conn);

/* Serve frames that are left over, if there are any, and settle. It may be gone afterwards. */
void conn_turn(struct rnl_conn *conn);

/*
 * The worker stops: serve what has come so far, to its socket too, then close. That takes as
 * many turns as it does otherwise; while it is paused it waits.
 */
void conn_stop(struct rnl_conn *conn);

/* The poller's handler; owner is the connection, which may be gone afterwards. */
void conn_on_event(void *owner, uint32_t events);

/* Its deadline has come: see which, and act. It may be gone afterwards. */
void conn_expire(struct rnl_conn *conn);

/* How long ago bytes came or went last; counts to 2^32. */
uint32_t conn_idle_ms(const struct rnl_conn *conn);

/* How long ago it was accepted, to a tenth of a second. */
uint64_t conn_age_ms(const struct rnl_conn *conn);

/* Does another worker go on with connections of its listener? */
static inline bool conn_is_movable(const struct rnl_conn *conn)
{
	return !conn->listener->is_outgoing &&
	       (conn->table->movable >> conn->listener->index & 1);
}

static inline uint64_t conn_id(const struct rnl_conn *conn)
{
	return conn->by_id.key;
}

#endif
