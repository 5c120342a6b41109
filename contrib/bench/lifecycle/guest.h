/*
 * A guest of churn: a client with one connection at a time and at most one request
 * outstanding on it, in one of two roles. A busy one asks for as long as churn runs,
 * and comes back whenever its connection has ended; a session connects, asks a few
 * times, and leaves.
 *
 * A guest is what a careful client is: it reads all that has come, the end of
 * the stream too, before it asks again. So a server that lets the end of the stream
 * come with its last reply takes nothing from it.
 */
#ifndef RUNNEL_LIFECYCLE_GUEST_H
#define RUNNEL_LIFECYCLE_GUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "bench/address.h"
#include "bench/protocol.h"

#include "lifecycle/ledger.h"

enum guest_state {
	GUEST_AWAY,       /* busy, without a connection: it comes back soon */
	GUEST_CONNECTING, /* in crowd->waiting, like one that asks */
	GUEST_ASKING,
	GUEST_RESTING, /* in crowd->resting: no request is outstanding */
};

struct guest {
	uint32_t magic;
	uint32_t number; /* stands in its requests */
	int fd;          /* -1: none */
	enum guest_state state;
	bool is_busy;
	bool was_served;    /* it has had a reply, on whichever connection */
	uint64_t serial;    /* of its request */
	uint64_t n_replies; /* on this connection */
	size_t n_in;        /* bytes of the reply that have come and were right */
	uint64_t begun_ns;  /* the connect */
	uint64_t asked_ns;  /* the request; of the first one on a connection: the connect */
	uint64_t due_ns;    /* away or resting: the end of that */
	struct link link;   /* in the crowd's list of its state */
};

/* All guests and what they share. Borrows protocol, address and ledger. */
struct crowd {
	int epoll_fd;
	struct protocol *protocol;
	const struct address *address;
	struct ledger *ledger;
	uint64_t think_ns;   /* of a busy guest, between a reply and the next request */
	uint64_t limit_ns;   /* to the first reply from the connect on, and to any other */
	uint64_t n_requests; /* of a session */
	uint64_t now_ns;
	uint32_t n_guests;      /* so far: the next one's number */
	uint64_t n_inside;      /* guests that are there */
	uint64_t n_busy_served; /* busy ones that had a reply */
	bool is_closing;        /* sessions go on to their end, busy guests to their reply */
	/* Each in the order in which its guests' time is over. */
	struct link waiting, resting, away;
};

/*
 * Let one in; it is freed when it leaves: a session after its requests or when its connection
 * ends, a busy one when the crowd is closing.
 */
void guest_enter(struct crowd *crowd, bool is_busy);

/* What epoll says about its socket. */
void guest_on_event(struct crowd *crowd, struct guest *guest, uint32_t events);

/*
 * Do what the clock demands of all guests by crowd->now_ns. Returns when that will be again;
 * UINT64_MAX: never.
 */
uint64_t crowd_keep_time(struct crowd *crowd);

/* Send busy guests away: now, or after the reply that is outstanding. */
void crowd_close(struct crowd *crowd);

#endif
