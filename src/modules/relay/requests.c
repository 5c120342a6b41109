#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

#include "requests.h"

/* A tag is the number of a place below bits that are random. */
#define PLACE_BITS 20
#define PLACE_MASK ((UINT64_C(1) << PLACE_BITS) - 1)

struct requests {
	struct request *first, *last, *free;
	size_t n, n_places;
	uint64_t random;
	struct request places[];
};

/* SplitMix64 (Steele, Lea, Flood 2014): fast, and good for all that is not secret. */
static uint64_t draw(struct requests *requests)
{
	uint64_t z = requests->random += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

static void seed(struct requests *requests)
{
	struct timespec now;

	if (getrandom(&requests->random, sizeof(requests->random), GRND_NONBLOCK) ==
	    (ssize_t)sizeof(requests->random))
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	requests->random = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec +
			   (uint64_t)(uintptr_t)requests;
}

struct requests *requests_new(size_t n_most)
{
	struct requests *requests =
	    calloc(1, sizeof(*requests) + n_most * sizeof(requests->places[0]));

	if (requests == NULL)
		return NULL;
	requests->n_places = n_most;
	for (size_t i = n_most; i-- > 0;) {
		requests->places[i].next = requests->free;
		requests->free = &requests->places[i];
	}
	seed(requests);
	return requests;
}

struct request *requests_add(struct requests *requests)
{
	struct request *request = requests->free;
	uint64_t place;

	if (request == NULL)
		return NULL;
	requests->free = request->next;
	place = (uint64_t)(request - requests->places);
	do
		request->tag = (draw(requests) & ~PLACE_MASK) | place;
	while (request->tag == place);
	request->next = NULL;
	request->prev = requests->last;
	if (requests->last != NULL)
		requests->last->next = request;
	else
		requests->first = request;
	requests->last = request;
	requests->n++;
	return request;
}

struct request *requests_first(const struct requests *requests)
{
	return requests->first;
}

struct request *requests_find(struct requests *requests, uint64_t tag)
{
	uint64_t place = tag & PLACE_MASK;

	if (tag == 0 || place >= requests->n_places || requests->places[place].tag != tag)
		return NULL;
	return &requests->places[place];
}

size_t requests_count(const struct requests *requests)
{
	return requests->n;
}

void requests_remove(struct requests *requests, struct request *request)
{
	if (request->prev != NULL)
		request->prev->next = request->next;
	else
		requests->first = request->next;
	if (request->next != NULL)
		request->next->prev = request->prev;
	else
		requests->last = request->prev;
	request->tag = 0;
	request->next = requests->free;
	requests->free = request;
	requests->n--;
}

void requests_free(struct requests *requests)
{
	free(requests);
}
