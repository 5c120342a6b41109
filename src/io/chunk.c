#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/panic.h"
#include "io/chunk.h"

/* With its header a chunk fills one of these; a larger frame, or the rest of a limit, its own. */
static const size_t class_sizes[CHUNK_N_CLASSES] = { 1024, 4096, 16384, 65536 };

/* More than the chunks that one batch of frames needs, less than an operator would miss. */
#define MAX_SPARE_BYTES (256 * 1024)

void chunk_pool_init(struct chunk_pool *pool, uint64_t max_bytes)
{
	*pool = (struct chunk_pool){ .max_bytes = max_bytes };
}

void chunk_pool_rest(struct chunk_pool *pool)
{
	for (int i = 0; i < CHUNK_N_CLASSES; i++) {
		while (pool->spare[i] != NULL) {
			struct chunk *chunk = pool->spare[i];

			pool->spare[i] = chunk->next;
			free(chunk);
		}
	}
	pool->spare_bytes = 0;
}

uint64_t chunk_pool_destroy(struct chunk_pool *pool)
{
	chunk_pool_rest(pool);
	return pool->held_bytes;
}

size_t chunk_memory_of_class(size_t least, size_t wanted)
{
	for (int i = 0; i < CHUNK_N_CLASSES; i++) {
		if (class_sizes[i] >= least && class_sizes[i] >= wanted)
			return class_sizes[i];
	}
	return least > class_sizes[CHUNK_N_CLASSES - 1] ? least
							: class_sizes[CHUNK_N_CLASSES - 1];
}

/* -1: of no class. */
static int class_of(size_t memory)
{
	for (int i = 0; i < CHUNK_N_CLASSES; i++) {
		if (class_sizes[i] == memory)
			return i;
	}
	return -1;
}

struct chunk *chunk_new(struct chunk_pool *pool, size_t memory)
{
	int class = class_of(memory);
	struct chunk *chunk = class >= 0 ? pool->spare[class] : NULL;

	if (chunk != NULL) {
		pool->spare[class] = chunk->next;
		pool->spare_bytes -= memory;
	} else {
		chunk = malloc(memory);
		if (chunk == NULL)
			return NULL;
	}
	pool->held_bytes += memory;
	*chunk = (struct chunk){ .capacity = (uint32_t)(memory - sizeof(*chunk)) };
	return chunk;
}

struct chunk *chunk_new_shared(struct chunk_pool *pool, struct shared_frame *frame)
{
	struct chunk *chunk = chunk_new(pool, sizeof(*chunk));

	if (chunk == NULL)
		return NULL;
	frame->n_refs++;
	chunk->shared = frame;
	chunk->used = frame->size;
	chunk->n_marks = 1;
	return chunk;
}

void chunk_free(struct chunk_pool *pool, struct chunk *chunk)
{
	size_t memory = chunk_memory(chunk);
	int class = class_of(memory);

	pool->held_bytes -= memory;
	if (chunk->shared != NULL)
		shared_frame_release(&chunk->shared);
	if (class < 0 || pool->spare_bytes + memory > MAX_SPARE_BYTES) {
		free(chunk);
		return;
	}
	chunk->next = pool->spare[class];
	pool->spare[class] = chunk;
	pool->spare_bytes += memory;
}

/* The size of frame i. */
static uint32_t mark(const struct chunk *chunk, uint32_t i)
{
	uint32_t size;

	if (chunk->shared != NULL)
		return chunk->used;
	memcpy(&size, chunk->body + chunk->capacity - (i + 1) * CHUNK_MARK_SIZE, sizeof(size));
	return size;
}

uint32_t chunk_advance(struct chunk *chunk, size_t n)
{
	uint32_t n_before = chunk->n_gone;

	chunk->sent += (uint32_t)n;
	CHECK(chunk->sent < chunk->used);
	while (chunk->gone_bytes + mark(chunk, chunk->n_gone) <= chunk->sent)
		chunk->gone_bytes += mark(chunk, chunk->n_gone++);
	return chunk->n_gone - n_before;
}

enum rnl_status shared_frame_new(
    struct chunk_pool *pool, size_t size, struct shared_frame **result)
{
	size_t memory = sizeof(struct shared_frame) + size;
	struct shared_frame *frame;

	if (size > UINT32_MAX / 2 || memory > pool->max_bytes)
		return RNL_ETOOBIG;
	if (memory > chunk_pool_room(pool))
		return RNL_EFULL;
	frame = malloc(memory);
	if (frame == NULL)
		return RNL_ENOMEM;
	*frame = (struct shared_frame){
		.pool = pool, .n_refs = 1, .size = (uint32_t)size, .capacity = (uint32_t)size
	};
	pool->held_bytes += memory;
	*result = frame;
	return RNL_OK;
}

void shared_frame_release(struct shared_frame **framep)
{
	struct shared_frame *frame = *framep;

	*framep = NULL;
	CHECK(frame->n_refs > 0);
	if (--frame->n_refs > 0)
		return;
	frame->pool->held_bytes -= sizeof(*frame) + frame->capacity;
	free(frame);
}
