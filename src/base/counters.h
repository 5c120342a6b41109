/*
 * The counters of a slot. They live in the slot's shared page: one process
 * writes them (the slot's worker), the master reads them, and they outlive the
 * worker, so they only grow.
 */
#ifndef RUNNEL_BASE_COUNTERS_H
#define RUNNEL_BASE_COUNTERS_H

#include <stdint.h>

/*
 * COUNTER(name, text): one row a counter. "closed_*" rows are the reasons for which a
 * connection ends.
 */
#define COUNTERS(COUNTER)                                                                   \
	COUNTER(accepted, "connections accepted")                                           \
	COUNTER(rejected, "connections closed at once because a limit was reached")         \
	COUNTER(frames_in, "frames decoded")                                                \
	COUNTER(frames_out, "frames queued for sending")                                    \
	COUNTER(bytes_in, "bytes read")                                                     \
	COUNTER(bytes_out, "bytes the kernel took")                                         \
	COUNTER(                                                                            \
	    sends_refused, "sends refused because a queue or the worker's budget was full") \
	COUNTER(drains, "drains of a send queue")                                           \
	COUNTER(drains_cut, "drains that ended because the kernel took no more")            \
	COUNTER(unknown_ids, "frames whose id has no handler")                              \
	COUNTER(malformed, "messages whose payload a handler refused")                      \
	COUNTER(oversize, "frames longer than max-message")                                 \
	COUNTER(closed_peer, "connections ended by the peer")                               \
	COUNTER(closed_handler, "connections closed by a module")                           \
	COUNTER(closed_protocol,                                                            \
	    "connections closed for a framing error, an oversize frame or an unknown id")   \
	COUNTER(closed_idle, "connections closed by idle-timeout")                          \
	COUNTER(closed_frame_timeout, "connections closed by frame-timeout")                \
	COUNTER(closed_send_timeout, "connections closed by send-timeout")                  \
	COUNTER(closed_queue_full, "connections closed by when-full = close")               \
	COUNTER(closed_error, "connections ended by a socket error or for want of memory")  \
	COUNTER(closed_shutdown, "connections closed because the worker stopped")           \
	COUNTER(closed_worker_died, "connections lost with a worker that died")

struct counters {
#define COUNTER_FIELD(name, text) uint64_t name;
	COUNTERS(COUNTER_FIELD)
#undef COUNTER_FIELD
};

/* One writer: a plain add, stored whole so that another process never reads half of it. */
#define counter_add(counter, n) \
	__atomic_store_n(&(counter), (counter) + (uint64_t)(n), __ATOMIC_RELAXED)
#define counter_read(counter) __atomic_load_n(&(counter), __ATOMIC_RELAXED)

#endif
