/*
 * Length fields: rules from the first bytes of the input, also such as no conf may have,
 * and then any bytes.
 */
#include "config.h"

#include <string.h>

#include "base/panic.h"
#include "wire/length_field.h"

#include "framing.h"

#define N_RULE_BYTES 8

/* Small numbers, so that the input has what they are about. */
static struct length_field_rules make_rules(const uint8_t *bytes)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 8 };

	return (struct length_field_rules){
		.length = { .offset = bytes[0] % 32,
		    .size = sizes[bytes[1] % 5],
		    .is_little = bytes[1] & 0x80 },
		.id = { .offset = bytes[2] % 32,
		    .size = bytes[3] % 5,
		    .is_little = bytes[3] & 0x80 },
		/* A few are large. */
		.adjustment = (int8_t)bytes[4] * (bytes[5] % 8 == 0 ? 512 : 1),
		.strip = bytes[6] % 48,
		.fixed_id = bytes[7],
	};
}

/* Is byte i of a frame in this field? */
static bool is_in(const struct number_field *field, size_t i)
{
	return i >= field->offset && i - field->offset < field->size;
}

/* What was stripped is 0, but for the fields, which are written one over the other. */
static void check(const struct framing *framing, const uint8_t *in, const struct frame *frame)
{
	const struct length_field_rules *rules = &((const struct length_field *)framing)->rules;
	uint8_t out[FUZZ_MAX_INPUT];
	size_t size;

	CHECK(frame->size == rules->strip + frame->len);
	CHECK(frame->payload == in + rules->strip);
	size = framing_encode(framing, out, frame->id, frame->payload, frame->len);
	CHECK(size == frame->size);
	for (size_t i = 0; i < size; i++) {
		if (is_in(&rules->length, i) || is_in(&rules->id, i) || i >= rules->strip)
			CHECK(out[i] == in[i]);
		else
			CHECK(out[i] == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct length_field_rules rules;
	struct length_field field;

	if (size < N_RULE_BYTES)
		return 0;
	rules = make_rules(data);
	length_field_init(&field, &rules);
	fuzz_framing(&field.framing, data + N_RULE_BYTES, size - N_RULE_BYTES, check);
	return 0;
}
