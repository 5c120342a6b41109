/*
 * How long the handlers of messages take. Every message counts, but not each is
 * timed: reading the clock costs as much as a short handler. A batch is the
 * messages that one turn of a connection serves.
 *
 * - While handlers are short, one batch in eight is timed, up to eight messages
 *   together, each of which counts with their average. Those of the other batches
 *   count as the last ones that were timed.
 * - A message during which the coarse clock has moved on, so any that takes longer
 *   than its tick, is timed in every batch; those before it count as the last timed.
 * - While handlers are long, each message is timed by itself.
 */
#ifndef RUNNEL_CONN_STOPWATCH_H
#define RUNNEL_CONN_STOPWATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/durations.h"

#define STOPWATCH_BATCHES 8u
#define STOPWATCH_GROUP 8u
#define STOPWATCH_UNTIMED UINT32_MAX
#define STOPWATCH_LONG_NS 100000u

/* Zeroed at first: then the first batch is timed. */
struct stopwatch {
	uint64_t since_ns; /* what is not counted began then */
	uint64_t usual_ns; /* what a message took when some were timed last */
	uint32_t bucket;   /* of usual_ns */
	uint32_t n;        /* messages that are not counted yet */
	uint32_t group;    /* so many are timed together; or UNTIMED */
	uint32_t n_left;   /* batches till one is timed */
};

/* The messages that are not counted have taken the time since then: count them. */
void stopwatch_read(struct stopwatch *watch, struct durations *durations);

/* The same, but the last of them has taken what the others usually do not. */
void stopwatch_single_out(struct stopwatch *watch, struct durations *durations);

/*
 * A batch begins. began_ns: the clock when the worker turned to it, which may be some
 * microseconds ago.
 */
static inline void stopwatch_start(struct stopwatch *watch, uint64_t began_ns)
{
	watch->since_ns = began_ns;
	watch->group = STOPWATCH_UNTIMED;
	if (watch->usual_ns >= STOPWATCH_LONG_NS) {
		watch->group = 1;
	} else if (watch->n_left == 0) {
		watch->group = STOPWATCH_GROUP;
		watch->n_left = STOPWATCH_BATCHES;
	}
	watch->n_left -= watch->n_left > 0;
	if (watch->group != STOPWATCH_UNTIMED)
		watch->since_ns = clock_ns();
}

/* A message has been handled; is_late: the coarse clock has moved on meanwhile. */
static inline void stopwatch_lap(
    struct stopwatch *watch, bool is_late, struct durations *durations)
{
	watch->n++;
	if (__builtin_expect(is_late, 0))
		stopwatch_single_out(watch, durations);
	else if (watch->n >= watch->group)
		stopwatch_read(watch, durations);
}

/* The batch is over. */
static inline void stopwatch_stop(struct stopwatch *watch, struct durations *durations)
{
	if (watch->n == 0)
		return;
	if (watch->group != STOPWATCH_UNTIMED) {
		stopwatch_read(watch, durations);
		return;
	}
	durations_add_to(durations, watch->bucket, watch->usual_ns * watch->n, watch->n);
	watch->n = 0;
}

#endif
