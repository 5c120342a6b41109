/*
 * A slot's shared page: what outlives the worker processes in the slot. Made by
 * the master before it forks. While one generation follows another a slot has
 * several processes, so each has a seat of its own in the page, which no other
 * process writes; the master adds up what a seat counted when its process is gone.
 */
#ifndef RUNNEL_CONN_SLOT_PAGE_H
#define RUNNEL_CONN_SLOT_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/counters.h"
#include "base/durations.h"
#include "base/metrics.h"
#include "base/panic.h"
#include "settings/settings.h"

/* What a worker does at the moment: who reads it after its death learns what it died of. */
enum doing_what {
	DOING_NOTHING,
	DOING_MESSAGE,
	DOING_OPEN,
	DOING_WRITABLE,
	DOING_HEARTBEAT,
	DOING_SILENT,
	DOING_TIMER,
	DOING_CLOSE,
	DOING_MOVING,
	DOING_DONE, /* of a job, with its connection or none */
};

struct doing {
	uint64_t conn;   /* its id */
	uint32_t id;     /* of the message */
	uint16_t module; /* index in the conf */
	uint16_t what;   /* enum doing_what */
};

/* The handler that took longest so far. */
struct slowest {
	uint32_t ms;
	uint32_t id;
	uint16_t module;
};

/* How long messages took, each of them counted: see stopwatch.h and replies.h. */
struct times {
	struct durations handler; /* their handlers */
	struct durations reply; /* from the read that completed it to the write of the reply */
};

struct seat {
	uint32_t generation; /* of its process; 0: the seat is free */
	int32_t pid;         /* of the process; 0: not known yet */
	uint64_t turned_ms;  /* the monotonic clock when the loop came round last; 0: not yet */
	struct doing doing;
	struct slowest slowest;
	struct counters counters;
	/* Of those that were closed: to upstreams, by the worker itself because it ended. */
	uint64_t n_upstreams_left;
	struct times times;
	struct metric_cells metrics; /* of its modules */
	/*
	 * Connections that hold a descriptor, by listener, and outgoing ones behind them, by
	 * upstream. Workers of the same generation read it: max-connections is one limit.
	 */
	uint32_t n_open[SETTINGS_MAX_LISTENERS + SETTINGS_MAX_UPSTREAMS];
	struct panic_page panic;
};

#define SLOT_SEATS 8

struct slot_page {
	/* Of the slot's connections: an id is never given twice. All its processes add to it. */
	uint64_t last_serial;
	uint8_t is_used; /* some process was or is in one of its seats: 1, or a worker's whim */
	uint32_t n_leaves_begun, n_leaves_ended; /* of seats: see pages_leave_seat() */
	uint64_t n_crashes; /* processes that were killed or failed; the master's, likewise: */
	struct counters past; /* of processes that are gone; the master's */
	struct times past_times;
	struct metric_cells past_metrics; /* of counters */
	struct seat seats[SLOT_SEATS];
};

#endif
