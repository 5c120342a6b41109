#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/panic.h"

#include "work/threads.h"

struct threads {
	/* The loop's alone. */
	unsigned int max_threads, n_threads;
	void (*wake)(void *arg);
	void *wake_arg;

	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t is_work;
	struct link waiting, finished; /* jobs, by link */
	size_t n_waiting;
	unsigned int n_idle; /* threads that wait for is_work, or are about to be woken */
	bool is_ending;

	pthread_t ids[]; /* the loop's alone; n_threads of them */
};

enum status threads_new(
    unsigned int max_threads, void (*wake)(void *arg), void *arg, struct threads **result)
{
	struct threads *threads =
	    calloc(1, sizeof(*threads) + max_threads * sizeof(threads->ids[0]));

	if (threads == NULL)
		return STATUS_NOMEM;
	threads->max_threads = max_threads;
	threads->wake = wake;
	threads->wake_arg = arg;
	/* With default attributes neither can fail on Linux. */
	CHECK(pthread_mutex_init(&threads->mutex, NULL) == 0);
	CHECK(pthread_cond_init(&threads->is_work, NULL) == 0);
	list_init(&threads->waiting);
	list_init(&threads->finished);
	*result = threads;
	return STATUS_OK;
}

/* Both are called with the mutex held. */

static struct job *next_job(struct threads *threads)
{
	struct link *link;

	while (list_is_empty(&threads->waiting) && !threads->is_ending) {
		threads->n_idle++;
		pthread_cond_wait(&threads->is_work, &threads->mutex);
		threads->n_idle--;
	}
	link = list_shift(&threads->waiting);
	if (link == NULL)
		return NULL;
	threads->n_waiting--;
	return container_of(link, struct job, link);
}

static void finish_job(struct threads *threads, struct job *job)
{
	bool is_first = list_is_empty(&threads->finished);

	list_append(&threads->finished, &job->link);
	if (is_first)
		threads->wake(threads->wake_arg);
}

/* Of a sanitizer's. */
static bool has_signal_stack(void)
{
	stack_t stack;

	return sigaltstack(NULL, &stack) == 0 && !(stack.ss_flags & SS_DISABLE);
}

/* A job that has used up its stack is reported from a part of it that was kept. */
#define SPARE_STACK (32 * 1024)

static void *thread_main(void *arg)
{
	struct threads *threads = arg;
	char spare[SPARE_STACK];
	const stack_t stack = { .ss_sp = spare, .ss_size = sizeof(spare) };
	const stack_t none = { .ss_flags = SS_DISABLE };
	bool has_own = has_signal_stack();
	struct job *job;

	if (!has_own)
		sigaltstack(&stack, NULL);
	pthread_mutex_lock(&threads->mutex);
	while ((job = next_job(threads)) != NULL) {
		pthread_mutex_unlock(&threads->mutex);
		job->run(job->arg);
		pthread_mutex_lock(&threads->mutex);
		finish_job(threads, job);
	}
	pthread_mutex_unlock(&threads->mutex);
	if (!has_own)
		sigaltstack(&none, NULL);
	return NULL;
}

/*
 * Signals are the loop's: a thread begins with all of them blocked, but for those of its own
 * crashes. Returns an errno.
 */
static int start_thread(struct threads *threads)
{
	pthread_t *id = &threads->ids[threads->n_threads];
	sigset_t all, before;
	int error;

	sigfillset(&all);
	panic_let_in(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(id, NULL, thread_main, threads);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0)
		return error;
	pthread_setname_np(*id, "runneld job");
	threads->n_threads++;
	return 0;
}

/* False: there is no thread to run a job. */
static bool see_to_threads(struct threads *threads)
{
	bool is_one_idle;
	int error;

	pthread_mutex_lock(&threads->mutex);
	is_one_idle = threads->n_waiting < threads->n_idle;
	pthread_mutex_unlock(&threads->mutex);
	if (is_one_idle || threads->n_threads == threads->max_threads)
		return true;
	error = start_thread(threads);
	if (error == 0 || threads->n_threads > 0)
		return true;
	errno = error;
	return false;
}

enum status threads_put(struct threads *threads, struct job *job)
{
	if (!see_to_threads(threads))
		return STATUS_ERRNO;
	pthread_mutex_lock(&threads->mutex);
	list_append(&threads->waiting, &job->link);
	threads->n_waiting++;
	pthread_cond_signal(&threads->is_work);
	pthread_mutex_unlock(&threads->mutex);
	return STATUS_OK;
}

struct job *threads_take(struct threads *threads)
{
	struct link *link;

	pthread_mutex_lock(&threads->mutex);
	link = list_shift(&threads->finished);
	pthread_mutex_unlock(&threads->mutex);
	return link != NULL ? container_of(link, struct job, link) : NULL;
}

struct job *threads_take_back(struct threads *threads)
{
	struct link *link;

	pthread_mutex_lock(&threads->mutex);
	link = list_shift(&threads->waiting);
	if (link != NULL)
		threads->n_waiting--;
	pthread_mutex_unlock(&threads->mutex);
	return link != NULL ? container_of(link, struct job, link) : NULL;
}

void threads_destroy(struct threads **threadsp)
{
	struct threads *threads = *threadsp;

	pthread_mutex_lock(&threads->mutex);
	CHECK(list_is_empty(&threads->waiting) && list_is_empty(&threads->finished));
	threads->is_ending = true;
	pthread_cond_broadcast(&threads->is_work);
	pthread_mutex_unlock(&threads->mutex);
	for (unsigned int i = 0; i < threads->n_threads; i++)
		pthread_join(threads->ids[i], NULL);
	pthread_cond_destroy(&threads->is_work);
	pthread_mutex_destroy(&threads->mutex);
	free(threads);
	*threadsp = NULL;
}
