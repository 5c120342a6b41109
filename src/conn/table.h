/*
 * The connections of a worker, and what they share: the loop, the clock, the
 * scratch buffer, the pool of chunks, the wheel of deadlines, and the agenda.
 *
 * The agenda lists connections that need a turn without an event of their own:
 * they were sent to, closed, or resumed from elsewhere, or have frames left over
 * from a full budget. It is worked off once before the loop sleeps; what joins
 * meanwhile waits for the next round, and the loop does not sleep before it.
 */
#ifndef RUNNEL_CONN_TABLE_H
#define RUNNEL_CONN_TABLE_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/hash.h"
#include "base/list.h"
#include "base/log.h"
#include "base/wheel.h"
#include "conn/names.h"
#include "conn/slot_page.h"
#include "conn/stopwatch.h"
#include "io/input.h"
#include "io/poller.h"
#include "io/sendq.h"

struct connectors;
struct rnl_conn;

struct conn_table {
	struct poller *poller;   /* of the connections' sockets; owned */
	struct ev_loop *loop;    /* borrowed */
	struct seat *seat;       /* this process's; borrowed */
	struct slot_page *pages; /* of all slots, to count connections; borrowed */
	unsigned int n_slots;
	unsigned int slot;

	uint64_t now_ms; /* the monotonic clock when the loop last woke */
	uint64_t
	    turned_ns; /* when the worker turned to what it does now; 0: the clock was not read */
	uint64_t mark_ns;           /* when the handler that runs began */
	int64_t notice_ns;          /* a handler that takes less is not worth a look */
	uint32_t slow_handler_ms;   /* one that takes so long is logged; 0: none is */
	struct stopwatch stopwatch; /* of the handlers of the batch that is served */
	uint32_t n_replies; /* frames that the connection that is served was sent by them */
	struct log_cap slow_handlers;
	struct rnl_conn *current; /* whose hook or handler runs; it is settled right after */
	struct link conns;        /* all, by rnl_conn.all */
	size_t n_conns;
	size_t n_outgoing; /* of these, those of connect sections */
	bool is_stopping;
	struct connectors *connectors; /* of connect sections; borrowed, NULL: none */
	struct hash by_id;             /* those that modules may know */
	struct link agenda;            /* by rnl_conn.turn */
	struct wheel wheel;
	struct chunk_pool pool;
	bool is_pool_short; /* the pool refused a send and has not fallen to half since */
	size_t n_data;      /* pointers that modules have in each connection */
	void (**free_data)(void *data); /* what each is freed by, or NULL; owned */
	struct hash extras;             /* of those connections that have some */
	struct names names;
	struct link timers;         /* of modules, which no connection ends */
	struct log_cap violations;  /* log lines on frames that break the protocol */
	struct log_cap rejections;  /* log lines on connections over a limit */
	struct log_budget refusals; /* log lines on refused sends of all connections */
	struct log_cap losses;      /* log lines on connections that did not arrive */

	/*
	 * While the worker drains: each connection is closed at a moment of its own between
	 * drain_ms and drain_ms + drain_spread_ms, near the end of that if its listener is
	 * among those that move.
	 */
	bool is_draining;
	uint64_t drain_ms;
	uint32_t drain_spread_ms;
	/*
	 * Takes a connection over to another worker, and its descriptor, which it closes;
	 * false: not now. Called for those of the listeners whose bits are set in movable.
	 */
	bool (*move)(struct rnl_conn *conn, void *arg);
	void *move_arg;
	uint64_t movable;

	void (*on_empty)(
	    void *arg); /* called when the last connection is gone; NULL: nobody cares */
	void *on_empty_arg;

	ev_prepare before_sleep;
	ev_check after_sleep;
	ev_idle no_sleep;
	ev_timer tick;
	struct scratch scratch;
};

/*
 * A table on loop. STATUS_NOMEM, STATUS_ERRNO. It keeps no reference that makes
 * the loop run on when nothing else does.
 */
enum status table_new(struct ev_loop *loop, struct slot_page pages[], unsigned int n_slots,
    unsigned int slot, struct seat *seat, uint64_t max_send_bytes, uint32_t slow_handler_ms,
    size_t n_data, struct conn_table **table) MUST_CHECK;

/* The connection with the id, which may be closing; NULL: no such connection here. */
struct rnl_conn *table_find(const struct conn_table *table, uint64_t id);

/* Visit each connection that modules may know. Visitors may send, close and abort. */
typedef void conn_visit_f(struct rnl_conn *conn, void *arg);
void table_each(const struct conn_table *table, conn_visit_f *visit, void *arg);

/*
 * The clock when the worker turned to what is done now: what was read at the end of what was done
 * before, if it was. Only one may have it.
 */
static inline uint64_t table_turn(struct conn_table *table)
{
	uint64_t turned_ns = table->turned_ns;

	table->turned_ns = 0;
	return turned_ns != 0 ? turned_ns : clock_ns();
}

/* The wheel is to look at deadlines from now on. */
void table_start_tick(struct conn_table *table);

/* A handler took long; called when that is at least notice_ns. */
struct step;
void table_note_slow(
    struct conn_table *table, const struct step *step, uint32_t id, int64_t took_ns);

/* Give each connection a turn on the agenda. */
void table_schedule_all(struct conn_table *table);

/*
 * Let each connection go at a moment of its own within spread_ms: serve what has come until
 * then, and close with its queue flushed. Called again, it sets new moments. Outgoing ones go
 * when no other is left, for those may wait for what comes over them.
 */
void table_drain(struct conn_table *table, uint32_t spread_ms);

/* Serve what has come so far, then let each connection close in the same way. */
void table_stop(struct conn_table *table);

/* Connections are not to be made any more. */
bool table_is_ending(const struct conn_table *table);

/* A connection was destroyed: see whether that was what others waited for. */
void table_conn_gone(struct conn_table *table);

/* Close all connections now, in the loop's next turn, for a reason. None is made after that. */
void table_abort(struct conn_table *table, enum close_reason reason);

/* All connections must be gone. */
void table_destroy(struct conn_table **table);

#endif
