/*
 * A client: one connection after the other to the server, and the requests on
 * it. It holds no bytes: a request that the kernel took half of, or a reply that
 * came in pieces, is made again from its serial number (protocol.h).
 *
 * A client whose connection is lost connects again and goes on with the requests
 * that it has not sent. One whose connect fails, or whose connection is lost
 * before a right reply came on it, gives up.
 *
 * Events are edge-triggered: a client registers once per connection and reads
 * until a read comes back short.
 */
#ifndef RUNNEL_BENCH_CLIENT_H
#define RUNNEL_BENCH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

#include "bench/tally.h"

struct lane;

enum client_state {
	CLIENT_CLOSED, /* no connection; may be waiting for its turn to connect */
	CLIENT_CONNECTING,
	CLIENT_OPEN,
	CLIENT_GONE, /* has given up */
};

/*
 * oldest <= next <= limit. Serials below oldest are settled; [oldest, next) were handed to the
 * kernel in full and wait for replies; of next, n_out bytes were handed over.
 */
struct client {
	uint32_t magic;
	int fd; /* -1: none */
	uint32_t number;
	enum client_state state;
	bool is_busy;     /* has something left to do in this phase */
	bool is_leaving;  /* connects anew when nothing is in flight */
	bool has_replied; /* a right reply came on this connection */
	uint32_t n_out;   /* bytes of request `next` that the kernel has */
	uint32_t n_in;    /* bytes of reply `oldest` that have come and were right */
	uint64_t oldest, next, limit;
	uint64_t since_ns; /* CONNECTING: when it began; thinking: when it ends */
	struct link link;  /* in lane->waiting or lane->thinking */
	uint64_t
	    sent_ns[]; /* when a request was handed over, by serial modulo the ring's size */
};

/* What a client takes that has room for n_sent requests in flight. */
size_t client_size(uint64_t n_sent);

void client_init(struct client *client, uint32_t number);

/* Begin the phase of connecting, or one of n_requests requests (UINT64_MAX: without bound). */
void client_begin_connect(struct lane *lane, struct client *client);
void client_begin_requests(struct lane *lane, struct client *client, uint64_t n_requests);

/* Its turn has come to connect. */
void client_connect(struct lane *lane, struct client *client);

/* What epoll says about its socket. */
void client_on_event(struct lane *lane, struct client *client, uint32_t events);

/* Its think time is over. */
void client_on_thought(struct lane *lane, struct client *client);

/* Fail what has passed its deadline by lane->now_ns. */
void client_check_deadline(struct lane *lane, struct client *client);

/* Send nothing more in this phase than what has been begun. */
void client_finish(struct lane *lane, struct client *client);

/* The run is interrupted: what is in flight stays without a verdict. */
void client_cut(struct lane *lane, struct client *client);

void client_deinit(struct client *client);

#endif
