#include "config.h"

#include "base/durations.h"

static const uint64_t powers_of_ten[] = { 1u, 10u, 100u, 1000u, 10000u, 100000u, 1000000u,
	10000000u, 100000000u, 1000000000u, 10000000000u, 100000000000u };

#define BEYOND UINT64_C(100000000000) /* 10^(DURATIONS_DECADES + 1) */

/* The two leading digits, 10 to 99, tell the bucket in a decade. */
static size_t step_of(size_t digits)
{
	if (digits < 20)
		return digits - 10;
	return digits < 50 ? digits / 2 : digits / 5 + 15;
}

/* The least two digits that lead to a step; for the one after the last, 100. */
static uint64_t digits_of(size_t step)
{
	if (step < 10)
		return step + 10;
	return step < 25 ? 2 * step : 5 * (step - 15);
}

/* Of a value from 10 on: n, where 10^(n + 1) is the greatest power of ten in it. */
static size_t decade_of(uint64_t value)
{
	/* 1233 / 4096 is log10(2), from above for as many bits as this gets. */
	size_t n_bits = 64u - (unsigned int)__builtin_clzll(value);
	size_t power = n_bits * 1233 / 4096;

	return power - (value < powers_of_ten[power]) - 1;
}

/* Narrow where it can be: on many processors that is several times as fast. */
static uint64_t divide(uint64_t value, uint64_t by)
{
	if (value <= UINT32_MAX && by <= UINT32_MAX)
		return (uint32_t)value / (uint32_t)by;
	return value / by;
}

/* A bucket has its upper bound, not its lower one: so the digits are those of a ns less. */
size_t durations_bucket_of(uint64_t ns)
{
	size_t decade;

	if (ns <= 10)
		return 0;
	if (ns > BEYOND)
		return DURATIONS_BUCKETS - 1;
	decade = decade_of(ns - 1);
	return 1 + decade * DURATIONS_PER_DECADE +
	       step_of(divide(ns - 1, powers_of_ten[decade]));
}

uint64_t durations_bound_ns(size_t bucket)
{
	size_t decade = bucket / DURATIONS_PER_DECADE;

	if (bucket >= DURATIONS_BUCKETS - 1)
		return UINT64_MAX;
	return digits_of(bucket % DURATIONS_PER_DECADE) * powers_of_ten[decade];
}

void durations_add(struct durations *durations, uint64_t sum_ns, uint64_t n)
{
	durations_add_to(durations, durations_bucket_of(divide(sum_ns, n)), sum_ns, n);
}

void durations_merge(struct durations *into, const struct durations *from)
{
	uint64_t *to = (uint64_t *)into;
	const uint64_t *part = (const uint64_t *)from;

	for (size_t i = 0; i < sizeof(*into) / sizeof(*to); i++) {
		uint64_t n = counter_read(part[i]);

		if (n > 0)
			__atomic_fetch_add(&to[i], n, __ATOMIC_RELAXED);
	}
}

uint64_t durations_count(const struct durations *durations)
{
	uint64_t n = 0;

	for (size_t i = 0; i < DURATIONS_BUCKETS; i++)
		n += counter_read(durations->counts[i]);
	return n;
}

uint64_t durations_quantile_ns(const struct durations *durations, unsigned int per_mille)
{
	uint64_t n = durations_count(durations), seen = 0;
	/* Rounded up, without the product of both. */
	uint64_t rank = n / 1000 * per_mille + (n % 1000 * per_mille + 999) / 1000;

	for (size_t i = 0; n > 0 && i < DURATIONS_BUCKETS; i++) {
		seen += counter_read(durations->counts[i]);
		if (seen > 0 && seen >= rank)
			return durations_bound_ns(i);
	}
	return 0;
}
