/*
 * A send queue: the frames of one connection that the kernel has not taken yet,
 * one behind the other in chunks. A frame never crosses chunks.
 *
 *     head                          tail   at
 *     [ sent | data ... | marks ]-> [ data |<- room ->| marks ]
 *
 * Invariants: only the head has sent > 0; only the tail may be empty, when a
 * reservation was not committed; held_bytes is the charge of all chunks,
 * bookkeeping included, and never exceeds the limit. An empty queue holds no
 * memory.
 *
 * To queue a frame is to reserve room, to write the frame, and to commit. While
 * the tail has room that touches the queue and the tail's memory only; what the
 * tail knows of itself (used, n_marks) is brought up to date when it is drained.
 */
#ifndef RUNNEL_IO_SENDQ_H
#define RUNNEL_IO_SENDQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <runnel/module.h>

#include "io/chunk.h"

struct sendq {
	struct chunk *head, *tail; /* owned */
	uint8_t *at;               /* where the tail's next frame goes */
	uint32_t
	    room; /* bytes from there to the tail's last mark; 0: no tail, or a shared one */
	uint32_t n_messages;
	uint32_t held_bytes;
};

struct sendq_limits {
	uint32_t max_messages;
	uint32_t max_bytes; /* of held_bytes */
};

enum drain {
	DRAIN_EMPTY,   /* all is written */
	DRAIN_BLOCKED, /* the kernel takes no more now */
	DRAIN_FAILED,  /* the connection is broken, errno says how */
};

void sendq_init(struct sendq *q);

static inline bool sendq_is_empty(const struct sendq *q)
{
	return q->head == NULL;
}

/* Does the tail have room for a frame of this size, and its mark? */
static inline bool sendq_tail_has_room(const struct sendq *q, size_t size)
{
	return q->room > size && q->room - size >= CHUNK_MARK_SIZE;
}

/* sendq_reserve() when the tail has no room, or the queue no place. */
enum rnl_status sendq_reserve_anew(
    struct sendq *q, struct chunk_pool *pool, const struct sendq_limits *limits, size_t size);

/*
 * Find room for a frame of size bytes, which the caller writes to q->at and then
 * commits. RNL_EFULL: no room now; RNL_ETOOBIG: not even in an empty queue; RNL_ENOMEM.
 */
static inline enum rnl_status sendq_reserve(
    struct sendq *q, struct chunk_pool *pool, const struct sendq_limits *limits, size_t size)
{
	if (q->n_messages < limits->max_messages && sendq_tail_has_room(q, size))
		return RNL_OK;
	return sendq_reserve_anew(q, pool, limits, size);
}

/* A frame of size bytes, not more than was reserved, stands at q->at: queue it. */
static inline void sendq_commit(struct sendq *q, size_t size)
{
	const uint32_t mark = (uint32_t)size;

	q->at += size;
	q->room -= mark + (uint32_t)CHUNK_MARK_SIZE;
	memcpy(q->at + q->room, &mark, sizeof(mark));
	q->n_messages++;
}

/* Queue a shared frame, which the queue then holds a reference of. Fails as sendq_reserve(). */
enum rnl_status sendq_push_shared(struct sendq *q, struct chunk_pool *pool,
    const struct sendq_limits *limits, struct shared_frame *frame);

/* Would the queue's own limits let a frame of this size in? Says nothing of the pool. */
static inline bool sendq_has_room(
    const struct sendq *q, const struct sendq_limits *limits, size_t size)
{
	return q->n_messages < limits->max_messages &&
	       (chunk_memory_for(size) <= limits->max_bytes - q->held_bytes ||
		   sendq_tail_has_room(q, size));
}

/* The same for a shared frame. */
static inline bool sendq_has_room_shared(
    const struct sendq *q, const struct sendq_limits *limits, size_t size)
{
	return q->n_messages < limits->max_messages &&
	       sizeof(struct chunk) + (uint64_t)size <= limits->max_bytes - q->held_bytes;
}

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
enum drain sendq_drain(struct sendq *q, struct chunk_pool *pool, int fd, size_t *n_bytes);

/* Drop all that is queued. */
void sendq_clear(struct sendq *q, struct chunk_pool *pool);

#endif
