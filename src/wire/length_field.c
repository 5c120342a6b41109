#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire/length_field.h"

static uint64_t number_load(const struct number_field *field, const uint8_t *frame)
{
	const uint8_t *at = frame + field->offset;
	uint64_t value = 0;

	for (uint32_t i = 0; i < field->size; i++)
		value = value << 8 | at[field->is_little ? field->size - 1 - i : i];
	return value;
}

static void number_store(const struct number_field *field, uint8_t *frame, uint64_t value)
{
	uint8_t *at = frame + field->offset;

	for (uint32_t i = 0; i < field->size; i++) {
		at[field->is_little ? i : field->size - 1 - i] = (uint8_t)value;
		value >>= 8;
	}
}

static size_t number_end(const struct number_field *field)
{
	return field->size == 0 ? 0 : (size_t)field->offset + field->size;
}

static uint64_t number_max(const struct number_field *field)
{
	return field->size == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * field->size) - 1;
}

/* value + shift, which is not negative; or the greatest number where it would wrap. */
static uint64_t add(uint64_t value, int64_t shift)
{
	uint64_t sum = value + (uint64_t)shift;

	return shift > 0 && sum < value ? UINT64_MAX : sum;
}

static enum decode decode(const struct framing *framing, const uint8_t *in, size_t in_len,
    size_t max_payload, struct frame *frame)
{
	const struct length_field *field = (const struct length_field *)framing;
	const struct length_field_rules *rules = &field->rules;
	uint64_t value;

	if (in_len < number_end(&rules->length))
		return DECODE_MORE;
	value = number_load(&rules->length, in);
	if (value < field->least_value) {
		frame->why = "the length of a frame is less than that of its header";
		return DECODE_BAD;
	}
	if (in_len < field->least)
		return DECODE_MORE;
	frame->id =
	    rules->id.size > 0 ? (uint32_t)number_load(&rules->id, in) : rules->fixed_id;
	frame->len = add(value, field->base - rules->strip);
	if (frame->len > max_payload)
		return DECODE_TOO_LONG;
	if (frame->len > in_len - rules->strip)
		return DECODE_MORE;
	frame->payload = in + rules->strip;
	frame->size = rules->strip + frame->len;
	return DECODE_FRAME;
}

static size_t seal(const struct framing *framing, uint8_t *frame, uint32_t id, size_t len)
{
	const struct length_field *field = (const struct length_field *)framing;
	const struct length_field_rules *rules = &field->rules;
	size_t size = rules->strip + len;

	if (size < field->least || (int64_t)size < field->base)
		return 0;
	if (rules->id.size > 0 && id > number_max(&rules->id))
		return 0;
	memset(frame, 0, rules->strip);
	number_store(&rules->length, frame, (uint64_t)((int64_t)size - field->base));
	number_store(&rules->id, frame, id);
	return size;
}

static size_t max(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The longest payload whose length the field can say. */
static size_t longest(const struct length_field *field)
{
	uint64_t greatest = number_max(&field->rules.length);
	int64_t shift = field->base - field->rules.strip;

	if (shift < 0 && greatest < (uint64_t)-shift)
		return 0;
	greatest = add(greatest, shift);
	return greatest < UINT32_MAX ? (size_t)greatest : UINT32_MAX;
}

/* Every frame has its header, a part of which may belong to the payload. */
static size_t shortest(const struct length_field *field)
{
	size_t size = field->least;

	if (field->base > (int64_t)size)
		size = (size_t)field->base;
	return size - field->rules.strip;
}

static void write_terms(struct length_field *field)
{
	const struct length_field_rules *rules = &field->rules;
	const struct number_field *length = &rules->length, *id = &rules->id;

	snprintf(field->framing.terms, FRAMING_TERMS_SIZE,
	    "length %" PRIu32 "+%" PRIu32 "%s, id %" PRIu32 "+%" PRIu32 "%s or %" PRIu32
	    ", adjustment %" PRId32 ", strip %" PRIu32,
	    length->offset, length->size, length->is_little ? " little" : "", id->offset,
	    id->size, id->is_little ? " little" : "", rules->fixed_id, rules->adjustment,
	    rules->strip);
}

void length_field_init(struct length_field *field, const struct length_field_rules *rules)
{
	size_t end = number_end(&rules->length);

	*field = (struct length_field){
		.framing = {
			.name = "length-field",
			.decode = decode,
			.seal = seal,
			.head = rules->strip,
		},
		.rules = *rules,
		.least = max(max(end, number_end(&rules->id)), rules->strip),
		.base = (int64_t)end + rules->adjustment,
	};
	if ((int64_t)field->least > field->base)
		field->least_value = (uint64_t)((int64_t)field->least - field->base);
	field->framing.max_payload = longest(field);
	field->framing.min_payload = shortest(field);
	field->framing.first_id = rules->id.size > 0 ? 0 : rules->fixed_id;
	field->framing.last_id =
	    rules->id.size > 0 ? (uint32_t)number_max(&rules->id) : rules->fixed_id;
	write_terms(field);
}
