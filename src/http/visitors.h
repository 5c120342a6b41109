/*
 * The connections of HTTP clients, and their time: from its start, or from the end of its last
 * request, a connection has so long to send a request and to take the answer. What is slower,
 * or idle, is ended, whatever it does meanwhile.
 */
#ifndef RUNNEL_HTTP_VISITORS_H
#define RUNNEL_HTTP_VISITORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"

#define VISITOR_LIMIT_MS 10000

struct visitors;

struct visitor {
	struct link link;
	struct visitors *visitors;
	int fd; /* borrowed */
	uint64_t since_ms;
	bool is_new; /* no request of it is done */
};

/* The head of a list, in the order of their time. */
struct visitors {
	struct link list;
	size_t n_new;
};

void visitors_init(struct visitors *visitors);

/* NULL: out of memory. */
struct visitor *visitor_new(struct visitors *visitors, int fd);

/* A request of it is done: its time begins anew. */
void visitor_renew(struct visitor *visitor);

void visitor_destroy(struct visitor **visitor);

/* Let the connections whose time is over fail; their owner closes them then. */
void visitors_tick(struct visitors *visitors);

/* Milliseconds until there is one; -1: never. */
int visitors_timeout_ms(const struct visitors *visitors);

#endif
