/*
 * A run: processes and threads, the phases they go through together, and what
 * they add up to.
 */
#ifndef RUNNEL_BENCH_RUN_H
#define RUNNEL_BENCH_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/status.h"

#include "bench/address.h"
#include "bench/lane.h"
#include "bench/tally.h"

struct options;

struct run {
	const struct options *options; /* borrowed */
	struct address address;
	time_t date;
	uint32_t n_processes;
	uint32_t n_lanes; /* threads, of all processes together */
	bool is_interrupted;
	struct tally tallies[N_PHASES]; /* of all lanes together */
	double *lane_shares; /* owned: of a processor, that each lane used in the run */
	double idle_share;   /* of the machine in the run; negative: unknown */
	bool has_server_cpu;
	double server_seconds;           /* processor time that the server used in the run */
	double server_busiest_seconds;   /* and the busiest of its processes */
	char wrong_note[LANE_NOTE_SIZE]; /* the first wrong reply, in words; empty: none */
	int connect_errno;               /* of the first connect that failed; 0: none */
};

/*
 * Do what the options say. STATUS_INVALID: it could not be done, *why says why. A server that
 * fails is no such case: that is what the tallies tell.
 */
enum status run_new(
    const struct options *options, struct run **run, struct reason *why) MUST_CHECK;

/* Did all that was asked for go right? */
bool run_is_clean(const struct run *run);

void run_destroy(struct run **run);

#endif
