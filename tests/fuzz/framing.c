#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/panic.h"

#include "framing.h"

/* The second is small, so that short inputs, which are fast, go beyond it. */
static const size_t limits[] = { 0, 16, UINT32_MAX };

#define N_LIMITS (sizeof(limits) / sizeof(limits[0]))

/* More than any framing here has beyond its payload. */
#define MAX_OVERHEAD 64

#define MEMORY_SIZE (FUZZ_MAX_INPUT + MAX_OVERHEAD)

/*
 * The last size bytes of memory, so that ASan sees what goes beyond them. It is allocated once,
 * for allocations would take most of the time.
 */
static uint8_t *place(uint8_t **memory, size_t size)
{
	if (*memory == NULL)
		*memory = malloc(MEMORY_SIZE);
	if (*memory == NULL)
		abort();
	CHECK(size <= MEMORY_SIZE);
	return *memory + MEMORY_SIZE - size;
}

static const uint8_t *place_copy(uint8_t **memory, const uint8_t *in, size_t len)
{
	uint8_t *at = place(memory, len);

	if (len > 0)
		memcpy(at, in, len);
	return at;
}

/* Where there is as much room as it may need. *size 0: there is no frame. */
static const uint8_t *encode(
    const struct framing *framing, const struct frame *frame, size_t *size)
{
	static uint8_t *memory;
	size_t most = frame->len + framing_overhead(framing);
	uint8_t *out = place(&memory, most);

	*size = framing_encode(framing, out, frame->id, frame->payload, frame->len);
	CHECK(*size <= most);
	return out;
}

void fuzz_encodes_to_itself(
    const struct framing *framing, const uint8_t *in, const struct frame *frame)
{
	size_t size;
	const uint8_t *out = encode(framing, frame, &size);

	CHECK(size == frame->size && memcmp(out, in, size) == 0);
}

void fuzz_encodes_to_its_like(
    const struct framing *framing, const uint8_t *in, const struct frame *frame)
{
	struct frame again = { 0 };
	size_t size;
	const uint8_t *out = encode(framing, frame, &size);

	(void)in;
	if (size == 0)
		return;
	CHECK(framing->decode(framing, out, size, frame->len, &again) == DECODE_FRAME);
	CHECK(again.size == size && again.id == frame->id && again.len == frame->len);
	CHECK(memcmp(again.payload, frame->payload, frame->len) == 0);
}

static bool is_whole(enum decode said)
{
	return said == DECODE_FRAME || said == DECODE_CORRUPT;
}

/*
 * Decode every shorter part of the input, each at the end of allocated memory. A part says the
 * same as the whole once it holds what decides it, and before that asks for more.
 */
static void check_parts(const struct framing *framing, const uint8_t *in, size_t len,
    size_t max_payload, enum decode whole, const struct frame *frame)
{
	static uint8_t *memory;
	size_t longest = is_whole(whole) ? frame->size : len;
	bool is_decided = false;

	for (size_t part_len = 0; part_len <= longest; part_len++) {
		const uint8_t *part = place_copy(&memory, in, part_len);
		struct frame found = { 0 };
		enum decode said;

		said = framing->decode(framing, part, part_len, max_payload, &found);
		CHECK(said == whole || (said == DECODE_MORE && !is_decided));
		if (said == DECODE_MORE)
			continue;
		is_decided = true;
		CHECK(!is_whole(said) || part_len == frame->size);
		CHECK(said == DECODE_BAD || (found.len == frame->len && found.id == frame->id));
	}
	CHECK(is_decided == (whole != DECODE_MORE));
}

static void check_frame(const uint8_t *in, size_t len, size_t max_payload, enum decode said,
    const struct frame *frame)
{
	CHECK(frame->size > 0 && frame->size <= len && frame->len <= frame->size);
	CHECK(frame->len <= max_payload);
	if (said == DECODE_FRAME)
		CHECK(frame->payload >= in && frame->payload + frame->len <= in + frame->size);
}

/* Decode and check what stands at the start of the input. Returns its size; 0: no frame. */
static size_t check_one(const struct framing *framing, const uint8_t *data, size_t len,
    size_t max_payload, fuzz_frame_f *check)
{
	static uint8_t *memory;
	const uint8_t *in = place_copy(&memory, data, len);
	struct frame frame = { 0 };
	enum decode said = framing->decode(framing, in, len, max_payload, &frame);

	CHECK(said >= DECODE_FRAME && said <= DECODE_BAD);
	if (is_whole(said))
		check_frame(in, len, max_payload, said, &frame);
	if (said == DECODE_FRAME)
		check(framing, in, &frame);
	if (said == DECODE_TOO_LONG)
		CHECK(frame.len > max_payload);
	if (said == DECODE_BAD)
		CHECK(frame.why != NULL);
	check_parts(framing, in, len, max_payload, said, &frame);
	return is_whole(said) ? frame.size : 0;
}

void fuzz_framing(
    const struct framing *framing, const uint8_t *data, size_t size, fuzz_frame_f *check)
{
	if (size > FUZZ_MAX_INPUT)
		return;
	for (size_t i = 0; i < N_LIMITS; i++) {
		size_t at = 0, taken;

		do {
			taken = check_one(framing, data + at, size - at, limits[i], check);
			at += taken;
		} while (taken > 0);
	}
}
