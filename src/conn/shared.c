#include "config.h"

#include <stdlib.h>

#include "conn/parts.h"
#include "conn/shared.h"
#include "wire/framing.h"

/* The message in one framing. */
struct framed {
	struct framed *next; /* owned */
	const struct framing *framing;
	struct shared_frame *frame; /* a reference */
};

struct rnl_shared {
	struct chunk_pool *pool; /* borrowed */
	size_t len;              /* of the payload */
	uint32_t id;
	struct framed first; /* in TLV: it keeps the payload for the other framings */
};

static enum rnl_status frame_make(const struct rnl_shared *shared,
    const struct framing *framing, const void *payload, struct shared_frame **frame)
{
	enum rnl_status status;
	size_t size;

	status = shared_frame_new(shared->pool, shared->len + framing_overhead(framing), frame);
	if (status != RNL_OK)
		return status;
	size = framing_encode(framing, (*frame)->bytes, shared->id, payload, shared->len);
	(*frame)->size = (uint32_t)size;
	if (size > 0)
		return RNL_OK;
	shared_frame_release(frame);
	return RNL_EINVAL;
}

struct rnl_shared *shared_new(
    struct conn_table *table, uint32_t id, const void *payload, size_t len)
{
	struct rnl_shared *shared = malloc(sizeof(*shared));

	if (shared == NULL)
		return NULL;
	*shared = (struct rnl_shared){
		.pool = &table->pool, .id = id, .len = len, .first = { .framing = &framing_tlv }
	};
	if (len > framing_tlv.max_payload ||
	    frame_make(shared, &framing_tlv, payload, &shared->first.frame) != RNL_OK) {
		free(shared);
		return NULL;
	}
	return shared;
}

static enum rnl_status framed_add(
    struct rnl_shared *shared, const struct framing *framing, struct shared_frame **frame)
{
	const uint8_t *payload = shared->first.frame->bytes + framing_tlv.head;
	struct framed *framed = malloc(sizeof(*framed));
	enum rnl_status status;

	if (framed == NULL)
		return RNL_ENOMEM;
	status = frame_make(shared, framing, payload, &framed->frame);
	if (status != RNL_OK) {
		free(framed);
		return status;
	}
	framed->framing = framing;
	framed->next = shared->first.next;
	shared->first.next = framed;
	*frame = framed->frame;
	return RNL_OK;
}

static enum rnl_status framed_find(
    struct rnl_shared *shared, const struct framing *framing, struct shared_frame **frame)
{
	for (struct framed *framed = &shared->first; framed != NULL; framed = framed->next) {
		if (framed->framing == framing) {
			*frame = framed->frame;
			return RNL_OK;
		}
	}
	return framed_add(shared, framing, frame);
}

enum rnl_status conn_send_shared(struct rnl_conn *conn, struct rnl_shared *shared)
{
	struct shared_frame *frame;
	enum rnl_status status;

	if (conn->state != CONN_OPEN)
		return RNL_ECLOSED;
	if (!listener_may_send(conn->listener, shared->len))
		return RNL_ETOOBIG;
	status = framed_find(shared, conn->listener->framing, &frame);
	if (status == RNL_EFULL)
		return conn_refuse_copy(conn);
	if (status == RNL_EINVAL)
		return conn_refuse_message(conn, shared->id, shared->len);
	return status == RNL_OK ? conn_push(conn, frame) : status;
}

void shared_free(struct rnl_shared *shared)
{
	struct framed *framed = shared->first.next;

	while (framed != NULL) {
		struct framed *next = framed->next;

		shared_frame_release(&framed->frame);
		free(framed);
		framed = next;
	}
	shared_frame_release(&shared->first.frame);
	free(shared);
}
