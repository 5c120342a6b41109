/*
 * The counters of a slot. They live in the slot's shared page: one process
 * writes them (the slot's worker), the master reads them, and they outlive the
 * worker, so they only grow.
 */
#ifndef RUNNEL_BASE_COUNTERS_H
#define RUNNEL_BASE_COUNTERS_H

#include <stdint.h>

/* COUNTER(name, text): one row a counter. */
#define COUNTERS(COUNTER)                                                                   \
	COUNTER(accepted, "connections accepted")                                           \
	COUNTER(rejected, "connections closed at once because a limit was reached")         \
	COUNTER(moved_in, "connections taken over from a worker of an earlier generation")  \
	COUNTER(moved_out, "connections handed over to a worker of a later generation")     \
	COUNTER(connected, "connections made to upstreams")                                 \
	COUNTER(connect_failures, "attempts to connect to an upstream that failed")         \
	COUNTER(probes, "connections that their peer ended before a byte came or went")     \
	COUNTER(frames_in, "frames decoded")                                                \
	COUNTER(frames_out, "frames queued for sending")                                    \
	COUNTER(bytes_in, "bytes read")                                                     \
	COUNTER(bytes_out, "bytes the kernel took")                                         \
	COUNTER(                                                                            \
	    sends_refused, "sends refused because a queue or the worker's memory was full") \
	COUNTER(drains, "drains of a send queue")                                           \
	COUNTER(drains_cut, "drains that ended because the kernel took no more")            \
	COUNTER(unknown_ids, "frames whose id has no handler")                              \
	COUNTER(malformed, "messages whose payload a handler refused")                      \
	COUNTER(oversize, "frames longer than max-message")                                 \
	COUNTER(bad_checksums, "frames whose checksum is wrong")                            \
	COUNTER(jobs, "jobs of modules given to threads")                                   \
	COUNTER(jobs_refused, "jobs refused because there were too many")

/* CLOSE_REASON(name, text): why a connection ended. Each connection ends for one. */
#define CLOSE_REASONS(CLOSE_REASON)                                                   \
	CLOSE_REASON(peer, "the peer ended it")                                       \
	CLOSE_REASON(handler, "a module closed it")                                   \
	CLOSE_REASON(kicked, "an operator ended it")                                  \
	CLOSE_REASON(protocol, "a framing error, an oversize frame or an unknown id") \
	CLOSE_REASON(idle, "idle-timeout")                                            \
	CLOSE_REASON(heartbeat, "heartbeat-timeout")                                  \
	CLOSE_REASON(frame_timeout, "frame-timeout")                                  \
	CLOSE_REASON(send_timeout, "send-timeout")                                    \
	CLOSE_REASON(queue_full, "when-full = close")                                 \
	CLOSE_REASON(error, "a socket error, or no memory")                           \
	CLOSE_REASON(shutdown, "the worker stopped")                                  \
	CLOSE_REASON(drain_timeout, "the worker's time to stop was over")             \
	CLOSE_REASON(worker_died, "the worker died")

enum close_reason {
#define CLOSE_REASON_ENUM(name, text) CLOSE_REASON_##name,
	CLOSE_REASONS(CLOSE_REASON_ENUM)
#undef CLOSE_REASON_ENUM
	    N_CLOSE_REASONS
};

struct counters {
#define COUNTER_FIELD(name, text) uint64_t name;
	COUNTERS(COUNTER_FIELD)
#undef COUNTER_FIELD
	uint64_t closed[N_CLOSE_REASONS];
};

/* One writer: a plain add, stored whole so that another process never reads half of it. */
#define counter_add(counter, n) \
	__atomic_store_n(&(counter), (counter) + (uint64_t)(n), __ATOMIC_RELAXED)
#define counter_read(counter) __atomic_load_n(&(counter), __ATOMIC_RELAXED)

/* The name and the text of CLOSE_REASONS. */
const char *close_reason_name(enum close_reason reason);
const char *close_reason_text(enum close_reason reason);

/* Connections that were begun or taken over, and have neither ended nor been handed over. */
uint64_t counters_open(const struct counters *counters);

/* "accepted=1 rejected=0 ... closed_peer=1 ...", every counter. */
#define COUNTERS_TEXT_SIZE 1280
void counters_format(const struct counters *counters, char text[COUNTERS_TEXT_SIZE]);

#endif
