/*
 * Chunks: the memory of send queues. Data grows from the front of a chunk's
 * body; a mark, the size of a frame, grows from its back for each frame, so that
 * a partial write knows which frames are gone.
 *
 *     [ sent | data ........ -> | room | <- marks ]
 *
 * A shared frame, one that many queues hold, is a chunk without a body which
 * refers to it.
 *
 * All chunks of a worker come from its pool, which counts what queues hold and
 * keeps some chunks of the usual sizes for the next queue.
 */
#ifndef RUNNEL_IO_CHUNK_H
#define RUNNEL_IO_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include <runnel/module.h>

#include "base/status.h"

#define CHUNK_MARK_SIZE sizeof(uint32_t)

struct chunk_pool;

struct shared_frame {
	struct chunk_pool *pool; /* borrowed; counts it once */
	uint32_t n_refs;
	uint32_t size;
	uint32_t capacity; /* at least size; what the pool counts */
	uint8_t bytes[];
};

/* Invariants: gone_bytes <= sent <= used; used + n_marks marks <= capacity. */
struct chunk {
	struct chunk *next;
	struct shared_frame *shared; /* a reference, and all the data; or NULL */
	uint32_t capacity;           /* bytes of body, a multiple of the size of a mark */
	uint32_t used;               /* bytes of data */
	uint32_t sent;               /* of them, what the kernel took */
	uint32_t n_marks;            /* frames that were put here */
	uint32_t n_gone;             /* of them, those that are sent whole */
	uint32_t gone_bytes;         /* their bytes */
	uint8_t body[];
};

#define CHUNK_N_CLASSES 4

/* Of one worker. */
struct chunk_pool {
	struct chunk *spare[CHUNK_N_CLASSES]; /* owned */
	size_t spare_bytes;
	uint64_t held_bytes; /* of chunks in queues, and of shared frames */
	uint64_t max_bytes;
};

void chunk_pool_init(struct chunk_pool *pool, uint64_t max_bytes);

/* Free the chunks that are kept for the next queue. */
void chunk_pool_rest(struct chunk_pool *pool);

/*
 * Queues hold nothing. Shared frames that somebody has not released are lost; returns their
 * bytes.
 */
uint64_t chunk_pool_destroy(struct chunk_pool *pool);

static inline uint64_t chunk_pool_room(const struct chunk_pool *pool)
{
	return pool->max_bytes - pool->held_bytes;
}

/* Memory of a chunk that can hold one frame of size bytes; SIZE_MAX: more than any limit. */
static inline size_t chunk_memory_for(size_t size)
{
	size_t rounded = (size + CHUNK_MARK_SIZE - 1) & ~(CHUNK_MARK_SIZE - 1);

	if (size > UINT32_MAX / 2)
		return SIZE_MAX;
	return sizeof(struct chunk) + rounded + CHUNK_MARK_SIZE;
}

/* Memory of the chunk to take for a frame that needs `least`, when so much is wanted. */
size_t chunk_memory_of_class(size_t least, size_t wanted);

/* An empty chunk that takes so much memory. NULL: no memory. It is freed with chunk_free(). */
struct chunk *chunk_new(struct chunk_pool *pool, size_t memory) MUST_CHECK;

/* A chunk that refers to a shared frame. NULL: no memory. */
struct chunk *chunk_new_shared(struct chunk_pool *pool, struct shared_frame *frame) MUST_CHECK;

/* Back to the pool. */
void chunk_free(struct chunk_pool *pool, struct chunk *chunk);

/* What it takes of the worker's budget. */
static inline uint32_t chunk_memory(const struct chunk *chunk)
{
	return (uint32_t)sizeof(*chunk) + chunk->capacity;
}

/*
 * What it takes of its queue's limit: a shared frame in full, since the peer has yet to take
 * it.
 */
static inline uint32_t chunk_charge(const struct chunk *chunk)
{
	return chunk_memory(chunk) + (chunk->shared != NULL ? chunk->used : 0);
}

static inline uint8_t *chunk_data(struct chunk *chunk)
{
	return chunk->shared != NULL ? chunk->shared->bytes : chunk->body;
}

/*
 * The kernel took n more bytes, but not all: count the frames that are gone whole. Returns how
 * many.
 */
uint32_t chunk_advance(struct chunk *chunk, size_t n);

/*
 * A frame of size bytes for many queues, with one reference; the caller writes it to bytes, and
 * lowers size where it turns out shorter.
 * RNL_EFULL: the budget is used up; RNL_ETOOBIG: it is larger than the budget; RNL_ENOMEM.
 */
enum rnl_status shared_frame_new(
    struct chunk_pool *pool, size_t size, struct shared_frame **frame) MUST_CHECK;

/* Give up a reference. Sets the pointer to NULL. */
void shared_frame_release(struct shared_frame **frame);

#endif
