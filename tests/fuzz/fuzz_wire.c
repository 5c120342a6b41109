/*
 * Any bytes through every framing's decoder, frame after frame, under a few
 * limits. What must hold is what wire/framing.h says: no read beyond the input,
 * the same frames however the input is cut, and bytes that encode back to
 * themselves.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/panic.h"
#include "wire/framing.h"

static const struct framing *const framings[] = { &framing_tlv, &framing_ltv };
static const size_t limits[] = { 0, 64, UINT32_MAX };

#define N_FRAMINGS (sizeof(framings) / sizeof(framings[0]))
#define N_LIMITS (sizeof(limits) / sizeof(limits[0]))

/* Each prefix of an input is decoded, so the work grows with the square of its length. */
#define MAX_INPUT 2048

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input, in memory that ends where it ends. */
static uint8_t *copy_of(const uint8_t *in, size_t len)
{
	uint8_t *copy = malloc(len == 0 ? 1 : len);

	if (copy == NULL)
		abort();
	if (len > 0)
		memcpy(copy, in, len);
	return copy;
}

static void check_frame(
    const struct framing *framing, const uint8_t *in, size_t len, const struct frame *frame)
{
	uint8_t *out;

	CHECK(frame->len <= len && frame->size == frame->len + framing_overhead(framing));
	CHECK(frame->size <= len);
	CHECK(frame->payload >= in && frame->payload + frame->len <= in + frame->size);
	out = malloc(frame->len + framing_overhead(framing));
	if (out == NULL)
		abort();
	framing_encode(framing, out, frame->id, frame->payload, frame->len);
	CHECK(memcmp(out, in, frame->size) == 0);
	free(out);
}

/*
 * Decode every shorter part of the input, each at the end of allocated memory. A part says the
 * same as the whole once it holds what decides it, and before that asks for more.
 */
static void check_parts(const struct framing *framing, const uint8_t *in, size_t len,
    size_t max_payload, enum decode whole, const struct frame *frame)
{
	size_t longest = whole == DECODE_FRAME ? frame->size : len;
	uint8_t *room = copy_of(in, longest);
	bool is_decided = false;

	for (size_t part_len = 0; part_len <= longest; part_len++) {
		uint8_t *part = room + longest - part_len;
		struct frame found;
		enum decode said;

		memmove(part, in, part_len);
		said = framing->decode(part, part_len, max_payload, &found);
		CHECK(said == whole || (said == DECODE_MORE && !is_decided));
		if (said == DECODE_MORE)
			continue;
		is_decided = true;
		CHECK(said != DECODE_FRAME || part_len == frame->size);
		if (said == DECODE_FRAME || said == DECODE_TOO_LONG)
			CHECK(found.len == frame->len && found.id == frame->id);
	}
	CHECK(is_decided == (whole != DECODE_MORE));
	free(room);
}

/* Decode and check what stands at the start of the input. Returns its size; 0: no frame. */
static size_t check_one(
    const struct framing *framing, const uint8_t *data, size_t len, size_t max_payload)
{
	uint8_t *in = copy_of(data, len);
	struct frame frame = { 0 };
	enum decode said = framing->decode(in, len, max_payload, &frame);

	CHECK(said >= DECODE_FRAME && said <= DECODE_BAD);
	if (said == DECODE_FRAME) {
		CHECK(frame.len <= max_payload);
		check_frame(framing, in, len, &frame);
	}
	if (said == DECODE_TOO_LONG)
		CHECK(frame.len > max_payload);
	check_parts(framing, in, len, max_payload, said, &frame);
	free(in);
	return said == DECODE_FRAME ? frame.size : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size > MAX_INPUT)
		return 0;
	for (size_t i = 0; i < N_FRAMINGS * N_LIMITS; i++) {
		const struct framing *framing = framings[i / N_LIMITS];
		size_t at = 0, taken;

		do {
			taken = check_one(framing, data + at, size - at, limits[i % N_LIMITS]);
			at += taken;
		} while (taken > 0);
	}
	return 0;
}
