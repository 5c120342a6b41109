/*
 * Framings: bytes <-> frames. Pure functions on memory, no I/O, no allocation.
 * A decoder looks at the start of the input and says what stands there; the
 * caller consumes frame.size bytes and calls again. Any split of the input gives
 * the same frames.
 *
 * A framing that has parameters is a struct of its own, which begins with its
 * struct framing; one that has none is a constant. Nothing in it changes while it
 * is used.
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
	const char *why; /* with DECODE_BAD: what is wrong, for people; good until the next */
};

enum decode {
	DECODE_FRAME,    /* *frame is set */
	DECODE_CORRUPT,  /* a whole frame whose checksum is wrong: size, id and len are set */
	DECODE_MORE,     /* the input ends within a frame */
	DECODE_TOO_LONG, /* the frame's payload is longer than max_payload; frame.id (where it
			    is known) and frame.len (or a part of it that is too long already)
			    are set */
	DECODE_BAD,      /* the input can be no frame; frame.why is set */
};

#define FRAMING_TERMS_SIZE 128

struct framing {
	const char *name; /* as the conf spells it */

	/*
	 * An announced length is compared with max_payload before anything is added
	 * to it, so no arithmetic here can wrap.
	 */
	enum decode (*decode)(const struct framing *framing, const uint8_t *in, size_t in_len,
	    size_t max_payload, struct frame *frame);

	/*
	 * Make a frame of the payload of len bytes that stands at frame + head: write
	 * what comes before and behind it. The caller has checked len against the framing's
	 * max_payload, and has room for framing_overhead() bytes more than len. Returns the
	 * size of the frame; 0: the framing has no way to say this id or this payload.
	 */
	size_t (*seal)(const struct framing *framing, uint8_t *frame, uint32_t id, size_t len);

	size_t head, tail;  /* bytes of a frame before and behind its payload, at most */
	size_t max_payload; /* what a length on the wire can say */
	size_t min_payload; /* a shorter one makes no frame */
	/*
	 * The ids that decode finds. Where they are more than one, seal can say no greater id; where
	 * it is one, the id is not on the wire, and seal takes any.
	 */
	uint32_t first_id, last_id;

	/*
	 * The parameters, as a text: frames of one framing are those of another when their names
	 * and terms are the same.
	 */
	char terms[FRAMING_TERMS_SIZE];
};

/* Bytes that a frame has beyond its payload, at most. */
static inline size_t framing_overhead(const struct framing *framing)
{
	return framing->head + framing->tail;
}

/*
 * Write the frame of a payload, which may be NULL when len is 0, to out. Returns what seal does.
 */
static inline size_t framing_encode(
    const struct framing *framing, uint8_t *out, uint32_t id, const void *payload, size_t len)
{
	if (len > 0)
		memcpy(out + framing->head, payload, len);
	return framing->seal(framing, out, id, len);
}

/* u32 big-endian id, u32 big-endian length, payload: zinx's TLV pack, its default. */
extern const struct framing framing_tlv;

/* u32 little-endian length, u32 little-endian id, payload: zinx's LTV pack. */
extern const struct framing framing_ltv;

#endif
