/*
 * Memory after a burst: what the allocator keeps is given back to the system.
 */
#ifndef RUNNEL_WORKER_TRIM_H
#define RUNNEL_WORKER_TRIM_H

#include <ev.h>

#include "io/chunk.h"

struct trim {
	ev_timer timer;
	struct chunk_pool *pool; /* borrowed */
};

/* Look every few seconds from now on. It does not keep the loop running. */
void trim_start(struct trim *trim, struct ev_loop *loop, struct chunk_pool *pool);

void trim_stop(struct trim *trim, struct ev_loop *loop);

#endif
