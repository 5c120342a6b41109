/*
 * Which CPUs a worker runs on.
 */
#ifndef RUNNEL_WORKER_AFFINITY_H
#define RUNNEL_WORKER_AFFINITY_H

#include "settings/settings.h"

/*
 * Bind this worker, before it makes any thread. What cannot be done is logged, and the worker
 * runs where the kernel puts it: CPUs that were there at the check of the conf may be gone.
 */
void affinity_apply(const struct settings *settings, unsigned int slot);

#endif
