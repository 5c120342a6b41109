/*
 * The pool: what the loop sees of the threads. It bounds the number of jobs, calls
 * done() for each on the loop, and keeps jobs of a key in order.
 *
 * Jobs of a key are a lane. Only its lead, the first, is with the threads; the
 * others wait behind it. So the threads know nothing of order, and a job begins
 * when done() of the one before it in its lane has returned.
 */
#ifndef RUNNEL_WORK_POOL_H
#define RUNNEL_WORK_POOL_H

#include <ev.h>
#include <stddef.h>

#include <runnel/module.h>

#include "work/threads.h"

/* A pool calls done() of so many jobs a turn of the loop; the rest waits for the next. */
#define POOL_TURN_JOBS 64

struct pool;

/*
 * A pool of at most max_jobs jobs, those that have run and were not taken yet included. It starts
 * no thread before the first job, and does not keep the loop running. STATUS_NOMEM.
 */
enum status pool_new(struct ev_loop *loop, unsigned int max_threads, size_t max_jobs,
    struct pool **pool) MUST_CHECK;

/*
 * Have job->run(job->arg) called in a thread, then job->done(job, true) on the loop; job is freed
 * after that. lanes: a hash of the caller's in which the pool keeps the lanes, for order by key;
 * or NULL. RNL_EFULL: there are max_jobs; RNL_ECLOSED: after pool_close(); RNL_ENOMEM: there is
 * no thread, and errno says why. On failure the job is the caller's still.
 */
enum rnl_status pool_submit(
    struct pool *pool, struct job *job, struct hash *lanes, uint64_t key) MUST_CHECK;

/* Jobs that are not done. */
size_t pool_n_jobs(const struct pool *pool);

/* Call idle(arg) each time that the last job is done. */
void pool_watch_idle(struct pool *pool, void (*idle)(void *arg), void *arg);

/*
 * Take no more jobs, and call done(job, false) of those that no thread has begun, but for those
 * behind a job of their lane that runs: theirs is called when that has ended.
 */
void pool_close(struct pool *pool);

/* No job may be left. */
void pool_destroy(struct pool **pool);

#endif
