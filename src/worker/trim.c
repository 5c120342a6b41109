/*
 * glibc returns memory by itself only from the end of the heap, where one small
 * connection that stays is enough to keep all that a burst of queues has freed
 * below it. malloc_trim(3) returns free pages wherever they are.
 */
#include "config.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "worker/trim.h"

#define PERIOD_S 5.

/* Free memory worth a walk over the heap: this much, and half of what is in use. */
#define WORTH_BYTES ((size_t)256 << 10)

/* Private memory that is resident; proc(5), statm. */
static bool read_resident(size_t *bytes)
{
	FILE *statm = fopen("/proc/self/statm", "re");
	unsigned long resident, shared;
	bool is_read;

	if (statm == NULL)
		return false;
	is_read = fscanf(statm, "%*u %lu %lu", &resident, &shared) == 2;
	fclose(statm);
	if (is_read)
		*bytes = (resident - shared) * (size_t)sysconf(_SC_PAGESIZE);
	return is_read;
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct trim *trim = container_of(timer, struct trim, timer);
	struct mallinfo2 info;
	size_t resident, in_use;

	(void)loop;
	(void)revents;
	chunk_pool_rest(trim->pool);
	info = mallinfo2();
	in_use = info.uordblks + info.hblkhd;
	if (!read_resident(&resident) || resident < in_use + in_use / 2 + WORTH_BYTES)
		return;
	malloc_trim(0);
	log_debug(
	    "memory: %zu of %zu bytes are in use, the rest is given back", in_use, resident);
}

void trim_start(struct trim *trim, struct ev_loop *loop, struct chunk_pool *pool)
{
	trim->pool = pool;
	ev_timer_init(&trim->timer, on_timer, PERIOD_S, PERIOD_S);
	ev_timer_start(loop, &trim->timer);
	ev_unref(loop);
}

void trim_stop(struct trim *trim, struct ev_loop *loop)
{
	ev_ref(loop);
	ev_timer_stop(loop, &trim->timer);
}
