/*
 * All figures in the text format of Prometheus, as the verb `metrics` answers. Each
 * counter of base/counters.h is one of them; runnelctl(8) lists the names, and
 * tests/lint/metrics.sh compares. Process: the master.
 */
#ifndef RUNNEL_MASTER_METRICS_H
#define RUNNEL_MASTER_METRICS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "conn/slot_page.h"

struct metrics_slot {
	unsigned int number;
	uint64_t n_open; /* connections, of all its processes */
	bool is_ready, is_degraded;
	uint32_t slowest_ms;
	uint64_t memory_bytes; /* of the worker that there is; 0: none */
	uint64_t n_crashes;
	struct counters counters;
	struct times times;
};

struct metrics_listener {
	const char *name;                 /* borrowed */
	uint64_t n_open, max_connections; /* of the generation that serves */
};

/* What a slot has of an upstream. */
struct metrics_upstream {
	const char *name; /* borrowed */
	unsigned int slot;
	uint64_t n_up, n_addresses; /* of the generation that serves */
};

struct metrics {
	time_t started_at;
	uint32_t generation;
	bool is_last_change_good;
	unsigned int n_workers;                   /* that there should be */
	const struct metrics_listener *listeners; /* borrowed */
	size_t n_listeners;
	const struct metrics_upstream *upstreams; /* borrowed; each once a slot */
	size_t n_upstreams;
	const struct metrics_slot *slots; /* borrowed */
	unsigned int n_slots;             /* that were ever used: counters do not go away */
};

void metrics_print(const struct metrics *metrics, FILE *out);

#endif
