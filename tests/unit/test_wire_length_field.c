/*
 * Length fields: the examples of Netty, TLV and LTV as such, and what is at the edges.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "wire/length_field.h"

#include "test_wire.h"

static struct length_field field;

static void make(const struct length_field_rules *rules)
{
	length_field_init(&field, rules);
}

static enum decode decode(
    const uint8_t *in, size_t in_len, size_t max_payload, struct frame *frame)
{
	return field.framing.decode(&field.framing, in, in_len, max_payload, frame);
}

#define BYTES(...)          \
	(const uint8_t[])   \
	{                   \
		__VA_ARGS__ \
	}
#define TEXT 'H', 'E', 'L', 'L', 'O', ',', ' ', 'W', 'O', 'R', 'L', 'D'

/* The seven of the manual of Netty's LengthFieldBasedFrameDecoder, in its order. */
static const struct {
	uint32_t offset, size;
	int32_t adjustment;
	uint32_t strip;
	uint8_t frame[20];
	size_t frame_size, payload_len;
} netty[] = {
	{ 0, 2, 0, 0, { 0x00, 0x0c, TEXT }, 14, 14 },
	{ 0, 2, 0, 2, { 0x00, 0x0c, TEXT }, 14, 12 },
	{ 0, 2, -2, 0, { 0x00, 0x0e, TEXT }, 14, 14 },
	{ 2, 3, 0, 0, { 0xca, 0xfe, 0x00, 0x00, 0x0c, TEXT }, 17, 17 },
	{ 0, 3, 2, 0, { 0x00, 0x00, 0x0c, 0xca, 0xfe, TEXT }, 17, 17 },
	{ 1, 2, 1, 3, { 0xca, 0x00, 0x0c, 0xfe, TEXT }, 16, 13 },
	{ 1, 2, -3, 3, { 0xca, 0x00, 0x10, 0xfe, TEXT }, 16, 13 },
};

