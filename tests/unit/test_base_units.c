/*
 * base/units: what is a value, what is none, and that formatting is undone by parsing.
 */
#include "config.h"

#include <stdlib.h>

#include "base/units.h"

#include "test_base.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* Seen when a parser leaves its output alone. */
#define UNTOUCHED INT64_C(-77)

struct good {
	const char *text;
	int64_t value;
};

static const struct good good_numbers[] = {
	{ "0", 0 },
	{ "1", 1 },
	{ "-1", -1 },
	{ "+5", 5 },
	{ "007", 7 },
	{ "9223372036854775807", INT64_MAX },
	{ "-9223372036854775808", INT64_MIN },
};

static const struct good good_sizes[] = {
	{ "0", 0 },
	{ "0k", 0 },
	{ "1", 1 },
	{ "4096", 4096 },
	{ "64k", 65536 },
	{ "64K", 65536 },
	{ "1m", 1048576 },
	{ "1M", 1048576 },
	{ "2G", INT64_C(2147483648) },
	{ "2g", INT64_C(2147483648) },
	{ "8589934591G", INT64_C(9223372035781033984) },
	{ "9223372036854775807", INT64_MAX },
};

static const struct good good_durations[] = {
	{ "0", 0 },
	{ "0s", 0 },
	{ "1ms", 1 },
	{ "250ms", 250 },
	{ "10s", 10000 },
	{ "5m", 300000 },
	{ "2h", 7200000 },
	{ "1d", 86400000 },
	{ "106751991167d", INT64_C(9223372036828800000) },
};

static const char *const bad_numbers[] = { "", " ", " 1", "1 ", "-", "+", "+-1", "--1", "- 1",
	"1.5", "1e3", "0x10", "ten", "64k", "\t1", "9223372036854775808",
	"-9223372036854775809" };

static const char *const bad_sizes[] = { "", "k", " 64k", "64 k", "64k ", "64kb", "64kB",
	"64Ki", "-1", "-1k", "1.5M", "1T", "0x10", "8589934592G", "9223372036854775808" };

static const char *const bad_durations[] = { "", "s", "10", "00x", " 10s", "10 s", "10s ",
	"10S", "5M", "1H", "1w", "-1s", "1.5s", "10sec", "1m30s", "106751991168d",
	"9223372036854775808ms" };

typedef enum status parse_f(const char *text, int64_t *value);

static void expect_values(parse_f *parse, const struct good *good, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t value = UNTOUCHED;

		ck_assert_msg(
		    parse(good[i].text, &value) == STATUS_OK, "'%s' is refused", good[i].text);
		ck_assert_msg(value == good[i].value, "'%s' is read as %lld", good[i].text,
		    (long long)value);
	}
}

static void expect_refusals(parse_f *parse, const char *const *bad, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t value;

		ck_assert_msg(parse(bad[i], &value) == STATUS_INVALID, "'%s' is taken", bad[i]);
	}
}

START_TEST(a_number_is_decimal_and_whole)
{
	expect_values(units_parse_number, good_numbers, LENGTH(good_numbers));
	expect_refusals(units_parse_number, bad_numbers, LENGTH(bad_numbers));
}
END_TEST

START_TEST(a_size_has_a_unit_or_is_bytes)
{
	expect_values(units_parse_size, good_sizes, LENGTH(good_sizes));
	expect_refusals(units_parse_size, bad_sizes, LENGTH(bad_sizes));
}
END_TEST

START_TEST(a_duration_has_a_unit_or_is_zero)
{
	expect_values(units_parse_duration, good_durations, LENGTH(good_durations));
	expect_refusals(units_parse_duration, bad_durations, LENGTH(bad_durations));
}
END_TEST

START_TEST(the_shortest_text_is_written)
{
	char buf[UNITS_TEXT_SIZE];

	ck_assert_str_eq(units_format_size(0, buf), "0");
	ck_assert_str_eq(units_format_size(1, buf), "1");
	ck_assert_str_eq(units_format_size(1023, buf), "1023");
	ck_assert_str_eq(units_format_size(65536, buf), "64k");
	ck_assert_str_eq(units_format_size(1048576, buf), "1M");
	ck_assert_str_eq(units_format_size(1048577, buf), "1048577");
	ck_assert_str_eq(units_format_size(INT64_C(3) << 30, buf), "3G");
	ck_assert_str_eq(units_format_size(INT64_MAX, buf), "9223372036854775807");
	ck_assert_str_eq(units_format_duration(0, buf), "0");
	ck_assert_str_eq(units_format_duration(1, buf), "1ms");
	ck_assert_str_eq(units_format_duration(1500, buf), "1500ms");
	ck_assert_str_eq(units_format_duration(10000, buf), "10s");
	ck_assert_str_eq(units_format_duration(90000, buf), "90s");
	ck_assert_str_eq(units_format_duration(60000, buf), "1m");
	ck_assert_str_eq(units_format_duration(3600000, buf), "1h");
	ck_assert_str_eq(units_format_duration(172800000, buf), "2d");
	ck_assert_str_eq(units_format_duration(INT64_MAX, buf), "9223372036854775807ms");
	ck_assert_str_eq(units_format_age(999, buf), "0s");
	ck_assert_str_eq(units_format_age(59999, buf), "59s");
	ck_assert_str_eq(units_format_age(60000, buf), "1m 0s");
	ck_assert_str_eq(units_format_age(3599999, buf), "59m 59s");
	ck_assert_str_eq(units_format_age(3600000, buf), "1h 0m");
	ck_assert_str_eq(units_format_age(86399999, buf), "23h 59m");
	ck_assert_str_eq(units_format_age(86400000 * INT64_C(400), buf), "400d 0h");
}
END_TEST

/* A number with few or many bits, and often a multiple of some unit. */
static int64_t random_value(void)
{
	static const int64_t factors[] = { 1, 1024, 1048576, 1000, 60000, 3600000 };
	int64_t value = ((int64_t)rand() << 31 | rand()) >> (rand() % 62);

	return value % (INT64_MAX / 3600000) * factors[(size_t)rand() % LENGTH(factors)];
}

START_TEST(what_is_written_is_read_back)
{
	char buf[UNITS_TEXT_SIZE];

	srand(1);
	for (int i = 0; i < 20000; i++) {
		int64_t value = random_value(), back = UNTOUCHED;

		ck_assert_int_eq(
		    units_parse_size(units_format_size(value, buf), &back), STATUS_OK);
		ck_assert_int_eq(back, value);
		back = UNTOUCHED;
		ck_assert_int_eq(
		    units_parse_duration(units_format_duration(value, buf), &back), STATUS_OK);
		ck_assert_int_eq(back, value);
	}
}
END_TEST

TCase *units_tests(void)
{
	TCase *units = tcase_create("units");

	tcase_set_timeout(units, 60);
	tcase_add_test(units, a_number_is_decimal_and_whole);
	tcase_add_test(units, a_size_has_a_unit_or_is_bytes);
	tcase_add_test(units, a_duration_has_a_unit_or_is_zero);
	tcase_add_test(units, the_shortest_text_is_written);
	tcase_add_test(units, what_is_written_is_read_back);
	return units;
}
