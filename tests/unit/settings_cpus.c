/*
 * settings/cpus: sets of CPUs as text and back, and one CPU of a set for each worker.
 */
#include "config.h"

#include <string.h>

#include "settings/cpus.h"

#include "settings_offer.h"

static struct cpus parse(const char *text)
{
	struct cpus cpus;

	ck_assert_msg(cpus_parse(text, &cpus) == STATUS_OK, "%s", text);
	return cpus;
}

static void expect_text(const struct cpus *cpus, const char *expected)
{
	char text[CPUS_TEXT_SIZE];

	ck_assert_str_eq(cpus_format(cpus, text), expected);
}

START_TEST(set_has_one_spelling)
{
	static const char *const good[][2] = {
		{ "0", "0" },
		{ "3", "3" },
		{ "0-3", "0-3" },
		{ "0,2-3", "0,2-3" },
		{ "5-5", "5" },
		{ "3,1,2,1", "1-3" },
		{ "8191", "8191" },
		{ "1023-1025", "1023-1025" },
		{ "0-8191", "0-8191" },
	};

	for (int i = 0; i < N_OF(good); i++) {
		struct cpus cpus = parse(good[i][0]);

		expect_text(&cpus, good[i][1]);
	}
}
END_TEST

START_TEST(what_is_no_set_is_refused)
{
	static const char *const bad[] = { "", ",", "0,", ",0", "0,,1", "-1", "1-", "3-1",
		"0 1", " 0", "0x1", "a", "8192", "0-8192", "99999999999999999999", "0-1-2",
		"auto" };
	struct cpus cpus;

	for (int i = 0; i < N_OF(bad); i++)
		ck_assert_msg(cpus_parse(bad[i], &cpus) == STATUS_INVALID, "%s", bad[i]);
}
END_TEST

START_TEST(long_set_is_cut_as_text)
{
	char text[CPUS_TEXT_SIZE], many[512] = "0";
	struct cpus cpus;

	for (int cpu = 2; cpu < 200; cpu += 2)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), ",%d", cpu);
	cpus = parse(many);
	ck_assert_uint_eq(cpus_count(&cpus), 100);
	ck_assert_uint_eq(strlen(cpus_format(&cpus, text)), CPUS_TEXT_SIZE - 1);
	ck_assert_int_eq(strncmp(text, many, CPUS_TEXT_SIZE - 1), 0);
}
END_TEST

START_TEST(nth_begins_anew_behind_the_last)
{
	static const char *const expected[] = { "1", "4", "5", "2000", "1", "4" };
	struct cpus cpus = parse("1,4-5,2000");

	for (unsigned int n = 0; n < (unsigned int)N_OF(expected); n++) {
		struct cpus one = cpus_nth(&cpus, n);

		ck_assert_uint_eq(cpus_count(&one), 1);
		expect_text(&one, expected[n]);
	}
}
END_TEST

START_TEST(allowed_are_those_of_this_process)
{
	struct cpus allowed, one;

	ck_assert_int_eq(cpus_allowed(&allowed), STATUS_OK);
	ck_assert_uint_gt(cpus_count(&allowed), 0);
	one = cpus_nth(&allowed, cpus_count(&allowed) - 1);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(one), one.sets), 0);
	ck_assert_int_eq(cpus_allowed(&allowed), STATUS_OK);
	ck_assert_int_eq(memcmp(&allowed, &one, sizeof(one)), 0);
}
END_TEST

TCase *settings_cpus_case(void)
{
	TCase *tcase = tcase_create("cpus");

	tcase_add_test(tcase, set_has_one_spelling);
	tcase_add_test(tcase, what_is_no_set_is_refused);
	tcase_add_test(tcase, long_set_is_cut_as_text);
	tcase_add_test(tcase, nth_begins_anew_behind_the_last);
	tcase_add_test(tcase, allowed_are_those_of_this_process);
	return tcase;
}
