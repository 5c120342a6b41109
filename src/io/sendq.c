#include "config.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/panic.h"
#include "io/sendq.h"

/* Chunks in one sendmsg(2). */
#define MAX_IOV 32

void sendq_init(struct sendq *q)
{
	*q = (struct sendq){ 0 };
}

/* Tell the tail what was committed to it. */
static void update_tail(struct sendq *q)
{
	struct chunk *tail = q->tail;

	if (tail == NULL || tail->shared != NULL)
		return;
	tail->used = (uint32_t)(q->at - tail->body);
	tail->n_marks = (tail->capacity - tail->used - q->room) / (uint32_t)CHUNK_MARK_SIZE;
}

static void append(struct sendq *q, struct chunk *chunk)
{
	if (q->tail != NULL) {
		update_tail(q);
		q->tail->next = chunk;
	} else {
		q->head = chunk;
	}
	q->tail = chunk;
	q->at = chunk->body;
	q->room = chunk->capacity;
	q->held_bytes += chunk_charge(chunk);
}

/*
 * Twice the memory of the tail, so that a long queue has few chunks and a short
 * one is small. Behind a shared frame it begins anew: else frames in turn with
 * shared ones would each get a chunk that is fit for a long queue, and fill the
 * queue with room that nobody uses.
 */
static size_t wanted_memory(const struct sendq *q)
{
	if (q->tail == NULL || q->tail->shared != NULL)
		return 0;
	return 2 * (size_t)chunk_memory(q->tail);
}

enum rnl_status sendq_reserve_anew(
    struct sendq *q, struct chunk_pool *pool, const struct sendq_limits *limits, size_t size)
{
	size_t least = chunk_memory_for(size), memory;
	uint64_t room = limits->max_bytes - q->held_bytes;
	struct chunk *chunk;

	if (least > limits->max_bytes || least > pool->max_bytes)
		return RNL_ETOOBIG;
	if (q->n_messages >= limits->max_messages)
		return RNL_EFULL;
	if (chunk_pool_room(pool) < room)
		room = chunk_pool_room(pool);
	if (least > room)
		return RNL_EFULL;
	memory = chunk_memory_of_class(least, wanted_memory(q));
	if (memory > room)
		memory = room & ~(CHUNK_MARK_SIZE - 1);
	chunk = chunk_new(pool, memory);
	if (chunk == NULL)
		return RNL_ENOMEM;
	append(q, chunk);
	return RNL_OK;
}

enum rnl_status sendq_push_shared(struct sendq *q, struct chunk_pool *pool,
    const struct sendq_limits *limits, struct shared_frame *frame)
{
	struct chunk *chunk;

	if (sizeof(*chunk) + (uint64_t)frame->size > limits->max_bytes)
		return RNL_ETOOBIG;
	if (!sendq_has_room_shared(q, limits, frame->size) ||
	    sizeof(*chunk) > chunk_pool_room(pool))
		return RNL_EFULL;
	chunk = chunk_new_shared(pool, frame);
	if (chunk == NULL)
		return RNL_ENOMEM;
	append(q, chunk);
	q->n_messages++;
	return RNL_OK;
}

static void drop_head(struct sendq *q, struct chunk_pool *pool)
{
	struct chunk *chunk = q->head;

	q->head = chunk->next;
	q->held_bytes -= chunk_charge(chunk);
	q->n_messages -= chunk->n_marks - chunk->n_gone;
	if (q->head == NULL) {
		q->tail = NULL;
		q->at = NULL;
		q->room = 0;
	}
	chunk_free(pool, chunk);
}

/* The kernel took n bytes: drop what is gone. */
static void advance(struct sendq *q, struct chunk_pool *pool, size_t n)
{
	while (q->head != NULL && n >= q->head->used - q->head->sent) {
		n -= q->head->used - q->head->sent;
		drop_head(q, pool);
	}
	if (n == 0)
		return;
	CHECK(q->head != NULL);
	q->n_messages -= chunk_advance(q->head, n);
}

static ssize_t write_chunks(const struct sendq *q, int fd)
{
	struct iovec iov[MAX_IOV];
	struct msghdr msg = { .msg_iov = iov };

	for (struct chunk *chunk = q->head; chunk != NULL && msg.msg_iovlen < MAX_IOV;
	     chunk = chunk->next)
		iov[msg.msg_iovlen++] =
		    (struct iovec){ .iov_base = chunk_data(chunk) + chunk->sent,
			    .iov_len = chunk->used - chunk->sent };
	return sendmsg(fd, &msg, MSG_NOSIGNAL);
}

static ssize_t write_some(const struct sendq *q, int fd)
{
	struct chunk *head = q->head;

	if (head->next != NULL)
		return write_chunks(q, fd);
	return send(fd, chunk_data(head) + head->sent, head->used - head->sent, MSG_NOSIGNAL);
}

enum drain sendq_drain(struct sendq *q, struct chunk_pool *pool, int fd, size_t *n_bytes)
{
	*n_bytes = 0;
	update_tail(q);
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

void sendq_clear(struct sendq *q, struct chunk_pool *pool)
{
	update_tail(q);
	while (q->head != NULL)
		drop_head(q, pool);
}
