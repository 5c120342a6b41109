/*
 * Frames with a length in a field of theirs, as many protocols have them, described
 * by the parameters of Netty's LengthFieldBasedFrameDecoder, and by where the id is:
 *
 *     0        offset      end           strip
 *     |  ...   |  length   |  ...        |  payload ...          |
 *                          |<-- value of the field + adjustment ->|
 *
 * end is offset + length. The first strip bytes of a frame are not in the payload.
 * They are made anew for a frame that is sent: 0, but for the length and the id. Where
 * strip leaves a part of the header in the payload, a payload that is sent begins with
 * that part, and the length and the id are written over what it has there. So any
 * frame whose stripped bytes are 0 beside these two fields comes out of its payload
 * again.
 */
#ifndef RUNNEL_WIRE_LENGTH_FIELD_H
#define RUNNEL_WIRE_LENGTH_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "wire/framing.h"

/* An unsigned number in the frame. */
struct number_field {
	uint32_t offset;
	uint32_t size; /* bytes, up to 8 */
	bool is_little;
};

struct length_field_rules {
	struct number_field length; /* of 1 to 8 bytes */
	struct number_field id;     /* of 0 to 4 bytes; 0: the id is not on the wire */
	int32_t adjustment;
	uint32_t strip;
	uint32_t fixed_id; /* of all that is received when it is not on the wire */
};

struct length_field {
	struct framing framing; /* first */
	struct length_field_rules rules;
	size_t least;         /* bytes of the smallest frame: what it must reach */
	int64_t base;         /* size of a frame = value of the field + base */
	uint64_t least_value; /* of the field, so that the frame has the least size */
};

/*
 * Whatever the rules are, decoding and encoding stay within what they are given. There are
 * frames only where the greatest length makes one that reaches strip and the ends of both fields.
 */
void length_field_init(struct length_field *field, const struct length_field_rules *rules);

#endif
