#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/panic.h"
#include "io/sendq.h"

struct shared_frame {
	struct sendq_pool *pool; /* borrowed; counts it once */
	uint32_t n_refs;
	uint32_t size;
	uint8_t bytes[];
};

struct chunk {
	struct chunk *next;
	struct shared_frame
	    *shared;       /* a reference: the data is there and the body is empty; or NULL */
	uint32_t capacity; /* bytes of body, a multiple of the size of a mark */
	uint32_t used;     /* bytes of data */
	uint32_t sent;     /* of them, what the kernel took */
	uint32_t n_marks;  /* frames that were put here */
	uint32_t n_gone;   /* of them, those that are sent whole */
	uint32_t body[];   /* data from the front, marks from the back */
};

#define MARK_SIZE sizeof(uint32_t)

/* With its header a chunk fills one of these; a larger frame, or the rest of a limit, its own. */
static const uint32_t class_sizes[SENDQ_N_CLASSES] = { 1024, 4096, 16384, 65536 };

/* More than the chunks that one batch of frames needs, less than an operator would miss. */
#define MAX_SPARE_BYTES (256 * 1024)

/* Chunks in one sendmsg(2). */
#define MAX_IOV 32

/* What it takes of the worker's budget. */
static uint32_t chunk_memory(const struct chunk *chunk)
{
	return (uint32_t)sizeof(*chunk) + chunk->capacity;
}

/* What it takes of its queue's limit. */
static uint32_t chunk_charge(const struct chunk *chunk)
{
	return chunk_memory(chunk) + (chunk->shared != NULL ? chunk->used : 0);
}

static uint8_t *chunk_data(struct chunk *chunk)
{
	return chunk->shared != NULL ? chunk->shared->bytes : (uint8_t *)chunk->body;
}

/* The end of frame i, counted from the front of the data. */
static uint32_t *chunk_mark(struct chunk *chunk, uint32_t i)
{
	return &chunk->body[chunk->capacity / MARK_SIZE - 1 - i];
}

/* The end of the first frame that is not gone. */
static uint32_t chunk_next_end(struct chunk *chunk)
{
	return chunk->shared != NULL ? chunk->used : *chunk_mark(chunk, chunk->n_gone);
}

static bool chunk_has_room(const struct chunk *chunk, size_t size)
{
	size_t taken = chunk->used + (chunk->n_marks + 1) * MARK_SIZE;

	return taken <= chunk->capacity && size <= chunk->capacity - taken;
}

/* Memory of a chunk that can hold one frame; SIZE_MAX: more than any limit. */
static size_t memory_for(size_t size)
{
	size_t rounded;

	if (size > UINT32_MAX / 2)
		return SIZE_MAX;
	rounded = (size + MARK_SIZE - 1) & ~(MARK_SIZE - 1);
	return sizeof(struct chunk) + rounded + MARK_SIZE;
}

static int class_of(uint32_t memory)
{
	for (int i = 0; i < SENDQ_N_CLASSES; i++) {
		if (class_sizes[i] == memory)
			return i;
	}
	return -1;
}

/* The class that takes this much, or the exact amount where none does. */
static uint32_t class_size_for(size_t memory)
{
	for (int i = 0; i < SENDQ_N_CLASSES; i++) {
		if (class_sizes[i] >= memory)
			return class_sizes[i];
	}
	return (uint32_t)memory;
}

void sendq_pool_init(struct sendq_pool *pool, uint64_t max_bytes)
{
	*pool = (struct sendq_pool){ .max_bytes = max_bytes };
}

static struct chunk *pool_take(struct sendq_pool *pool, uint32_t memory)
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
	*chunk = (struct chunk){ .capacity = memory - (uint32_t)sizeof(*chunk) };
	return chunk;
}

