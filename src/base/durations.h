/*
 * How often which duration was seen: a histogram of fixed size, which may live in
 * shared memory and is merged by adding. As of counters, one process writes it,
 * others read it meanwhile.
 *
 * Log-linear, with decimal bounds, so that what is told of it needs no rounding:
 * in each power of ten, buckets end at 1.1, 1.2 ... 2, at 2.2, 2.4 ... 5 and at
 * 5.5, 6 ... 10. A bucket has its upper bound in it and is at most 10 % as wide as
 * that. The first holds all up to 10 ns, the last all beyond 100 s.
 *
 *     counts[0]        [1]                       [35]         [36]
 *     0 ... 10 ns  |  11 ns |  12 ns | ... | 96 ... 100 ns | 101 ... 110 ns | ...
 */
#ifndef RUNNEL_BASE_DURATIONS_H
#define RUNNEL_BASE_DURATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"

#define DURATIONS_DECADES 10
#define DURATIONS_PER_DECADE 35
#define DURATIONS_BUCKETS (DURATIONS_DECADES * DURATIONS_PER_DECADE + 2)

/* Nothing but uint64_t, as in struct counters. Zeroed at first. */
struct durations {
	uint64_t sum_ns;
	uint64_t counts[DURATIONS_BUCKETS];
};

/* n durations of sum_ns together, each as long as the others; n is not 0. */
void durations_add(struct durations *durations, uint64_t sum_ns, uint64_t n);

/* The same when it is known that each of them is of this bucket. */
static inline void durations_add_to(
    struct durations *durations, size_t bucket, uint64_t sum_ns, uint64_t n)
{
	counter_add(durations->sum_ns, sum_ns);
	counter_add(durations->counts[bucket], n);
}

/* Add up; into is nobody else's meanwhile, or written by processes that all do this. */
void durations_merge(struct durations *into, const struct durations *from);

/* How many. */
uint64_t durations_count(const struct durations *durations);

/* The bucket that a duration is counted in. */
size_t durations_bucket_of(uint64_t ns);

/* The longest that a bucket holds; the last one has no bound: UINT64_MAX. */
uint64_t durations_bound_ns(size_t bucket);

/*
 * The bound of the bucket in which the quantile lies, per_mille of 1000: at least so many are not
 * longer. UINT64_MAX: longer than all bounds. 0: there are none.
 */
uint64_t durations_quantile_ns(const struct durations *durations, unsigned int per_mille);

#endif