START_TEST(examples_of_netty_decode_as_there)
{
	const uint8_t *in = netty[_i].frame;
	struct frame frame = { 0 };

	make(&(struct length_field_rules){
	    .length = { .offset = netty[_i].offset, .size = netty[_i].size },
	    .adjustment = netty[_i].adjustment,
	    .strip = netty[_i].strip,
	    .fixed_id = 9 });
	ck_assert_int_eq(decode(in, sizeof(netty[_i].frame), 100, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.size, netty[_i].frame_size);
	ck_assert_uint_eq(frame.len, netty[_i].payload_len);
	ck_assert_ptr_eq(frame.payload, in + netty[_i].strip);
	ck_assert_uint_eq(frame.id, 9);
	ck_assert_int_eq(decode(in, frame.size - 1, 100, &frame), DECODE_MORE);
	ck_assert_int_eq(decode(in, sizeof(netty[_i].frame), netty[_i].payload_len - 1, &frame),
	    DECODE_TOO_LONG);
}
END_TEST

/* And back: what was stripped is 0 then, but for the length. */
START_TEST(examples_of_netty_encode_to_themselves)
{
	uint8_t expected[20], out[20];
	size_t strip = netty[_i].strip, end = netty[_i].offset + netty[_i].size;

	make(&(struct length_field_rules){
	    .length = { .offset = netty[_i].offset, .size = netty[_i].size },
	    .adjustment = netty[_i].adjustment,
	    .strip = netty[_i].strip });
	memcpy(expected, netty[_i].frame, sizeof(expected));
	for (size_t i = 0; i < strip; i++) {
		if (i < netty[_i].offset || i >= end)
			expected[i] = 0;
	}
	memset(out, 0x55, sizeof(out));
	ck_assert_uint_eq(framing_encode(&field.framing, out, 1234, netty[_i].frame + strip,
			      netty[_i].payload_len),
	    netty[_i].frame_size);
	ck_assert_mem_eq(out, expected, netty[_i].frame_size);
}
END_TEST

static const struct length_field_rules as_tlv = {
	.id = { 0, 4, false }, .length = { 4, 4, false }, .strip = 8
};
static const struct length_field_rules as_ltv = {
	.length = { 0, 4, true }, .id = { 4, 4, true }, .adjustment = 4, .strip = 8
};

static void expect_same(const struct framing *known, const uint8_t *in, size_t len, size_t max)
{
	struct frame frame = { 0 }, known_frame = { 0 };
	enum decode said = decode(in, len, max, &frame);

	ck_assert_int_eq(said, known->decode(known, in, len, max, &known_frame));
	if (said == DECODE_MORE)
		return;
	ck_assert_uint_eq(frame.id, known_frame.id);
	ck_assert_uint_eq(frame.len, known_frame.len);
	if (said != DECODE_FRAME)
		return;
	ck_assert_uint_eq(frame.size, known_frame.size);
	ck_assert_ptr_eq(frame.payload, known_frame.payload);
}

/* Both are nothing but length fields, so that they are known answers for any input. */
START_TEST(tlv_and_ltv_are_length_fields)
{
	const struct framing *known = _i == 0 ? &framing_tlv : &framing_ltv;
	uint32_t state = 1;

	make(_i == 0 ? &as_tlv : &as_ltv);
	ck_assert_uint_eq(field.framing.head, known->head);
	ck_assert_uint_eq(field.framing.max_payload, known->max_payload);
	for (int round = 0; round < 3000; round++) {
		uint8_t in[24], out[2][24];
		size_t len;

		for (size_t i = 0; i < sizeof(in); i++) {
			state = state * 1664525u + 1013904223u;
			/* Mostly small numbers, or no length would ever fit. */
			in[i] = (uint8_t)(state >> (state & 0x700 ? 31 : 24));
		}
		len = state >> 16 & 15;
		expect_same(known, in, len + 8, state >> 8 & 31);
		expect_same(known, in, len, UINT32_MAX);
		ck_assert_uint_eq(framing_encode(&field.framing, out[0], state, in, len),
		    framing_encode(known, out[1], state, in, len));
		ck_assert_mem_eq(out[0], out[1], len + 8);
	}
}
END_TEST

/* Each size, in both orders: the number 0x...0203 at offset 1, and a frame of one byte less. */
START_TEST(numbers_have_the_size_and_order_of_the_rules)
{
	static const uint32_t sizes[] = { 1, 2, 3, 4, 8 };

	for (int i = 0; i < 2 * N_OF(sizes); i++) {
		uint32_t size = sizes[i / 2];
		bool is_little = i % 2 == 1;
		uint8_t frame[1 + 8 + 3] = { 0 }, out[sizeof(frame)];
		struct frame found = { 0 };

		make(&(struct length_field_rules){
		    .length = { 1, size, is_little }, .strip = 1 + size });
		frame[is_little ? 1 : size] = 3;
		memcpy(frame + 1 + size, "abc", 3);
		ck_assert_int_eq(decode(frame, sizeof(frame), 3, &found), DECODE_FRAME);
		ck_assert_uint_eq(found.len, 3);
		ck_assert_uint_eq(found.size, 1 + size + 3);
		ck_assert_uint_eq(framing_encode(&field.framing, out, 0, "abc", 3), found.size);
		ck_assert_mem_eq(out, frame, found.size);
	}
}
END_TEST

START_TEST(id_has_the_size_and_order_of_the_rules)
{
	static const uint32_t ids[] = { 0, 0x01, 0x0102, 0x010203, 0x01020304 };

	for (uint32_t i = 0; i < 8; i++) {
		uint32_t size = 1 + i / 2;
		bool is_little = i % 2 == 1;
		uint8_t out[16];
		struct frame frame = { 0 };

		make(&(struct length_field_rules){ .length = { 0, 1, false },
		    .id = { 2, size, is_little },
		    .adjustment = -1,
		    .strip = 8 });
		ck_assert_uint_eq(framing_encode(&field.framing, out, ids[size], "abc", 3), 11);
		ck_assert_uint_eq(out[0], 11);
		ck_assert_uint_eq(out[is_little ? 1 + size : 2], 1);
		ck_assert_int_eq(decode(out, 11, 3, &frame), DECODE_FRAME);
		ck_assert_uint_eq(frame.id, ids[size]);
		/* One more than it holds is not cut. */
		if (size < 4)
			ck_assert_uint_eq(framing_encode(&field.framing, out,
					      UINT32_C(1) << 8 * size, "abc", 3),
			    0);
	}
}
END_TEST

START_TEST(fixed_id_is_received_and_any_is_sent)
{
	uint8_t out[8];
	struct frame frame = { 0 };

	make(&(struct length_field_rules){
	    .length = { 0, 2, false }, .strip = 2, .fixed_id = 77 });
	ck_assert_uint_eq(framing_encode(&field.framing, out, UINT32_MAX, "abc", 3), 5);
	ck_assert_mem_eq(out, "\0\3abc", 5);
	ck_assert_int_eq(decode(out, 5, 3, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.id, 77);
}
END_TEST

/* The id is behind what is stripped, in the payload. */
START_TEST(id_in_the_payload_is_written_over)
{
	const uint8_t *in = BYTES(0, 4, 1, 2, 'a', 'b');
	uint8_t out[6];
	struct frame frame = { 0 };

	make(&(struct length_field_rules){
	    .length = { 0, 2, false }, .id = { 2, 2, false }, .strip = 2 });
	ck_assert_int_eq(decode(in, 6, 10, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.id, 0x0102);
	ck_assert_uint_eq(frame.len, 4);
	ck_assert_uint_eq(framing_encode(&field.framing, out, 0x0506, frame.payload, 4), 6);
	ck_assert_mem_eq(out, "\0\4\5\6ab", 6);
	/* A payload without room for it cannot be sent, and a frame without it is none. */
	ck_assert_uint_eq(framing_encode(&field.framing, out, 0x0506, "a", 1), 0);
	ck_assert_int_eq(decode(BYTES(0, 1, 5), 3, 10, &frame), DECODE_BAD);
	ck_assert_ptr_nonnull(frame.why);
}
END_TEST

START_TEST(greatest_lengths_do_not_wrap)
{
	static const uint8_t in[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 'a',
		'b' };
	static const int32_t adjustments[] = { 0, 1, 8, 65536, -1, -8, -9, -65536 };
	static const uint32_t strips[] = { 0, 4, 8, 9 };

	for (int i = 0; i < N_OF(adjustments) * N_OF(strips) * 2; i++) {
		struct frame frame = { 0 };
		uint32_t size = i % 2 == 0 ? 4 : 8;

		make(&(struct length_field_rules){ .length = { 0, size, false },
		    .adjustment = adjustments[i / 2 / N_OF(strips)],
		    .strip = strips[i / 2 % N_OF(strips)] });
		ck_assert_int_eq(decode(in, sizeof(in), 4096, &frame), DECODE_TOO_LONG);
		ck_assert_uint_gt(frame.len, UINT32_MAX / 2);
		/* Under no limit at all the input is just not there yet. */
		ck_assert_int_eq(decode(in, sizeof(in), SIZE_MAX, &frame), DECODE_MORE);
	}
}
END_TEST

/* 2^64 - 1 and less, so that the size of the frame is just beyond what a size can be. */
START_TEST(sizes_around_2_to_the_64_are_too_long)
{
	uint8_t in[16];
	struct frame frame = { 0 };

	make(&(struct length_field_rules){
	    .length = { 0, 8, false }, .adjustment = 16, .strip = 0 });
	memset(in, 0xff, sizeof(in));
	for (unsigned low = 0xd0; low <= 0xff; low++) {
		in[7] = (uint8_t)low;
		ck_assert_int_eq(decode(in, sizeof(in), 4096, &frame), DECODE_TOO_LONG);
		ck_assert_uint_gt(frame.len, UINT64_MAX - 0x40);
	}
}
END_TEST

START_TEST(length_that_ends_within_the_header_is_bad)
{
	uint8_t in[16] = { 0 };
	struct frame frame = { 0 };

	/* The length is that of the whole frame: 4 is the least. */
	make(&(struct length_field_rules){
	    .length = { 0, 4, false }, .adjustment = -4, .strip = 4 });
	for (uint8_t value = 0; value < 4; value++) {
		in[3] = value;
		ck_assert_int_eq(decode(in, 3, 10, &frame), DECODE_MORE);
		ck_assert_int_eq(decode(in, 4, 10, &frame), DECODE_BAD);
		ck_assert_str_eq(
		    frame.why, "the length of a frame is less than that of its header");
	}
	in[3] = 4;
	ck_assert_int_eq(decode(in, 4, 10, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.len, 0);
	ck_assert_uint_eq(frame.size, 4);
	/* The strip reaches beyond: then that is the least. */
	make(&(struct length_field_rules){
	    .length = { 0, 4, false }, .adjustment = -4, .strip = 6 });
	in[3] = 5;
	ck_assert_int_eq(decode(in, 4, 10, &frame), DECODE_BAD);
	in[3] = 6;
	ck_assert_int_eq(decode(in, 5, 10, &frame), DECODE_MORE);
	ck_assert_int_eq(decode(in, 6, 10, &frame), DECODE_FRAME);
}
END_TEST

/* With an adjustment no length makes a frame that ends before it. */
START_TEST(payload_below_the_adjustment_cannot_be_sent)
{
	uint8_t out[16];
	struct frame frame = { 0 };

	make(&(struct length_field_rules){
	    .length = { 0, 2, false }, .adjustment = 3, .strip = 2 });
	ck_assert_uint_eq(field.framing.min_payload, 3);
	ck_assert_uint_eq(framing_encode(&field.framing, out, 0, "ab", 2), 0);
	ck_assert_uint_eq(framing_encode(&field.framing, out, 0, "abc", 3), 5);
	ck_assert_mem_eq(out, "\0\0abc", 5);
	ck_assert_int_eq(decode(out, 5, 10, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.len, 3);
}
END_TEST

START_TEST(longest_payload_is_what_the_field_can_say)
{
	make(&(struct length_field_rules){ .length = { 0, 1, false }, .strip = 1 });
	ck_assert_uint_eq(field.framing.max_payload, 255);
	make(&(struct length_field_rules){
	    .length = { 0, 1, false }, .adjustment = -1, .strip = 1 });
	ck_assert_uint_eq(field.framing.max_payload, 254);
	make(&(struct length_field_rules){
	    .length = { 0, 2, false }, .adjustment = 100, .strip = 2 });
	ck_assert_uint_eq(field.framing.max_payload, 65635);
	make(&(struct length_field_rules){ .length = { 0, 2, false }, .strip = 0 });
	ck_assert_uint_eq(field.framing.max_payload, 65537);
	make(&(struct length_field_rules){ .length = { 0, 8, false }, .strip = 8 });
	ck_assert_uint_eq(field.framing.max_payload, UINT32_MAX);
	make(&(struct length_field_rules){
	    .length = { 0, 1, false }, .adjustment = -300, .strip = 1 });
	ck_assert_uint_eq(field.framing.max_payload, 0);
}
END_TEST

START_TEST(ids_are_what_the_field_can_say)
{
	static const uint32_t greatest[] = { 0, 0xff, 0xffff, 0xffffff, UINT32_MAX };
	struct length_field_rules rules = {
		.length = { 0, 2, false }, .strip = 2, .adjustment = 4, .fixed_id = 7
	};

	make(&rules);
	ck_assert_uint_eq(field.framing.first_id, 7);
	ck_assert_uint_eq(field.framing.last_id, 7);
	for (uint32_t size = 1; size <= 4; size++) {
		rules.id = (struct number_field){ 2, size, false };
		make(&rules);
		ck_assert_uint_eq(field.framing.first_id, 0);
		ck_assert_uint_eq(field.framing.last_id, greatest[size]);
	}
}
END_TEST

/* Rules that leave no frame at all are kept from here by the conf; they do no harm either. */
START_TEST(rules_without_a_frame_find_none)
{
	uint8_t in[300];
	struct frame frame = { 0 };

	make(&(struct length_field_rules){
	    .length = { 0, 1, false }, .adjustment = -300, .strip = 1 });
	for (unsigned value = 0; value < 256; value++) {
		memset(in, (int)value, sizeof(in));
		ck_assert_int_eq(decode(in, sizeof(in), 100, &frame), DECODE_BAD);
	}
}
END_TEST

TCase *length_field_tests(void)
{
	TCase *test = tcase_create("length_field");

	tcase_add_loop_test(test, examples_of_netty_decode_as_there, 0, N_OF(netty));
	tcase_add_loop_test(test, examples_of_netty_encode_to_themselves, 0, N_OF(netty));
	tcase_add_loop_test(test, tlv_and_ltv_are_length_fields, 0, 2);
	tcase_add_test(test, numbers_have_the_size_and_order_of_the_rules);
	tcase_add_test(test, id_has_the_size_and_order_of_the_rules);
	tcase_add_test(test, fixed_id_is_received_and_any_is_sent);
	tcase_add_test(test, id_in_the_payload_is_written_over);
	tcase_add_test(test, greatest_lengths_do_not_wrap);
	tcase_add_test(test, sizes_around_2_to_the_64_are_too_long);
	tcase_add_test(test, length_that_ends_within_the_header_is_bad);
	tcase_add_test(test, payload_below_the_adjustment_cannot_be_sent);
	tcase_add_test(test, longest_payload_is_what_the_field_can_say);
	tcase_add_test(test, ids_are_what_the_field_can_say);
	tcase_add_test(test, rules_without_a_frame_find_none);
	return test;
}
