/*
 * How long it takes from the read that brings the end of a request to the write that
 * takes its reply: the replies of one connection that the kernel has not taken yet.
 *
 * A batch, the frames of one read, shares the moment when the read began, and its replies
 * count when the last of them is gone. What is queued behind them meanwhile, while
 * the peer is slow, waits as one group, with the moment of its first batch. So the
 * state is small whatever is queued, and a reply counts with its time or more,
 * never with less, and never before it is written.
 *
 *     out of the queue <- [ the oldest: n, since_ns ][ later: n_later, later_ns ]
 *                           n_ahead frames ----->
 */
#ifndef RUNNEL_CONN_REPLIES_H
#define RUNNEL_CONN_REPLIES_H

#include <stdint.h>

#include "base/durations.h"

/* Zeroed at first. n_later is 0 while n is. */
struct replies {
	uint64_t since_ns;
	uint64_t later_ns;
	uint32_t n, n_later;
	uint32_t n_ahead; /* frames of the queue, till the last of the oldest is gone */
};

/* A batch that was read at read_ns has put n replies into a queue, which now has n_queued frames. */
void replies_join(struct replies *replies, uint32_t n, uint64_t read_ns, uint32_t n_queued);

/* See replies_leave(), when it has replies to look after. */
uint64_t replies_count(
    struct replies *replies, uint32_t n_gone, uint32_t n_queued, struct durations *durations);

/*
 * The kernel has just taken n_gone frames of the queue, and n_queued are left. Returns the clock,
 * or 0 when there was no need to read it.
 */
static inline uint64_t replies_leave(
    struct replies *replies, uint32_t n_gone, uint32_t n_queued, struct durations *durations)
{
	return replies->n > 0 ? replies_count(replies, n_gone, n_queued, durations) : 0;
}

#endif
