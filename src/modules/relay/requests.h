/*
 * The requests in flight on one connection to a backend, in the order in which
 * they were sent, in places that are made once.
 *
 * Each has a tag, which no other on any connection has: part of it is random, so
 * that neither a late reply nor bytes that are none are taken for the reply to
 * another request.
 */
#ifndef RELAY_REQUESTS_H
#define RELAY_REQUESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REQUEST_TAG_SIZE sizeof(uint64_t)

struct request {
	struct request *next, *prev; /* in the list of those in flight, or of free places */
	uint64_t tag;                /* 0: the place is free */
	uint64_t client;             /* the id of its connection */
	uint64_t due_ms;             /* the monotonic clock when the reply is late */
	uint32_t id;                 /* of the message */
};

struct requests;

/* For at most n_most at once. NULL: no memory. */
struct requests *requests_new(size_t n_most);

/* The last in order, with a tag; the other fields are the caller's. NULL: no place is free. */
struct request *requests_add(struct requests *requests);

/* The first in order. NULL: there is none. */
struct request *requests_first(const struct requests *requests);

/* NULL: there is none with this tag. */
struct request *requests_find(struct requests *requests, uint64_t tag);

size_t requests_count(const struct requests *requests);

/* It is not in flight any more. */
void requests_remove(struct requests *requests, struct request *request);

void requests_free(struct requests *requests);

#endif
