/*
 * base/counters: what is open, and the text of all of them.
 */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "base/counters.h"

#include "test_base.h"

START_TEST(a_counter_grows)
{
	struct counters counters = { .frames_in = 0 };

	counter_add(counters.frames_in, 1);
	counter_add(counters.frames_in, 64);
	ck_assert_uint_eq(counter_read(counters.frames_in), 65);
}
END_TEST

/* Whether they were accepted or made. */
START_TEST(open_is_begun_less_all_that_ended)
{
	struct counters counters = { .accepted = 90, .connected = 10 };

	for (int i = 0; i < N_CLOSE_REASONS; i++)
		counters.closed[i] = (uint64_t)i + 1;
	ck_assert_uint_eq(
	    counters_open(&counters), 100 - N_CLOSE_REASONS * (N_CLOSE_REASONS + 1) / 2);
}
END_TEST

START_TEST(each_reason_has_a_text)
{
	for (int i = 0; i < N_CLOSE_REASONS; i++)
		ck_assert_ptr_nonnull(close_reason_text((enum close_reason)i));
	ck_assert_str_eq(close_reason_text(CLOSE_REASON_idle), "idle-timeout");
}
END_TEST

/* Every counter at its longest: nothing may be cut. */
START_TEST(the_text_names_every_counter)
{
	char text[COUNTERS_TEXT_SIZE];
	struct counters counters;

	memset(&counters, 0xff, sizeof(counters));
	counters_format(&counters, text);
	ck_assert_int_eq(strncmp(text, "accepted=18446744073709551615 rejected=", 39), 0);
#define EXPECT_COUNTER(name, text_of_it) \
	ck_assert_ptr_nonnull(strstr(text, #name "=18446744073709551615"));
	COUNTERS(EXPECT_COUNTER)
#undef EXPECT_COUNTER
#define EXPECT_REASON(name, text_of_it) \
	ck_assert_ptr_nonnull(strstr(text, " closed_" #name "=18446744073709551615"));
	CLOSE_REASONS(EXPECT_REASON)
#undef EXPECT_REASON
}
END_TEST

TCase *counters_tests(void)
{
	TCase *tests = tcase_create("counters");

	tcase_add_test(tests, a_counter_grows);
	tcase_add_test(tests, open_is_begun_less_all_that_ended);
	tcase_add_test(tests, each_reason_has_a_text);
	tcase_add_test(tests, the_text_names_every_counter);
	return tests;
}
