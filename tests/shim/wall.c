/*
 * LD_PRELOAD: the wall clock is set back by an hour as soon as the file that
 * RUNNEL_WALL_BACK names is there.
 */
#include "config.h"

#include <stddef.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

#define BACK_S 3600

EXPORT int clock_gettime(clockid_t clock, struct timespec *now)
{
	const char *file = getenv("RUNNEL_WALL_BACK");
	long result = syscall(SYS_clock_gettime, clock, now);

	if (result == 0 && clock == CLOCK_REALTIME && file != NULL && access(file, F_OK) == 0)
		now->tv_sec -= BACK_S;
	return (int)result;
}

EXPORT int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
	struct timespec precise;

	(void)zone;
	if (clock_gettime(CLOCK_REALTIME, &precise) < 0)
		return -1;
	now->tv_sec = precise.tv_sec;
	now->tv_usec = precise.tv_nsec / 1000;
	return 0;
}
