/*
 * Clients of the control socket that are not served: each is told why, and what it still sends is
 * dropped for a while, so that it is not cut off before it has read that. Process: the master.
 */
#ifndef RUNNEL_MASTER_DISMISSALS_H
#define RUNNEL_MASTER_DISMISSALS_H

#include <ev.h>

#include "base/list.h"

struct dismissals {
	struct ev_loop *loop; /* borrowed */
	double idle_s;        /* for a client to take the answer */
	struct link list;
	unsigned int n;
};

void dismissals_init(struct dismissals *dismissals, struct ev_loop *loop, double idle_s);

/* fd is non-blocking, and taken over. Of many at the same time some are closed without a word. */
void dismissals_add(struct dismissals *dismissals, int fd, const char *error);

/* Close them all. */
void dismissals_drop(struct dismissals *dismissals);

#endif
