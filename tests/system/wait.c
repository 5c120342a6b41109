#include "config.h"

#include <time.h>

#include "system/wait.h"

uint64_t wait_now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

void wait_tick(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
}