static void pool_give(struct sendq_pool *pool, struct chunk *chunk)
{
	uint32_t memory = chunk_memory(chunk);
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

void sendq_pool_destroy(struct sendq_pool *pool)
{
	CHECK(pool->held_bytes == 0);
	for (int i = 0; i < SENDQ_N_CLASSES; i++) {
		while (pool->spare[i] != NULL) {
			struct chunk *chunk = pool->spare[i];

			pool->spare[i] = chunk->next;
			free(chunk);
		}
	}
	pool->spare_bytes = 0;
}

void sendq_init(struct sendq *q)
{
	*q = (struct sendq){ 0 };
}

static void append(struct sendq *q, struct chunk *chunk)
{
	if (q->tail != NULL)
		q->tail->next = chunk;
	else
		q->head = chunk;
	q->tail = chunk;
	q->held_bytes += chunk_charge(chunk);
}

/* Append an empty chunk for a frame that the tail has no room for. */
static enum rnl_status grow(
    struct sendq *q, struct sendq_pool *pool, const struct sendq_limits *limits, size_t size)
{
	size_t least = memory_for(size);
	uint64_t room = pool->max_bytes - pool->held_bytes;
	uint32_t memory;
	struct chunk *chunk;

	if (room > limits->max_bytes - q->held_bytes)
		room = limits->max_bytes - q->held_bytes;
	if (least > limits->max_bytes || least > pool->max_bytes)
		return RNL_ETOOBIG;
	if (least > room)
		return RNL_EFULL;
	/* As much again as is held, so that a long queue has few chunks and a short one is small. */
	memory = class_size_for(least > q->held_bytes ? least : q->held_bytes);
	if (memory > class_sizes[SENDQ_N_CLASSES - 1])
		memory = class_size_for(least);
	if (memory > room)
		memory = (uint32_t)(room & ~(MARK_SIZE - 1));
	chunk = pool_take(pool, memory);
	if (chunk == NULL)
		return RNL_ENOMEM;
	append(q, chunk);
	return RNL_OK;
}

enum rnl_status sendq_reserve(struct sendq *q, struct sendq_pool *pool,
    const struct sendq_limits *limits, size_t size, uint8_t **frame)
{
	if (q->n_messages >= limits->max_messages)
		return memory_for(size) > limits->max_bytes ? RNL_ETOOBIG : RNL_EFULL;
	if (q->tail == NULL || !chunk_has_room(q->tail, size)) {
		enum rnl_status status = grow(q, pool, limits, size);

		if (status != RNL_OK)
			return status;
	}
	*frame = chunk_data(q->tail) + q->tail->used;
	return RNL_OK;
}

uint8_t *sendq_reserved(const struct sendq *q, size_t size)
{
	if (q->tail == NULL || !chunk_has_room(q->tail, size))
		return NULL;
	return chunk_data(q->tail) + q->tail->used;
}

void sendq_commit(struct sendq *q, size_t size)
{
	struct chunk *chunk = q->tail;

	chunk->used += (uint32_t)size;
	*chunk_mark(chunk, chunk->n_marks++) = chunk->used;
	q->n_messages++;
}

enum rnl_status shared_frame_new(
    struct sendq_pool *pool, size_t size, struct shared_frame **result, uint8_t **bytes)
{
	struct shared_frame *frame;
	size_t memory = memory_for(size);

	if (memory > pool->max_bytes)
		return RNL_ETOOBIG;
	if (memory > pool->max_bytes - pool->held_bytes)
		return RNL_EFULL;
	frame = malloc(sizeof(*frame) + size);
	if (frame == NULL)
		return RNL_ENOMEM;
	*frame = (struct shared_frame){ .pool = pool, .n_refs = 1, .size = (uint32_t)size };
	pool->held_bytes += sizeof(*frame) + size;
	*bytes = frame->bytes;
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
	frame->pool->held_bytes -= sizeof(*frame) + frame->size;
	free(frame);
}

enum rnl_status sendq_push_shared(struct sendq *q, struct sendq_pool *pool,
    const struct sendq_limits *limits, struct shared_frame *frame)
{
	uint64_t charge = sizeof(struct chunk) + (uint64_t)frame->size;
	struct chunk *chunk;

	if (charge > limits->max_bytes)
		return RNL_ETOOBIG;
	if (q->n_messages >= limits->max_messages ||
	    charge > limits->max_bytes - q->held_bytes ||
	    sizeof(*chunk) > pool->max_bytes - pool->held_bytes)
		return RNL_EFULL;
	chunk = pool_take(pool, sizeof(*chunk));
	if (chunk == NULL)
		return RNL_ENOMEM;
	frame->n_refs++;
	chunk->shared = frame;
	chunk->used = frame->size;
	chunk->n_marks = 1;
	append(q, chunk);
	q->n_messages++;
	return RNL_OK;
}

bool sendq_has_room(const struct sendq *q, const struct sendq_limits *limits, size_t size)
{
	if (q->n_messages >= limits->max_messages)
		return false;
	if (q->tail != NULL && chunk_has_room(q->tail, size))
		return true;
	return memory_for(size) <= limits->max_bytes - q->held_bytes;
}

static void drop_head(struct sendq *q, struct sendq_pool *pool)
{
	struct chunk *chunk = q->head;

	q->head = chunk->next;
	if (q->head == NULL)
		q->tail = NULL;
	q->held_bytes -= chunk_charge(chunk);
	q->n_messages -= chunk->n_marks - chunk->n_gone;
	pool_give(pool, chunk);
}

/* The kernel took n bytes: drop what is gone. */
static void advance(struct sendq *q, struct sendq_pool *pool, size_t n)
{
	struct chunk *chunk;

	while (q->head != NULL && n >= q->head->used - q->head->sent) {
		n -= q->head->used - q->head->sent;
		drop_head(q, pool);
	}
	chunk = q->head;
	if (n == 0)
		return;
	CHECK(chunk != NULL);
	chunk->sent += (uint32_t)n;
	while (chunk_next_end(chunk) <= chunk->sent) {
		chunk->n_gone++;
		q->n_messages--;
	}
}

static ssize_t write_some(const struct sendq *q, int fd)
{
	struct iovec iov[MAX_IOV];
	struct msghdr msg = { .msg_iov = iov };
	struct chunk *chunk = q->head;

	if (chunk->next == NULL)
		return send(fd, chunk_data(chunk) + chunk->sent, chunk->used - chunk->sent,
		    MSG_NOSIGNAL);
	for (; chunk != NULL && msg.msg_iovlen < MAX_IOV; chunk = chunk->next)
		iov[msg.msg_iovlen++] =
		    (struct iovec){ .iov_base = chunk_data(chunk) + chunk->sent,
			    .iov_len = chunk->used - chunk->sent };
	return sendmsg(fd, &msg, MSG_NOSIGNAL);
}

enum drain sendq_drain(struct sendq *q, struct sendq_pool *pool, int fd, size_t *n_bytes)
{
	*n_bytes = 0;
	while (q->head != NULL) {
		ssize_t n = write_some(q, fd);

		if (n >= 0) {
			*n_bytes += (size_t)n;
			advance(q, pool, (size_t)n);
		} else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS ||
			   errno == ENOMEM) {
			return DRAIN_BLOCKED;
		} else if (errno != EINTR) {
			return DRAIN_FAILED;
		}
	}
	return DRAIN_EMPTY;
}

void sendq_clear(struct sendq *q, struct sendq_pool *pool)
{
	while (q->head != NULL)
		drop_head(q, pool);
}
