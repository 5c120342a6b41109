#include "config.h"

#include <stdlib.h>

#include "conn/parts.h"
#include "conn/shared.h"
#include "wire/framing.h"

/* More than there are framings. */
#define MAX_FRAMINGS 16

struct rnl_shared {
	struct chunk_pool *pool; /* borrowed */
	size_t len;              /* of the payload */
	uint32_t id;
	unsigned int n_frames;
	struct {
		const struct framing *framing;
		struct shared_frame *frame; /* a reference */
		const uint8_t *payload;     /* in the frame */
	} frames[MAX_FRAMINGS];
};

static enum rnl_status add_frame(
    struct rnl_shared *shared, const struct framing *framing, const void *payload)
{
	struct shared_frame *frame;
	enum rnl_status status;

	if (shared->len > framing->max_payload)
		return RNL_ETOOBIG;
	status =
	    shared_frame_new(shared->pool, shared->len + framing_overhead(framing), &frame);
	if (status != RNL_OK)
		return status;
	framing_encode(framing, frame->bytes, shared->id, payload, shared->len);
	shared->frames[shared->n_frames].framing = framing;
	shared->frames[shared->n_frames].frame = frame;
	shared->frames[shared->n_frames].payload = frame->bytes + framing->head;
	shared->n_frames++;
	return RNL_OK;
}

struct rnl_shared *shared_new(
    struct conn_table *table, uint32_t id, const void *payload, size_t len)
{
	struct rnl_shared *shared = calloc(1, sizeof(*shared));

	if (shared == NULL)
		return NULL;
	shared->pool = &table->pool;
	shared->id = id;
	shared->len = len;
	/* The first frame keeps the payload for those of other framings. */
	if (len > UINT32_MAX || add_frame(shared, &framing_tlv, payload) != RNL_OK) {
		free(shared);
		return NULL;
	}
	return shared;
}

static enum rnl_status find_frame(
    struct rnl_shared *shared, const struct framing *framing, struct shared_frame **frame)
{
	enum rnl_status status;

	for (unsigned int i = 0; i < shared->n_frames; i++) {
		if (shared->frames[i].framing == framing) {
			*frame = shared->frames[i].frame;
			return RNL_OK;
		}
	}
	if (shared->n_frames == MAX_FRAMINGS)
		return RNL_ENOMEM;
	status = add_frame(shared, framing, shared->frames[0].payload);
	if (status == RNL_OK)
		*frame = shared->frames[shared->n_frames - 1].frame;
	return status;
}

enum rnl_status conn_send_shared(struct rnl_conn *conn, struct rnl_shared *shared)
{
	const struct framing *framing = conn->listener->framing;
	struct shared_frame *frame;
	enum rnl_status status = find_frame(shared, framing, &frame);

	if (status != RNL_OK)
		return status == RNL_EFULL ? RNL_ENOMEM : status;
	return conn_push(conn, frame, shared->len + framing_overhead(framing));
}

void shared_free(struct rnl_shared *shared)
{
	for (unsigned int i = 0; i < shared->n_frames; i++)
		shared_frame_release(&shared->frames[i].frame);
	free(shared);
}
