/*
 * The processes and threads that make the load, as seen by the process that
 * leads them. All wait at a gate before each phase, so that a phase begins for
 * everybody at once, when everybody is through with the last one.
 *
 * Lanes are spread over the processes, clients over the lanes, as evenly as it
 * goes. There are several processes where the limit of descriptors demands it.
 */
#ifndef RUNNEL_BENCH_CREW_H
#define RUNNEL_BENCH_CREW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

#include "bench/tally.h"

struct address;
struct crew;
struct lane_report;
struct options;

/*
 * Raise the limit of descriptors and start the processes; they wait. options and address are
 * borrowed until the end. STATUS_INVALID: *why says what is in the way.
 */
enum status crew_new(const struct options *options, const struct address *address,
    struct crew **crew, struct reason *why) MUST_CHECK;

uint32_t crew_n_processes(const struct crew *crew);
uint32_t crew_n_lanes(const struct crew *crew);
const struct lane_report *crew_report(const struct crew *crew, uint32_t lane);

/* Let the phase begin. */
void crew_begin(struct crew *crew, enum phase phase);

/*
 * Wait until all lanes are through with the phase, or a signal came, or timeout_ms (-1: none)
 * have passed. *is_done says whether the first is the case. STATUS_INVALID: a process has died.
 */
enum status crew_wait(struct crew *crew, enum phase phase, int timeout_ms, bool *is_done,
    struct reason *why) MUST_CHECK;

/* SIGINT or SIGTERM came: the lanes have been told to stop, and every phase is over soon. */
bool crew_is_interrupted(const struct crew *crew);

/* Connections opened (PHASE_CONNECT) or right replies (others) so far. */
uint64_t crew_count(const struct crew *crew, enum phase phase);

/* Let the processes end, or end them if they have not been through all phases. */
void crew_destroy(struct crew **crew);

#endif
