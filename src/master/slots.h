/*
 * The slot table: each slot's worker is started, watched, started again with
 * back-off when it dies, and stopped. Process: the master.
 */
#ifndef RUNNEL_MASTER_SLOTS_H
#define RUNNEL_MASTER_SLOTS_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "master/sockets.h"

struct slots;

struct slots_config {
	struct ev_loop *loop; /* all borrowed for the slots' life */
	const char *conf_path;
	const char *conf_text;
	const struct sockets *sockets;
	unsigned int n_slots;
	bool is_detached;             /* workers leave the terminal once they are ready */
	void (*on_change)(void *arg); /* a worker became ready, ended, or was given up */
	void (*in_child)(
	    void *arg); /* called in a new worker process: forget all that is the master's */
	void *arg;
};

struct slots *slots_new(const struct slots_config *config) MUST_CHECK;

/* Start a worker in each slot. */
void slots_start(struct slots *slots);

/* Slots whose worker accepts connections. */
unsigned int slots_n_ready(const struct slots *slots);

/* Slots that have a process. */
unsigned int slots_n_running(const struct slots *slots);

/*
 * Slots whose worker is not started again: it said that it is hopeless, or was never ready in
 * several tries.
 */
unsigned int slots_n_failed(const struct slots *slots);

/* Let all workers close gracefully, within limit_ms (0: no limit), and start none any more. */
void slots_stop(struct slots *slots, uint32_t limit_ms);

/* Let all workers close at once. */
void slots_stop_now(struct slots *slots);

/* SIGKILL to all workers that are left. */
void slots_kill(struct slots *slots);

/* A line of counters for each slot. */
void slots_log_counters(const struct slots *slots);

/* In a worker process: stop the watchers and close the master's ends of the channels. */
void slots_forget(struct slots *slots);

/* No process may be left. */
void slots_destroy(struct slots **slots);

#endif
