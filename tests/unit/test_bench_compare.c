/*
 * bench/compare and bench/chart: what a person reads.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/chart.h"
#include "bench/compare.h"
#include "bench/json.h"

#include "test_bench.h"

static const struct {
	double ns;
	const char *text;
} times[] = {
	{ 0, "0 ns" },
	{ 999.4, "999 ns" },
	{ 999.6, "1.00 us" },
	{ 12345, "12.3 us" },
	{ 99960, "100 us" },
	{ 999600, "1.00 ms" },
	{ 55100000, "55.1 ms" },
	{ 9994000000, "9.99 s" },
	{ 9996000000, "10.0 s" },
	{ 5e12, "5000 s" },
};

START_TEST(times_have_three_digits_and_a_unit)
{
	char text[CHART_TEXT_SIZE];

	ck_assert_str_eq(chart_format_ns(times[_i].ns, text), times[_i].text);
}
END_TEST

START_TEST(bars_are_as_long_as_their_share_and_show_the_least)
{
	char bar[11];

	ck_assert_str_eq(chart_bar(0, 100, 10, bar), "");
	ck_assert_str_eq(chart_bar(1, 1000000, 10, bar), "#");
	ck_assert_str_eq(chart_bar(50, 100, 10, bar), "#####");
	ck_assert_str_eq(chart_bar(100, 100, 10, bar), "##########");
}
END_TEST

START_TEST(steps_have_names)
{
	char text[CHART_TEXT_SIZE];

	ck_assert_str_eq(chart_step_name(0, text), "0 - 50 ms");
	ck_assert_str_eq(chart_step_name(19, text), "950 - 1000 ms");
	ck_assert_str_eq(chart_step_name(20, text), "1000 ms and more");
}
END_TEST

/* The comparison as one text, owned by the caller. */
static char *print(const struct summary *before, const struct summary *after)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	compare_print(before, after, out);
	fclose(out);
	return text;
}

/* The line that begins with a name must have these words in this order. */
static void expect_line(const char *text, const char *name, const char *before,
    const char *after, const char *change)
{
	const char *line = strstr(text, name), *end, *at;
	char copy[128];

	ck_assert_msg(line != NULL, "no %s in:\n%s", name, text);
	end = strchr(line, '\n');
	snprintf(copy, sizeof(copy), "%.*s", (int)(end - line), line);
	at = strstr(copy, before);
	ck_assert_msg(at != NULL, "no %s in: %s", before, copy);
	at = strstr(at + strlen(before), after);
	ck_assert_msg(at != NULL, "no %s in: %s", after, copy);
	at = strstr(at + strlen(after), change);
	ck_assert_msg(at != NULL, "no %s in: %s", change, copy);
}

static const struct summary zinx_before = {
	.title = "before",
	.seconds = 800,
	.requests_per_second = 12500,
	.replies = 10000000,
	.failed = 20,
	.mean_ns = 780e6,
	.p50_ns = 784e6,
	.p99_ns = 1074e6,
	.max_ns = 1492e6,
	.steps = { [15] = 6000000, [20] = 4000000 },
};

static const struct summary zinx_after = {
	.title = "after",
	.seconds = 150,
	.requests_per_second = 68000,
	.replies = 10000000,
	.failed = 0,
	.mean_ns = 145e6,
	.p50_ns = 143e6,
	.p99_ns = 254e6,
	.max_ns = 407e6,
	.steps = { [2] = 7500000, [5] = 2500000 },
};

START_TEST(comparison_has_figures_and_changes)
{
	char *text = print(&zinx_before, &zinx_after);

	expect_line(text, "title", "before", "after", "");
	expect_line(text, "total time", "800.000 s", "150.000 s", "-81.2 %");
	expect_line(text, "requests/s", "12500", "68000", "+444.0 %");
	expect_line(text, "failed", "20", "0", "-100.0 %");
	expect_line(text, "mean", "780 ms", "145 ms", "-81.4 %");
	expect_line(text, "p50", "784 ms", "143 ms", "-81.8 %");
	expect_line(text, "p99", "1.07 s", "254 ms", "-76.4 %");
	expect_line(text, "max", "1.49 s", "407 ms", "-72.7 %");
	expect_line(text, "100 - 150 ms", " 0.0 %", "7500000", "75.0 %");
	expect_line(text, "750 - 800 ms", "6000000", "60.0 %", "0.0 %");
	expect_line(text, "1000 ms and more", "4000000", "40.0 %", "0.0 %");
	free(text);
}
END_TEST

START_TEST(comparison_fits_eighty_columns)
{
	char *text = print(&zinx_before, &zinx_after), *rest = text, *line;

	while ((line = strsep(&rest, "\n")) != NULL)
		ck_assert_msg(strlen(line) <= 80, "too long: %s", line);
	free(text);
}
END_TEST

START_TEST(nothing_to_divide_by_is_said_in_words)
{
	const struct summary nothing = { 0 };
	char *text = print(&nothing, &zinx_before);

	expect_line(text, "failed", "0", "20", "was 0");
	free(text);
	text = print(&nothing, &nothing);
	expect_line(text, "failed", "0", "0", "same");
	ck_assert_ptr_null(strstr(text, "nan"));
	ck_assert_ptr_null(strstr(text, "inf"));
	free(text);
}
END_TEST

TCase *compare_tests(void)
{
	TCase *tests = tcase_create("compare");

	tcase_add_loop_test(tests, times_have_three_digits_and_a_unit, 0,
	    (int)(sizeof(times) / sizeof(times[0])));
	tcase_add_test(tests, bars_are_as_long_as_their_share_and_show_the_least);
	tcase_add_test(tests, steps_have_names);
	tcase_add_test(tests, comparison_has_figures_and_changes);
	tcase_add_test(tests, comparison_fits_eighty_columns);
	tcase_add_test(tests, nothing_to_divide_by_is_said_in_words);
	return tests;
}
