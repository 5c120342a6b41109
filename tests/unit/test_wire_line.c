/*
 * Lines.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "wire/line.h"

#include "test_wire.h"

static struct line lf, crlf;

static void set_up(void)
{
	line_init(&lf, 7, false);
	line_init(&crlf, 8, true);
}

static enum decode decode(const char *in, size_t max_payload, struct frame *frame)
{
	return lf.framing.decode(
	    &lf.framing, (const uint8_t *)in, strlen(in), max_payload, frame);
}

static void expect_line(const char *in, const char *payload)
{
	struct frame frame = { 0 };

	ck_assert_int_eq(decode(in, 10, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.id, 7);
	ck_assert_uint_eq(frame.len, strlen(payload));
	ck_assert_mem_eq(frame.payload, payload, frame.len);
	ck_assert_uint_eq(frame.size, (size_t)(strchr(in, '\n') - in) + 1);
}

START_TEST(lines_end_with_lf_or_crlf)
{
	expect_line("hello\n", "hello");
	expect_line("hello\r\n", "hello");
	expect_line("hello\nmore\n", "hello");
	expect_line("\n", "");
	expect_line("\r\n", "");
	expect_line("\n\n", "");
}
END_TEST

START_TEST(cr_within_a_line_is_kept)
{
	expect_line("a\rb\n", "a\rb");
	expect_line("a\r\r\n", "a\r");
	expect_line("\ra\n", "\ra");
}
END_TEST

START_TEST(nul_is_a_byte_like_others)
{
	static const uint8_t in[] = { 'a', 0, 'b', '\n' };
	struct frame frame = { 0 };

	ck_assert_int_eq(
	    lf.framing.decode(&lf.framing, in, sizeof(in), 10, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.len, 3);
}
END_TEST

START_TEST(no_line_is_longer_than_the_limit)
{
	struct frame frame = { 0 };

	expect_line("0123456789\n", "0123456789");
	expect_line("0123456789\r\n", "0123456789");
	/* What may still become a line of ten bytes is waited for, and nothing else. */
	ck_assert_int_eq(decode("0123456789", 10, &frame), DECODE_MORE);
	ck_assert_int_eq(decode("0123456789\r", 10, &frame), DECODE_MORE);
	ck_assert_int_eq(decode("0123456789a", 10, &frame), DECODE_TOO_LONG);
	ck_assert_uint_eq(frame.len, 11);
	ck_assert_int_eq(decode("0123456789\ra", 10, &frame), DECODE_TOO_LONG);
	ck_assert_int_eq(decode("0123456789\r\r\n", 10, &frame), DECODE_TOO_LONG);
	ck_assert_int_eq(decode("0123456789a\n", 10, &frame), DECODE_TOO_LONG);
	ck_assert_int_eq(decode("0123456789abc\n", 10, &frame), DECODE_TOO_LONG);
	ck_assert_uint_eq(frame.len, 11);
	ck_assert_int_eq(decode("a", 0, &frame), DECODE_TOO_LONG);
	ck_assert_int_eq(decode("\r\n", 0, &frame), DECODE_FRAME);
}
END_TEST

START_TEST(limits_near_the_greatest_size_do_not_wrap)
{
	struct frame frame = { 0 };

	for (size_t less = 0; less < 4; less++) {
		ck_assert_int_eq(decode("hello", SIZE_MAX - less, &frame), DECODE_MORE);
		ck_assert_int_eq(decode("hello\n", SIZE_MAX - less, &frame), DECODE_FRAME);
	}
	ck_assert_int_eq(decode("", 0, &frame), DECODE_MORE);
}
END_TEST

START_TEST(terminator_is_the_one_that_was_chosen)
{
	uint8_t out[8];

	ck_assert_uint_eq(framing_encode(&lf.framing, out, 7, "hello", 5), 6);
	ck_assert_mem_eq(out, "hello\n", 6);
	ck_assert_uint_eq(framing_encode(&crlf.framing, out, 8, "hello", 5), 7);
	ck_assert_mem_eq(out, "hello\r\n", 7);
	ck_assert_uint_eq(framing_encode(&lf.framing, out, 7, NULL, 0), 1);
	ck_assert_uint_eq(framing_encode(&crlf.framing, out, 8, NULL, 0), 2);
	/* The id is not on the wire, so that any will do. */
	ck_assert_uint_eq(framing_encode(&lf.framing, out, UINT32_MAX, "hello", 5), 6);
	ck_assert_mem_eq(out, "hello\n", 6);
}
END_TEST

/* What would be another line, or more of them, on the other side. */
START_TEST(payload_that_is_no_line_is_refused)
{
	uint8_t out[8];

	ck_assert_uint_eq(framing_encode(&lf.framing, out, 7, "a\nb", 3), 0);
	ck_assert_uint_eq(framing_encode(&lf.framing, out, 7, "\n", 1), 0);
	ck_assert_uint_eq(framing_encode(&lf.framing, out, 7, "ab\n", 3), 0);
	ck_assert_uint_eq(framing_encode(&lf.framing, out, 7, "ab\r", 3), 0);
	ck_assert_uint_eq(framing_encode(&crlf.framing, out, 7, "a\nb", 3), 0);
	ck_assert_uint_eq(framing_encode(&crlf.framing, out, 7, "a\r\n", 3), 0);
	/* Before CR LF a CR stays what it is, and within a line always. */
	ck_assert_uint_eq(framing_encode(&crlf.framing, out, 7, "ab\r", 3), 5);
	ck_assert_uint_eq(framing_encode(&lf.framing, out, 7, "a\rb", 3), 4);
}
END_TEST

TCase *line_tests(void)
{
	TCase *test = tcase_create("line");

	tcase_add_checked_fixture(test, set_up, NULL);
	tcase_add_test(test, lines_end_with_lf_or_crlf);
	tcase_add_test(test, cr_within_a_line_is_kept);
	tcase_add_test(test, nul_is_a_byte_like_others);
	tcase_add_test(test, no_line_is_longer_than_the_limit);
	tcase_add_test(test, limits_near_the_greatest_size_do_not_wrap);
	tcase_add_test(test, terminator_is_the_one_that_was_chosen);
	tcase_add_test(test, payload_that_is_no_line_is_refused);
	return test;
}
