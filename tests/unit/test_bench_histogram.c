/*
 * bench/histogram: against the sorted values themselves.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>

#include "bench/histogram.h"

#include "test_bench.h"

#define N_VALUES 100000

static const unsigned int quantiles[] = { 0, 1, 10, 250, 500, 900, 950, 990, 999, 1000 };

#define N_QUANTILES (sizeof(quantiles) / sizeof(quantiles[0]))

static uint64_t values[N_VALUES];
static struct histogram histogram, other;

/* xorshift64: the same values in each run. */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int compare_values(const void *a, const void *b)
{
	uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

	return left < right ? -1 : left > right;
}

/* As the definition has it: the least value that per_mille of all do not exceed. */
static uint64_t exact_quantile(size_t n, unsigned int per_mille)
{
	size_t rank = (n * per_mille + 999) / 1000;

	return values[rank > 0 ? rank - 1 : 0];
}

static void expect_near(uint64_t found, uint64_t exact)
{
	double error = fabs((double)found - (double)exact);

	ck_assert_msg(error <= 0.01 * (double)exact, "found %llu, exact %llu",
	    (unsigned long long)found, (unsigned long long)exact);
}

static void expect_quantiles(size_t n)
{
	size_t i;

	qsort(values, n, sizeof(values[0]), compare_values);
	for (i = 0; i < N_QUANTILES; i++)
		expect_near(histogram_quantile_ns(&histogram, quantiles[i]),
		    exact_quantile(n, quantiles[i]));
}

START_TEST(empty_histogram_is_all_zero)
{
	histogram_init(&histogram);
	ck_assert_uint_eq(histogram_quantile_ns(&histogram, 500), 0);
	ck_assert_uint_eq(histogram_quantile_ns(&histogram, 1000), 0);
	ck_assert_double_eq(histogram_mean_ns(&histogram), 0);
	ck_assert_uint_eq(histogram_count_between(&histogram, 0, UINT64_MAX), 0);
}
END_TEST

/* Each bucket begins where the one before it ends, and is narrow enough. */
START_TEST(buckets_are_seamless_and_narrow)
{
	uint64_t start, end;
	size_t i;

	ck_assert_uint_eq(histogram_bucket_start_ns(0), 0);
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		start = histogram_bucket_start_ns(i);
		end = histogram_bucket_start_ns(i + 1);
		ck_assert_uint_gt(end, start);
		ck_assert_msg(end - start <= 1 || (end - start) * 100 <= start,
		    "bucket %zu is wider than 1 %%", i);
		histogram_init(&histogram);
		histogram_add(&histogram, start);
		histogram_add(&histogram, end - 1);
		ck_assert_uint_eq(histogram.counts[i], 2);
	}
	ck_assert_uint_eq(end, UINT64_C(1) << HISTOGRAM_TOP_BITS);
}
END_TEST

START_TEST(quantiles_of_log_uniform_values_are_within_one_percent)
{
	uint64_t state = 88172645463325252u;
	size_t i;

	histogram_init(&histogram);
	for (i = 0; i < N_VALUES; i++) {
		values[i] = next_random(&state) >> (23 + next_random(&state) % 40);
		histogram_add(&histogram, values[i]);
	}
	expect_quantiles(N_VALUES);
}
END_TEST

/* Two humps far apart: a quantile between them must belong to one of them. */
START_TEST(quantiles_of_two_humps_are_within_one_percent)
{
	uint64_t state = 4101842887655102017u;
	size_t i;

	histogram_init(&histogram);
	for (i = 0; i < N_VALUES; i++) {
		values[i] = 50000 + next_random(&state) % 1000;
		if (i % 100 == 0)
			values[i] = 200000000 + next_random(&state) % 1000000;
		histogram_add(&histogram, values[i]);
	}
	expect_quantiles(N_VALUES);
}
END_TEST

/* Small numbers of values, where a rank that is off by one shows. */
START_TEST(quantiles_of_few_values_are_those_values)
{
	size_t n, i;

	for (n = 1; n <= 120; n++) {
		histogram_init(&histogram);
		for (i = 0; i < n; i++) {
			values[i] = (i + 1) * 1000000;
			histogram_add(&histogram, values[i]);
		}
		expect_quantiles(n);
	}
}
END_TEST

START_TEST(extremes_and_mean_are_exact)
{
	histogram_init(&histogram);
	histogram_add(&histogram, 1234567);
	histogram_add(&histogram, 7654321);
	histogram_add(&histogram, 3000000);
	ck_assert_uint_eq(histogram_quantile_ns(&histogram, 0), 1234567);
	ck_assert_uint_eq(histogram_quantile_ns(&histogram, 1000), 7654321);
	ck_assert_double_eq_tol(
	    histogram_mean_ns(&histogram), (1234567 + 7654321 + 3000000) / 3.0, 0.01);
}
END_TEST

START_TEST(what_is_too_long_is_counted_and_its_maximum_kept)
{
	histogram_init(&histogram);
	histogram_add(&histogram, UINT64_C(1) << 50);
	histogram_add(&histogram, 5);
	ck_assert_uint_eq(histogram.n, 2);
	ck_assert_uint_eq(histogram.counts[HISTOGRAM_BUCKETS - 1], 1);
	ck_assert_uint_eq(histogram_quantile_ns(&histogram, 1000), UINT64_C(1) << 50);
}
END_TEST

START_TEST(merged_histograms_are_as_one)
{
	static struct histogram whole;
	uint64_t state = 1181783497276652981u, value;
	size_t i;

	histogram_init(&histogram);
	histogram_init(&other);
	histogram_init(&whole);
	for (i = 0; i < 10000; i++) {
		value = next_random(&state) >> 30;
		histogram_add(i % 3 == 0 ? &histogram : &other, value);
		histogram_add(&whole, value);
	}
	histogram_merge(&histogram, &other);
	ck_assert_mem_eq(&histogram, &whole, sizeof(whole));
	histogram_init(&other);
	histogram_merge(&histogram, &other);
	ck_assert_mem_eq(&histogram, &whole, sizeof(whole));
}
END_TEST

START_TEST(ranges_count_every_value_once)
{
	uint64_t step_ns = 50000000, sum = 0;
	size_t i;

	histogram_init(&histogram);
	for (i = 0; i < 1000; i++)
		histogram_add(&histogram, i * 1000000);
	for (i = 0; i < 20; i++) {
		uint64_t count =
		    histogram_count_between(&histogram, i * step_ns, (i + 1) * step_ns);

		ck_assert_uint_ge(count, 46);
		ck_assert_uint_le(count, 54);
		sum += count;
	}
	sum += histogram_count_between(&histogram, 20 * step_ns, UINT64_MAX);
	ck_assert_uint_eq(sum, 1000);
}
END_TEST

TCase *histogram_tests(void)
{
	TCase *tests = tcase_create("histogram");

	tcase_add_test(tests, empty_histogram_is_all_zero);
	tcase_add_test(tests, buckets_are_seamless_and_narrow);
	tcase_add_test(tests, quantiles_of_log_uniform_values_are_within_one_percent);
	tcase_add_test(tests, quantiles_of_two_humps_are_within_one_percent);
	tcase_add_test(tests, quantiles_of_few_values_are_those_values);
	tcase_add_test(tests, extremes_and_mean_are_exact);
	tcase_add_test(tests, what_is_too_long_is_counted_and_its_maximum_kept);
	tcase_add_test(tests, merged_histograms_are_as_one);
	tcase_add_test(tests, ranges_count_every_value_once);
	return tests;
}
