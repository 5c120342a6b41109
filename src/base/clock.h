/*
 * The monotonic clock (CLOCK_MONOTONIC). All deadlines are reckoned with it.
 */
#ifndef RUNNEL_BASE_CLOCK_H
#define RUNNEL_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since some fixed moment; never 0. */
uint64_t clock_ms(void);

/* The same, some milliseconds behind, at a fraction of the cost. */
uint64_t clock_coarse_ms(void);

/* Nanoseconds since the same moment. */
uint64_t clock_ns(void);

#endif
