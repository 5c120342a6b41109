#include "config.h"

#include <stdlib.h>

#include "base/panic.h"

#include "work/pool.h"

struct pool {
	struct ev_loop *loop; /* borrowed */
	struct threads *threads;
	ev_async finished;
	size_t n_jobs, max_jobs;
	bool is_closed;
	void (*idle)(void *arg); /* NULL: nobody cares */
	void *idle_arg;
};

/* In a thread. */
static void wake(void *arg)
{
	struct pool *pool = arg;

	ev_async_send(pool->loop, &pool->finished);
}

/* The lead of a lane is done with: the job behind it leads now. NULL: the lane is over. */
static struct job *succeed(struct job *job)
{
	struct link *link = list_shift(&job->followers);
	struct job *next;

	hash_remove(job->lanes, &job->by_key);
	if (link == NULL)
		return NULL;
	next = container_of(link, struct job, link);
	list_init(&next->followers);
	list_splice(&next->followers, &job->followers);
	hash_insert(next->lanes, &next->by_key, job->by_key.key);
	return next;
}

/*
 * Tell that a job has run or never will, then let the next of its lane go. What done() submits
 * with the same key joins the lane, whose lead is this job until it returns. In a closed pool
 * the next will not run either, and so on.
 */
static void finish(struct pool *pool, struct job *job, bool has_run)
{
	while (job != NULL) {
		struct job *next = NULL;

		pool->n_jobs--;
		job->done(job, has_run);
		if (job->lanes != NULL)
			next = succeed(job);
		free(job);
		if (next != NULL && !pool->is_closed) {
			/* It cannot fail: there is the thread that the lead ran in. */
			CHECK(threads_put(pool->threads, next) == STATUS_OK);
			break;
		}
		job = next;
		has_run = false;
	}
	if (pool->n_jobs == 0 && pool->idle != NULL)
		pool->idle(pool->idle_arg);
}

static void on_finished(struct ev_loop *loop, ev_async *watcher, int revents)
{
	struct pool *pool = container_of(watcher, struct pool, finished);
	struct job *job;

	(void)revents;
	for (int i = 0; i < POOL_TURN_JOBS; i++) {
		job = threads_take(pool->threads);
		if (job == NULL)
			return;
		finish(pool, job, true);
	}
	/* The threads do not wake the loop for what is left. */
	ev_async_send(loop, watcher);
}

enum status pool_new(
    struct ev_loop *loop, unsigned int max_threads, size_t max_jobs, struct pool **result)
{
	struct pool *pool = calloc(1, sizeof(*pool));

	if (pool == NULL)
		return STATUS_NOMEM;
	if (threads_new(max_threads, wake, pool, &pool->threads) != STATUS_OK) {
		free(pool);
		return STATUS_NOMEM;
	}
	pool->loop = loop;
	pool->max_jobs = max_jobs;
	ev_async_init(&pool->finished, on_finished);
	ev_async_start(loop, &pool->finished);
	ev_unref(loop);
	*result = pool;
	return STATUS_OK;
}

enum rnl_status pool_submit(
    struct pool *pool, struct job *job, struct hash *lanes, uint64_t key)
{
	struct hash_link *lead = lanes != NULL ? hash_find(lanes, key) : NULL;

	if (pool->is_closed)
		return RNL_ECLOSED;
	if (pool->n_jobs >= pool->max_jobs)
		return RNL_EFULL;
	job->lanes = lanes;
	list_init(&job->followers);
	if (lead != NULL)
		list_append(&container_of(lead, struct job, by_key)->followers, &job->link);
	else if (threads_put(pool->threads, job) != STATUS_OK)
		return RNL_ENOMEM;
	else if (lanes != NULL)
		hash_insert(lanes, &job->by_key, key);
	pool->n_jobs++;
	return RNL_OK;
}

size_t pool_n_jobs(const struct pool *pool)
{
	return pool->n_jobs;
}

void pool_watch_idle(struct pool *pool, void (*idle)(void *arg), void *arg)
{
	pool->idle = idle;
	pool->idle_arg = arg;
}

void pool_close(struct pool *pool)
{
	struct job *job;

	pool->is_closed = true;
	while ((job = threads_take_back(pool->threads)) != NULL)
		finish(pool, job, false);
}

void pool_destroy(struct pool **poolp)
{
	struct pool *pool = *poolp;

	CHECK(pool->n_jobs == 0);
	threads_destroy(&pool->threads);
	ev_ref(pool->loop);
	ev_async_stop(pool->loop, &pool->finished);
	free(pool);
	*poolp = NULL;
}
