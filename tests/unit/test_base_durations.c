/*
 * base/durations: which bucket a duration is counted in, and what is told of them.
 */
#include "config.h"

#include <string.h>

#include "base/durations.h"

#include "test_base.h"

#define SECOND UINT64_C(1000000000)

static struct durations durations, other;

static void set_up(void)
{
	memset(&durations, 0, sizeof(durations));
	memset(&other, 0, sizeof(other));
}

/* The bound is in the bucket, and what is longer by a nanosecond in the next. */
START_TEST(each_bucket_ends_with_its_bound)
{
	for (size_t i = 0; i < DURATIONS_BUCKETS - 1; i++) {
		uint64_t bound_ns = durations_bound_ns(i);

		ck_assert_uint_eq(durations_bucket_of(bound_ns), i);
		ck_assert_uint_eq(durations_bucket_of(bound_ns + 1), i + 1);
	}
	ck_assert_uint_eq(durations_bucket_of(0), 0);
	ck_assert_uint_eq(durations_bucket_of(UINT64_MAX), DURATIONS_BUCKETS - 1);
	ck_assert_uint_eq(durations_bound_ns(DURATIONS_BUCKETS - 1), UINT64_MAX);
}
END_TEST

START_TEST(buckets_are_at_most_ten_percent_wide)
{
	for (size_t i = 1; i < DURATIONS_BUCKETS - 1; i++) {
		uint64_t width_ns = durations_bound_ns(i) - durations_bound_ns(i - 1);

		ck_assert_uint_le(width_ns * 10, durations_bound_ns(i));
	}
}
END_TEST

/* What people and Prometheus are told: 1, 2 and 5 of each power of ten. */
START_TEST(round_figures_are_bounds)
{
	ck_assert_uint_eq(durations_bound_ns(0), 10);
	ck_assert_uint_eq(durations_bound_ns(1), 11);
	ck_assert_uint_eq(durations_bound_ns(DURATIONS_BUCKETS - 2), 100 * SECOND);
	for (uint64_t power = 10; power < 100 * SECOND; power *= 10) {
		ck_assert_uint_eq(durations_bound_ns(durations_bucket_of(power)), power);
		ck_assert_uint_eq(
		    durations_bound_ns(durations_bucket_of(2 * power)), 2 * power);
		ck_assert_uint_eq(
		    durations_bound_ns(durations_bucket_of(5 * power)), 5 * power);
	}
}
END_TEST

START_TEST(some_at_once_count_with_their_average)
{
	durations_add(&durations, 1000, 4);
	ck_assert_uint_eq(durations.sum_ns, 1000);
	ck_assert_uint_eq(durations_count(&durations), 4);
	ck_assert_uint_eq(durations.counts[durations_bucket_of(250)], 4);
	durations_add(&durations, 200 * SECOND, 1);
	ck_assert_uint_eq(durations.counts[DURATIONS_BUCKETS - 1], 1);
	ck_assert_uint_eq(durations_count(&durations), 5);
	ck_assert_uint_eq(durations.sum_ns, 200 * SECOND + 1000);
}
END_TEST

START_TEST(merged_durations_are_the_sum)
{
	durations_add(&durations, 3000, 3);
	durations_add(&other, 5000, 5);
	durations_add(&other, 7000, 1);
	durations_merge(&durations, &other);
	ck_assert_uint_eq(durations.sum_ns, 15000);
	ck_assert_uint_eq(durations.counts[durations_bucket_of(1000)], 8);
	ck_assert_uint_eq(durations.counts[durations_bucket_of(7000)], 1);
	ck_assert_uint_eq(durations_count(&durations), 9);
}
END_TEST

START_TEST(quantile_is_the_bound_that_so_many_keep)
{
	ck_assert_uint_eq(durations_quantile_ns(&durations, 990), 0);
	durations_add(&durations, 99 * 1000, 99);
	durations_add(&durations, SECOND, 1);
	ck_assert_uint_eq(durations_quantile_ns(&durations, 0), 1000);
	ck_assert_uint_eq(durations_quantile_ns(&durations, 500), 1000);
	ck_assert_uint_eq(durations_quantile_ns(&durations, 990), 1000);
	ck_assert_uint_eq(durations_quantile_ns(&durations, 991), SECOND);
	ck_assert_uint_eq(durations_quantile_ns(&durations, 1000), SECOND);
	durations_add(&durations, 200 * SECOND, 1);
	ck_assert_uint_eq(durations_quantile_ns(&durations, 1000), UINT64_MAX);
}
END_TEST

TCase *durations_tests(void)
{
	TCase *tcase = tcase_create("durations");

	tcase_add_checked_fixture(tcase, set_up, NULL);
	tcase_add_test(tcase, each_bucket_ends_with_its_bound);
	tcase_add_test(tcase, buckets_are_at_most_ten_percent_wide);
	tcase_add_test(tcase, round_figures_are_bounds);
	tcase_add_test(tcase, some_at_once_count_with_their_average);
	tcase_add_test(tcase, merged_durations_are_the_sum);
	tcase_add_test(tcase, quantile_is_the_bound_that_so_many_keep);
	return tcase;
}
