/*
 * What only workers know of their connections, asked of all of them at once and
 * collected. Who does not answer within 2 seconds is left out. Process: the master,
 * in its loop.
 *
 * One census runs at a time, so that those who ask do not fill the channels of
 * workers that are busy; the others wait in line. All that wait to count every
 * connection are answered by one census together.
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

/* Does anybody wait for it still? */
typedef bool census_wanted_f(const void *arg);

/* The census goes: so does arg. */
typedef void census_release_f(void *arg);

struct census {
	struct link link; /* in line, where the first one runs; or in joined of another */
	struct link *line;
	struct link joined; /* those that are answered with this one */
	struct ev_loop *loop;
	struct succession *succession;
	struct survey_request request;
	struct link workers;
	size_t n_open;
	ev_timer limit;
	census_done_f *done;
	census_wanted_f *is_wanted;
	census_release_f *release;
	void *arg;
};

/*
 * Ask all workers, when those before it in line are over. done is called once, in a later turn of
 * the loop, with the census that has the answer, unless this one is dropped before; release is the
 * last in any case. One that is_wanted no more when its turn comes asks nobody and has no answer.
 */
void census_start(struct link *line, struct ev_loop *loop, struct succession *succession,
    const struct survey_request *request, census_done_f *done, census_wanted_f *is_wanted,
    census_release_f *release, void *arg);

/* Records that have come whole, without the one that ends them. */
size_t census_n_records(const struct census_worker *worker);

/* In a child, or at the end of the loop: drop all that are not over; done is not called. */
void censuses_drop(struct link *line);

#endif
