/*
 * Not the loop's time, ev_now(), which is that of the wall clock, and may be set.
 */
#ifndef RELAY_CLOCK_H
#define RELAY_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#endif
