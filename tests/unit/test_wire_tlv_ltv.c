/*
 * TLV and LTV against bytes written out by hand, and against themselves.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "wire/framing.h"

#include "test_wire.h"

static const struct framing *const framings[] = { &framing_tlv, &framing_ltv };
#define N_FRAMINGS ((int)(sizeof(framings) / sizeof(framings[0])))

/* id 0x01020304, payload "hello" */
static const uint8_t tlv_hello[] = { 1, 2, 3, 4, 0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o' };
static const uint8_t ltv_hello[] = { 5, 0, 0, 0, 4, 3, 2, 1, 'h', 'e', 'l', 'l', 'o' };
static const uint8_t *const hellos[] = { tlv_hello, ltv_hello };
#define HELLO_SIZE sizeof(tlv_hello)

/* The header of a frame with id 7 and a payload of 0xffffffff bytes. */
static const uint8_t tlv_huge[] = { 0, 0, 0, 7, 0xff, 0xff, 0xff, 0xff };
static const uint8_t ltv_huge[] = { 0xff, 0xff, 0xff, 0xff, 7, 0, 0, 0 };
static const uint8_t *const huges[] = { tlv_huge, ltv_huge };
#define HUGE_SIZE sizeof(tlv_huge)

START_TEST(names_and_limits)
{
	ck_assert_str_eq(framing_tlv.name, "tlv");
	ck_assert_str_eq(framing_ltv.name, "ltv");
	ck_assert_uint_eq(framing_overhead(framings[_i]), 8);
	ck_assert_uint_eq(framings[_i]->max_payload, UINT32_MAX);
}
END_TEST

START_TEST(bytes_are_those_of_the_protocol)
{
	uint8_t out[HELLO_SIZE];
	struct frame frame;

	ck_assert_uint_eq(
	    framing_encode(framings[_i], out, 0x01020304, "hello", 5), HELLO_SIZE);
	ck_assert_mem_eq(out, hellos[_i], HELLO_SIZE);
	ck_assert_int_eq(framings[_i]->decode(framings[_i], hellos[_i], HELLO_SIZE, 5, &frame),
	    DECODE_FRAME);
	ck_assert_uint_eq(frame.id, 0x01020304);
	ck_assert_uint_eq(frame.len, 5);
	ck_assert_uint_eq(frame.size, HELLO_SIZE);
	ck_assert_ptr_eq(frame.payload, hellos[_i] + 8);
}
END_TEST

START_TEST(every_part_of_a_frame_asks_for_more)
{
	for (size_t len = 0; len < HELLO_SIZE; len++) {
		uint8_t *part = malloc(len == 0 ? 1 : len); /* its end is watched by ASan */
		struct frame frame;

		ck_assert_ptr_nonnull(part);
		memcpy(part, hellos[_i], len);
		ck_assert_int_eq(
		    framings[_i]->decode(framings[_i], part, len, 5, &frame), DECODE_MORE);
		free(part);
	}
}
END_TEST

START_TEST(what_follows_a_frame_is_left_alone)
{
	uint8_t in[2 * HELLO_SIZE];
	struct frame frame;

	memcpy(in, hellos[_i], HELLO_SIZE);
	memcpy(in + HELLO_SIZE, hellos[_i], HELLO_SIZE);
	ck_assert_int_eq(
	    framings[_i]->decode(framings[_i], in, sizeof(in), 4096, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.size, HELLO_SIZE);
	ck_assert_int_eq(framings[_i]->decode(framings[_i], in + frame.size,
			     sizeof(in) - frame.size, 4096, &frame),
	    DECODE_FRAME);
	ck_assert_uint_eq(frame.size, HELLO_SIZE);
}
END_TEST

START_TEST(an_empty_payload_is_a_frame)
{
	uint8_t out[8];
	struct frame frame;

	ck_assert_uint_eq(framing_encode(framings[_i], out, UINT32_MAX, NULL, 0), 8);
	ck_assert_int_eq(
	    framings[_i]->decode(framings[_i], out, sizeof(out), 0, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.id, UINT32_MAX);
	ck_assert_uint_eq(frame.len, 0);
	ck_assert_uint_eq(frame.size, 8);
	ck_assert_ptr_nonnull(frame.payload);
}
END_TEST

START_TEST(one_byte_over_the_limit_is_too_long)
{
	struct frame frame;

	ck_assert_int_eq(framings[_i]->decode(framings[_i], hellos[_i], HELLO_SIZE, 4, &frame),
	    DECODE_TOO_LONG);
	ck_assert_uint_eq(frame.id, 0x01020304);
	ck_assert_uint_eq(frame.len, 5);
	/* The header is enough: nobody waits for a payload that will be refused. */
	ck_assert_int_eq(
	    framings[_i]->decode(framings[_i], hellos[_i], 8, 4, &frame), DECODE_TOO_LONG);
}
END_TEST

START_TEST(the_greatest_length_does_not_wrap)
{
	struct frame frame;

	ck_assert_int_eq(framings[_i]->decode(framings[_i], huges[_i], HUGE_SIZE, 4096, &frame),
	    DECODE_TOO_LONG);
	ck_assert_uint_eq(frame.id, 7);
	ck_assert_uint_eq(frame.len, UINT32_MAX);
	ck_assert_int_eq(
	    framings[_i]->decode(framings[_i], huges[_i], HUGE_SIZE, UINT32_MAX, &frame),
	    DECODE_MORE);
}
END_TEST

TCase *tlv_ltv_tests(void)
{
	TCase *framing = tcase_create("tlv_ltv");

	tcase_add_loop_test(framing, names_and_limits, 0, N_FRAMINGS);
	tcase_add_loop_test(framing, bytes_are_those_of_the_protocol, 0, N_FRAMINGS);
	tcase_add_loop_test(framing, every_part_of_a_frame_asks_for_more, 0, N_FRAMINGS);
	tcase_add_loop_test(framing, what_follows_a_frame_is_left_alone, 0, N_FRAMINGS);
	tcase_add_loop_test(framing, an_empty_payload_is_a_frame, 0, N_FRAMINGS);
	tcase_add_loop_test(framing, one_byte_over_the_limit_is_too_long, 0, N_FRAMINGS);
	tcase_add_loop_test(framing, the_greatest_length_does_not_wrap, 0, N_FRAMINGS);
	return framing;
}
