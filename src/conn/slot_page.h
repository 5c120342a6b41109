/*
 * A slot's shared page: what outlives the worker process in the slot. Made by
 * the master before it forks, written by the slot's worker, read by the master
 * and, where it says so, by the other workers.
 */
#ifndef RUNNEL_CONN_SLOT_PAGE_H
#define RUNNEL_CONN_SLOT_PAGE_H

#include <stdint.h>

#include "base/counters.h"
#include "base/panic.h"
#include "settings/settings.h"

struct slot_page {
	uint64_t last_serial; /* of the slot's connections: an id is never given twice */
	struct counters counters;
	/*
	 * Connections that hold a descriptor, by listener. All workers read it: max-connections
	 * is one limit.
	 */
	uint32_t n_open[SETTINGS_MAX_LISTENERS];
	struct panic_page panic;
};

#endif
