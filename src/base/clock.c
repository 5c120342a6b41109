#include "config.h"

#include <time.h>

#include "base/clock.h"

static uint64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

uint64_t clock_coarse_ns(void)
{
	return read_clock(CLOCK_MONOTONIC_COARSE);
}

uint64_t clock_to_ms(uint64_t ns)
{
	return ns / 1000000u + 1;
}

uint64_t clock_ms(void)
{
	return clock_to_ms(clock_ns());
}
