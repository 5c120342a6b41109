/*
 * Threads that run jobs, and the two queues between them and the thread of the
 * loop: jobs that wait for a thread, and jobs that have run. All functions are
 * the loop's; the threads call nothing of ours but run() and wake().
 */
#ifndef RUNNEL_WORK_THREADS_H
#define RUNNEL_WORK_THREADS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "base/list.h"
#include "base/status.h"

/*
 * The first member of a struct from malloc(3). Between threads_put() and threads_take() a thread
 * may have it: the loop then touches no more than the fields of the pool.
 */
struct job {
	struct link link; /* the queue it stands in */
	void (*run)(void *arg);
	void *arg;

	/* The pool's (pool.h). */
	void (*done)(struct job *job, bool has_run);
	struct hash *lanes;      /* where its lane is; NULL: it is in none */
	struct hash_link by_key; /* of the job that leads the lane */
	struct link followers;   /* of the same job: those that wait for it, by link */
};

struct threads;

/*
 * No thread is started yet. wake is called in one of the threads when jobs have run and none was
 * waiting to be taken before; it must not block. STATUS_NOMEM.
 */
enum status threads_new(unsigned int max_threads, void (*wake)(void *arg), void *arg,
    struct threads **threads) MUST_CHECK;

/*
 * Queue a job. A thread is started for it when none is idle and there may be more. STATUS_ERRNO:
 * there is no thread at all and the system refuses one; the job is the caller's still.
 */
enum status threads_put(struct threads *threads, struct job *job) MUST_CHECK;

/* The next job that has run, in the order of their ends; NULL: there is none. */
struct job *threads_take(struct threads *threads);

/* Take back the first job that no thread has begun; NULL: there is none. */
struct job *threads_take_back(struct threads *threads);

/* End the threads and wait for them. No job may be left. */
void threads_destroy(struct threads **threads);

#endif
