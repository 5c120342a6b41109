/*
 * The monotonic clock (CLOCK_MONOTONIC). All deadlines are reckoned with it.
 */
#ifndef RUNNEL_BASE_CLOCK_H
#define RUNNEL_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since some fixed moment; never 0. */
uint64_t clock_ms(void);

/* What clock_ms() is when clock_ns() is ns. */
uint64_t clock_to_ms(uint64_t ns);

/* Nanoseconds since the same moment. */
uint64_t clock_ns(void);

/* The same, some milliseconds behind, at a fraction of the cost (CLOCK_MONOTONIC_COARSE). */
uint64_t clock_coarse_ns(void);

#endif
