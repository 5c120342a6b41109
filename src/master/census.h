/*
 * What only workers know of their connections, asked of all of them at once and
 * collected. Who does not answer within 2 seconds is left out. Process: the master,
 * in its loop.
 */
#ifndef RUNNEL_MASTER_CENSUS_H
#define RUNNEL_MASTER_CENSUS_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "master/succession.h"
#include "worker/survey.h"

struct census_worker {
	struct link link; /* of census.workers */
	struct census *census;
	unsigned int slot;
	ev_io io;
	bool is_open;     /* its answer is awaited */
	bool is_complete; /* it has come, to its end */
	size_t size, len; /* bytes of records: room, and what came */
	struct survey_record *records;
};

/* It is over. */
typedef void census_done_f(struct census *census, void *arg);

/* The census goes: so does arg. */
typedef void census_release_f(void *arg);

struct census {
	struct link link; /* in the list of those that are not over */
	struct ev_loop *loop;
	struct survey_request request;
	struct link workers;
	size_t n_open;
	ev_timer limit;
	census_done_f *done;
	census_release_f *release;
	void *arg;
};

/*
 * Ask all workers. done is called once, in a later turn of the loop, unless the census is dropped
 * before; release is the last in any case. Meanwhile it stands in list.
 */
void census_start(struct link *list, struct ev_loop *loop, struct succession *succession,
    const struct survey_request *request, census_done_f *done, census_release_f *release,
    void *arg);

/* Records that have come whole, without the one that ends them. */
size_t census_n_records(const struct census_worker *worker);

/* In a child, or at the end of the loop: drop all that are not over; done is not called. */
void censuses_drop(struct link *list);

#endif
