/*
 * How often which latency was seen. Log-linear: each power of two of nanoseconds
 * is cut into 128 buckets of equal width, so a bucket is at most 1/128 (0.8 %)
 * as wide as the values in it, and the middle of it, which is what is reported,
 * is at most 0.4 % off. Below 128 ns values are exact. Fixed size, no allocation,
 * no pointers: it may live in shared memory and is merged by adding.
 */
#ifndef RUNNEL_BENCH_HISTOGRAM_H
#define RUNNEL_BENCH_HISTOGRAM_H

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_SUB_BITS 7
#define HISTOGRAM_TOP_BITS 41 /* 2^41 ns are 36 minutes; what is longer counts as that */
#define HISTOGRAM_BUCKETS \
	((size_t)(HISTOGRAM_TOP_BITS - HISTOGRAM_SUB_BITS + 1) << HISTOGRAM_SUB_BITS)

struct histogram {
	uint64_t n;      /* values */
	uint64_t sum_ns; /* exact */
	uint64_t min_ns; /* exact; UINT64_MAX while empty */
	uint64_t max_ns; /* exact */
	uint64_t counts[HISTOGRAM_BUCKETS];
};

void histogram_init(struct histogram *histogram);

void histogram_add(struct histogram *histogram, uint64_t ns);

void histogram_merge(struct histogram *into, const struct histogram *from);

/*
 * The value that per_mille thousandths of all values do not exceed: 500 is the median, 999 the
 * 99.9th percentile, 1000 the maximum. 0 while empty.
 */
uint64_t histogram_quantile_ns(const struct histogram *histogram, unsigned int per_mille);

/* 0 while empty. */
double histogram_mean_ns(const struct histogram *histogram);

/* How many values are at least from_ns and below to_ns; a bucket counts by its middle. */
uint64_t histogram_count_between(
    const struct histogram *histogram, uint64_t from_ns, uint64_t to_ns);

/* The least value that falls into a bucket; that of the bucket after it is its end. */
uint64_t histogram_bucket_start_ns(size_t bucket);

#endif
