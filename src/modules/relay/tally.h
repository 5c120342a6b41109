/*
 * What the relay counts: for the log, which is told at the end, and for whoever watches.
 */
#ifndef RELAY_TALLY_H
#define RELAY_TALLY_H

#include <runnel/module.h>

/* Why a request gets no reply; also what a client is told. */
enum cause {
	CAUSE_NONE,
	CAUSE_BUSY,    /* the queue to the backend is full, or too many are in flight there */
	CAUSE_DOWN,    /* no backend is up */
	CAUSE_LOST,    /* the connection to the backend has ended */
	CAUSE_LATE,    /* reply-timeout is over */
	CAUSE_TOO_BIG, /* it is longer than the backend takes, or can never fit the queue to it */
	CAUSE_UNSAYABLE, /* the framing of the backends has no frame for it */
	CAUSE_MEMORY,    /* there is none */
	N_CAUSES
};

/* In configure: have metrics. The relay is of use without them. */
void tally_configure(struct rnl_setup *setup);

/* A request came; it failed. */
void tally_request(void);
void tally_failure(enum cause cause);

/* So many more requests are in flight, or fewer. */
void tally_in_flight(int by);

/* What became of a reply, by what the send to its client returned. */
void tally_reply(enum rnl_status status);

void tally_log(void);

#endif
