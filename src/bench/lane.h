/*
 * A lane: one thread that drives its share of the clients through the phases.
 * Lanes share nothing but memory that one writes and the reporter reads: no lock,
 * no client, no descriptor.
 */
#ifndef RUNNEL_BENCH_LANE_H
#define RUNNEL_BENCH_LANE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

#include "bench/protocol.h"
#include "bench/tally.h"

struct address;
struct client;
struct options;

#define LANE_NOTE_SIZE 160

/* What a lane tells the reporter, in shared memory. */
struct lane_report {
	struct tally tallies[N_PHASES];
	char wrong_note[LANE_NOTE_SIZE]; /* the first wrong reply, in words; empty: none */
	int connect_errno;               /* of the first connect that failed; 0: none */
};

/* What is common to all lanes; set before they start. */
struct lane_setup {
	const struct options *options;
	const struct address *address;
	const bool *is_stopping; /* in shared memory: the run is interrupted */
};

struct lane {
	const struct options *options;
	const struct address *address;
	const bool *is_stopping;
	struct lane_report *report; /* borrowed; this lane is its writer */
	struct tally *tally;        /* of the current phase, in the report */
	enum phase phase;
	int epoll_fd;
	uint64_t now_ns;   /* as of the wakeup of the loop or of the last client */
	uint64_t sweep_ns; /* when deadlines are looked at next */
	uint64_t end_ns;   /* when no more requests are sent; UINT64_MAX: never */
	struct protocol protocol;
	uint8_t *clients; /* owned: n_clients of client_size bytes each */
	size_t client_size;
	uint32_t n_clients;
	uint32_t n_busy;       /* clients that have not finished the phase */
	uint32_t n_connecting; /* connects in flight */
	uint32_t n_connecting_max;
	uint32_t n_sources_full; /* by how many source addresses clients have moved on */
	uint64_t ring_mask;      /* of each client's sent_ns */
	uint64_t ramp_ns;        /* when the next burst of connects may begin */
	uint32_t n_ramp;         /* connects left of this burst */
	struct link waiting;     /* clients that want to connect */
	struct link thinking; /* in the order of their due times, which all are think_ns away */
	uint8_t *in, *out;    /* owned scratch, LANE_SCRATCH bytes each */
};

#define LANE_SCRATCH ((size_t)64 * 1024)

/*
 * A lane of n_clients clients, numbered from first_client on, with at most n_connecting connects
 * in flight. At start; exits when there is no memory. The report is borrowed.
 */
struct lane *lane_new(const struct lane_setup *setup, uint32_t first_client, uint32_t n_clients,
    uint32_t n_connecting, struct lane_report *report);

/* The client at an index, less than n_clients. */
struct client *lane_client(const struct lane *lane, uint32_t index);

/* Connect all clients; returns when each is connected or has failed. */
void lane_connect(struct lane *lane);

/*
 * Let each client send n_requests (0: any number) and get its replies, for at most duration_ns
 * (0: any time). Counts into the tally of that phase.
 */
void lane_exchange(
    struct lane *lane, enum phase phase, uint64_t n_requests, uint64_t duration_ns);

void lane_destroy(struct lane **lane);

#endif
