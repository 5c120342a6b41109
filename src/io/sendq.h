/*
 * A send queue: the frames of one connection that the kernel has not taken yet.
 *
 * Frames stand one behind the other in chunks. Data grows from the front of a
 * chunk; a mark for the end of each frame grows from its back, so that a partial
 * write knows which frames are gone. A frame never crosses chunks.
 *
 *     head                         tail
 *     [sent|data........|  marks]->[data.....      |marks]
 *
 * Invariants: sent <= used, used + marks <= capacity; only the head has
 * sent > 0; only the tail may be empty, when a reservation was not committed;
 * held_bytes is the memory of all chunks, bookkeeping included, and never exceeds
 * the limit.
 *
 * A shared frame, one that many queues hold, is a chunk of its own which refers
 * to it. It counts in full against the limit of each queue, since that is what
 * the peer has yet to take, and once against the worker's budget.
 *
 * An empty queue holds no memory. Chunks come from the worker's pool, which
 * knows what all queues of the worker hold and refuses beyond its budget.
 */
#ifndef RUNNEL_IO_SENDQ_H
#define RUNNEL_IO_SENDQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <runnel/module.h>

struct chunk;
struct shared_frame;

struct sendq {
	struct chunk *head, *tail; /* owned */
	uint32_t n_messages;
	uint32_t held_bytes;
};

struct sendq_limits {
	uint32_t max_messages;
	uint32_t max_bytes; /* of held_bytes */
};

#define SENDQ_N_CLASSES 4

/* Of one worker. Chunks of the usual sizes are kept for the next queue, up to a small amount. */
struct sendq_pool {
	struct chunk *spare[SENDQ_N_CLASSES]; /* owned */
	size_t spare_bytes;
	uint64_t held_bytes; /* by all queues */
	uint64_t max_bytes;
};

enum drain {
	DRAIN_EMPTY,   /* all is written */
	DRAIN_BLOCKED, /* the kernel takes no more now */
	DRAIN_FAILED,  /* the connection is broken, errno says how */
};

void sendq_pool_init(struct sendq_pool *pool, uint64_t max_bytes);

/* All queues must be cleared. */
void sendq_pool_destroy(struct sendq_pool *pool);

void sendq_init(struct sendq *q);

static inline bool sendq_is_empty(const struct sendq *q)
{
	return q->head == NULL;
}

/*
 * Find room for a frame of size bytes, which the caller writes to *frame and
 * then commits; without a commit the queue is as it was.
 * RNL_EFULL: no room now; RNL_ETOOBIG: not even in an empty queue; RNL_ENOMEM.
 */
enum rnl_status sendq_reserve(struct sendq *q, struct sendq_pool *pool,
    const struct sendq_limits *limits, size_t size, uint8_t **frame);

/* Where the frame last reserved is to be written; NULL: no reservation, or none of this size. */
uint8_t *sendq_reserved(const struct sendq *q, size_t size);

/* The frame last reserved is written, in size bytes or fewer: queue it. */
void sendq_commit(struct sendq *q, size_t size);

/* A frame of size bytes for many queues, with one reference; the caller writes it to *bytes. */
enum rnl_status shared_frame_new(
    struct sendq_pool *pool, size_t size, struct shared_frame **frame, uint8_t **bytes);

/* Give up the reference of shared_frame_new(). Sets the pointer to NULL. */
void shared_frame_release(struct shared_frame **frame);

/* Queue a shared frame, which the queue then holds a reference of. As sendq_reserve(). */
enum rnl_status sendq_push_shared(struct sendq *q, struct sendq_pool *pool,
    const struct sendq_limits *limits, struct shared_frame *frame);

/* Would the queue's own limits let a frame of this size in? Says nothing of the pool. */
bool sendq_has_room(const struct sendq *q, const struct sendq_limits *limits, size_t size);

/* Has the queue fallen to half of both limits? */
static inline bool sendq_is_half_empty(const struct sendq *q, const struct sendq_limits *limits)
{
	return q->n_messages <= limits->max_messages / 2 &&
	       q->held_bytes <= limits->max_bytes / 2;
}

/*
 * Write until the queue is empty or the kernel says EAGAIN. *n_bytes is what the
 * kernel took. Never blocks: the socket is non-blocking.
 */
enum drain sendq_drain(struct sendq *q, struct sendq_pool *pool, int fd, size_t *n_bytes);

/* Drop all that is queued. */
void sendq_clear(struct sendq *q, struct sendq_pool *pool);

#endif
