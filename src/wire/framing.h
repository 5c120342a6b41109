/*
 * Framings: bytes <-> frames. Pure functions on memory, no I/O, no allocation.
 * A decoder looks at the start of the input and says what stands there; the
 * caller consumes frame.size bytes and calls again. Any split of the input gives
 * the same frames.
 */
#ifndef RUNNEL_WIRE_FRAMING_H
#define RUNNEL_WIRE_FRAMING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A decoded frame; payload is borrowed from the input. */
struct frame {
	const uint8_t *payload;
	size_t len;  /* of the payload */
	size_t size; /* of the whole frame on the wire */
	uint32_t id;
};

enum decode {
	DECODE_FRAME,    /* *frame is set */
	DECODE_MORE,     /* the input ends within a frame */
	DECODE_TOO_LONG, /* the frame's payload is longer than max_payload; frame.id (where it
			    is known) and frame.len are set */
	DECODE_BAD,      /* the input can be no frame */
};

struct framing {
	const char *name; /* as the conf spells it */

	/*
	 * An announced length is compared with max_payload before anything is added
	 * to it, so no arithmetic here can wrap.
	 */
	enum decode (*decode)(
	    const uint8_t *in, size_t in_len, size_t max_payload, struct frame *frame);

	/*
	 * Make a frame of the payload of len bytes that stands at frame + head: write
	 * what comes before and behind it. The caller has checked len against max_payload.
	 */
	void (*seal)(uint8_t *frame, uint32_t id, size_t len);

	size_t head, tail;  /* bytes of a frame before and behind its payload */
	size_t max_payload; /* what a length on the wire can say */
};

/* Bytes that a frame has beyond its payload. */
static inline size_t framing_overhead(const struct framing *framing)
{
	return framing->head + framing->tail;
}

/* Write the frame of a payload, which may be NULL when len is 0, to out. */
static inline void framing_encode(
    const struct framing *framing, uint8_t *out, uint32_t id, const void *payload, size_t len)
{
	if (len > 0)
		memcpy(out + framing->head, payload, len);
	framing->seal(out, id, len);
}

/* u32 big-endian id, u32 big-endian length, payload: zinx's TLV pack, its default. */
extern const struct framing framing_tlv;

/* u32 little-endian length, u32 little-endian id, payload: zinx's LTV pack. */
extern const struct framing framing_ltv;

#endif
