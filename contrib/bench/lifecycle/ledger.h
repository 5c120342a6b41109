/*
 * What churn's guests have met: counts, latencies, and the first failures with the
 * local port and the time of each, by which they are found in the server's log.
 */
#ifndef RUNNEL_LIFECYCLE_LEDGER_H
#define RUNNEL_LIFECYCLE_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bench/histogram.h"

/* TROUBLE(name, text): each connection that fails does so for one. */
#define TROUBLES(TROUBLE)                                                        \
	TROUBLE(refused, "connect: refused")                                     \
	TROUBLE(connect_failed, "connect: another error")                        \
	TROUBLE(connect_timeout, "connected or not, no first reply in time")     \
	TROUBLE(turned_away, "closed before its first request")                  \
	TROUBLE(lost_end, "end of stream with a request outstanding")            \
	TROUBLE(lost_reset, "reset or another error with a request outstanding") \
	TROUBLE(reply_timeout, "no reply in time, on a connection that had one") \
	TROUBLE(wrong, "bytes that are not the reply's, or that nobody asked for")

enum trouble {
#define TROUBLE_ENUM(name, text) TROUBLE_##name,
	TROUBLES(TROUBLE_ENUM)
#undef TROUBLE_ENUM
	    N_TROUBLES
};

struct failure_note {
	enum trouble trouble;
	bool is_busy; /* a busy client; false: a session */
	uint16_t port;
	int error;          /* errno; 0: none */
	uint64_t at_ns;     /* since the start */
	int64_t wall_ns;    /* since 1970 */
	uint64_t begun_ns;  /* the connect, since the start */
	uint64_t n_replies; /* on this connection, before */
};

#define LEDGER_NOTES 20

struct ledger {
	uint64_t started_ns, ended_ns;
	uint64_t connects; /* begun */
	uint64_t sessions_begun, sessions_done;
	uint64_t replies;
	uint64_t moved; /* closed by the server between a reply and the next request */
	uint64_t troubles[N_TROUBLES];
	struct histogram connected; /* from connect to the end of the handshake, */
	struct histogram answered;  /* and to the first reply */
	struct histogram replied;   /* from any other request to its reply */
	uint64_t last_reply_ns;     /* 0: none yet */
	uint64_t longest_gap_ns;    /* between two replies, whoever's they are */
	struct failure_note notes[LEDGER_NOTES];
	size_t n_notes;
};

void ledger_init(struct ledger *ledger, uint64_t now_ns);

/* A right reply; its latency goes into one of the histograms, by the caller. */
void ledger_add_reply(struct ledger *ledger, uint64_t now_ns);

/* The caller sets all but at_ns and wall_ns; begun_ns is by the clock, not since the start. */
void ledger_add_trouble(
    struct ledger *ledger, uint64_t now_ns, const struct failure_note *note);

/* No reply is expected any more: a gap that goes on until now counts. */
void ledger_end(struct ledger *ledger, uint64_t now_ns);

/*
 * Whether nothing failed. are_ends_expected: a server process was killed, so that connections
 * that it ended, in whatever state, are no failure.
 */
bool ledger_is_clean(const struct ledger *ledger, bool are_ends_expected);

/* A line for people, then one of JSON. */
void ledger_print(const struct ledger *ledger, uint64_t n_busy, FILE *out);

#endif
