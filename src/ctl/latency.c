#include "config.h"

#include <stdio.h>

#include "ctl/latency.h"

/* The bucket that a bound in seconds is the end of. */
static size_t bucket_of(double seconds)
{
	double ns = seconds * 1e9 + 0.5;

	return ns >= 0 && ns < 1e18 ? durations_bucket_of((uint64_t)ns) : DURATIONS_BUCKETS - 1;
}

static void count(struct durations *durations, const json_t *object, int sign)
{
	const json_t *buckets = json_object_get(object, "buckets");
	json_int_t all = json_integer_value(json_object_get(object, "count")), seen = 0;

	for (size_t i = 0; i < json_array_size(buckets); i++) {
		const json_t *pair = json_array_get(buckets, i);
		double bound_s = json_number_value(json_array_get(pair, 0));
		json_int_t n = json_integer_value(json_array_get(pair, 1));

		durations->counts[bucket_of(bound_s)] += (uint64_t)(sign * (n - seen));
		seen = n;
	}
	/* Those beyond all bounds. */
	durations->counts[DURATIONS_BUCKETS - 1] += (uint64_t)(sign * (all - seen));
}

void latency_add(struct durations *durations, const json_t *object)
{
	count(durations, object, 1);
}

void latency_subtract(struct durations *durations, const json_t *object)
{
	count(durations, object, -1);
}

static const char *format_ns(uint64_t ns, char buf[LATENCY_SIZE])
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	size_t unit = 0;

	for (; value >= 1000 && unit < sizeof(units) / sizeof(units[0]) - 1; unit++)
		value /= 1000;
	snprintf(buf, LATENCY_SIZE, "%g%s", value, units[unit]);
	return buf;
}

const char *latency_format(
    const struct durations *durations, unsigned int per_mille, char buf[LATENCY_SIZE])
{
	uint64_t ns = durations_quantile_ns(durations, per_mille);

	if (ns == 0)
		snprintf(buf, LATENCY_SIZE, "-");
	else if (ns == UINT64_MAX)
		snprintf(buf, LATENCY_SIZE, ">100s");
	else
		format_ns(ns, buf);
	return buf;
}
