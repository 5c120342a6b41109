/*
 * What one thread counted in one phase. It lies in memory shared with the
 * process that reports; its owner is the only writer, and the reporter reads
 * what moves (`replies`, `connects_opened`) while the phase runs, the rest after it.
 *
 * After a phase that was not interrupted:
 *   requests_sent = replies + the sum of failed[], and
 *   requests_sent + requests_unsent = what was to be sent.
 */
#ifndef RUNNEL_BENCH_TALLY_H
#define RUNNEL_BENCH_TALLY_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/histogram.h"

enum phase { PHASE_CONNECT, PHASE_WARMUP, PHASE_RUN, N_PHASES };

/* How a connection, and the requests in flight on it, are lost. */
enum failure {
	FAILURE_TIMEOUT, /* no whole reply within the deadline */
	FAILURE_CLOSED,  /* end of stream */
	FAILURE_RESET,   /* or another socket error */
	FAILURE_WRONG,   /* a byte that is not the reply's, or that nobody asked for */
	FAILURE_ABORTED, /* requests only: behind a wrong or late reply, not their own fault */
	N_FAILURES,
};

/* Why a connect failed. */
enum connect_failure {
	CONNECT_REFUSED,
	CONNECT_TIMEOUT,
	CONNECT_NO_PORT, /* no source address has a free port */
	CONNECT_NO_DESCRIPTOR,
	CONNECT_OTHER,
	N_CONNECT_FAILURES,
};

struct tally {
	uint64_t requests_sent;
	uint64_t requests_unsent; /* of clients that gave up */
	uint64_t requests_cut;    /* in flight when the run was interrupted */
	uint64_t replies;         /* right ones */
	uint64_t bytes_out, bytes_in;
	uint64_t failed[N_FAILURES]; /* requests */
	uint64_t lost[N_FAILURES];   /* connections */
	uint64_t connects_tried, connects_opened;
	uint64_t connects_failed[N_CONNECT_FAILURES];
	uint64_t clients_given_up;
	uint64_t started_ns, ended_ns; /* the owner's own phase */
	uint64_t cpu_ns;               /* the owner's in this phase */
	struct histogram latency;      /* of right replies */
	struct histogram connect_latency;
};

/* Names for people and for the JSON: "timeout", "closed", ... */
extern const char *const failure_names[N_FAILURES];
extern const char *const connect_failure_names[N_CONNECT_FAILURES];

void tally_init(struct tally *tally);

/* Add up; the merged phase lasts from the first start to the last end. */
void tally_merge(struct tally *into, const struct tally *from);

/* How long the phase took; 0 if it did not take place. */
double tally_seconds(const struct tally *tally);

/* Requests without a right reply, sent or not. */
uint64_t tally_failed_requests(const struct tally *tally);

uint64_t tally_failed_connects(const struct tally *tally);

/*
 * Did every request get its right reply, every connect succeed, and no client give up? A
 * connection that is lost between requests is no failure.
 */
bool tally_is_clean(const struct tally *tally);

#endif
