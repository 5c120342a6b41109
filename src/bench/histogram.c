#include "config.h"

#include <string.h>

#include "bench/histogram.h"

#define SUB_BUCKETS (UINT64_C(1) << HISTOGRAM_SUB_BITS)

/* Values up to the first SUB_BUCKETS are their own bucket, and the first octave goes on there. */
static size_t bucket_of(uint64_t ns)
{
	unsigned int shift;

	if (ns < SUB_BUCKETS)
		return (size_t)ns;
	if (ns >> HISTOGRAM_TOP_BITS != 0)
		return HISTOGRAM_BUCKETS - 1;
	shift = 63u - (unsigned int)__builtin_clzll(ns) - HISTOGRAM_SUB_BITS;
	return (size_t)((uint64_t)shift * SUB_BUCKETS + (ns >> shift));
}

static uint64_t bucket_middle_ns(size_t bucket)
{
	uint64_t start = histogram_bucket_start_ns(bucket);

	return start + (histogram_bucket_start_ns(bucket + 1) - start) / 2;
}

void histogram_init(struct histogram *histogram)
{
	memset(histogram, 0, sizeof(*histogram));
	histogram->min_ns = UINT64_MAX;
}

void histogram_add(struct histogram *histogram, uint64_t ns)
{
	histogram->n++;
	histogram->sum_ns += ns;
	if (ns < histogram->min_ns)
		histogram->min_ns = ns;
	if (ns > histogram->max_ns)
		histogram->max_ns = ns;
	histogram->counts[bucket_of(ns)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	size_t i;

	into->n += from->n;
	into->sum_ns += from->sum_ns;
	if (from->min_ns < into->min_ns)
		into->min_ns = from->min_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->counts[i] += from->counts[i];
}

uint64_t histogram_quantile_ns(const struct histogram *histogram, unsigned int per_mille)
{
	uint64_t rank = histogram->n / 1000 * per_mille;
	uint64_t seen = 0, middle;
	size_t i;

	rank += (histogram->n % 1000 * per_mille + 999) / 1000;
	if (histogram->n == 0)
		return 0;
	if (rank <= 1)
		return histogram->min_ns;
	if (rank >= histogram->n)
		return histogram->max_ns;
	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		seen += histogram->counts[i];
		if (seen >= rank)
			break;
	}
	middle = bucket_middle_ns(i);
	if (middle < histogram->min_ns)
		return histogram->min_ns;
	return middle < histogram->max_ns ? middle : histogram->max_ns;
}

double histogram_mean_ns(const struct histogram *histogram)
{
	return histogram->n == 0 ? 0 : (double)histogram->sum_ns / (double)histogram->n;
}

uint64_t histogram_count_between(
    const struct histogram *histogram, uint64_t from_ns, uint64_t to_ns)
{
	uint64_t count = 0, middle;
	size_t i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		middle = bucket_middle_ns(i);
		if (middle >= from_ns && middle < to_ns)
			count += histogram->counts[i];
	}
	return count;
}

uint64_t histogram_bucket_start_ns(size_t bucket)
{
	size_t shift;

	if (bucket < 2 * SUB_BUCKETS)
		return bucket;
	shift = bucket / SUB_BUCKETS - 1;
	return (SUB_BUCKETS + bucket % SUB_BUCKETS) << shift;
}
