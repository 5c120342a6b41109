/*
 * work: jobs run off the loop and are done on it, in the order of their key, within a bound.
 * Built with --enable-tsan it also shows that loop and threads share nothing unguarded.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "work/pool.h"

#define MAX_TASKS 5000

/* The linker gives the pool this one; the system has no more threads when none is left. */
static int n_threads_left = 1000;

int __real_pthread_create(
    pthread_t *id, const pthread_attr_t *attributes, void *(*main)(void *), void *arg);
int __wrap_pthread_create(
    pthread_t *id, const pthread_attr_t *attributes, void *(*main)(void *), void *arg);

int __wrap_pthread_create(
    pthread_t *id, const pthread_attr_t *attributes, void *(*main)(void *), void *arg)
{
	if (n_threads_left == 0)
		return EAGAIN;
	n_threads_left--;
	return __real_pthread_create(id, attributes, main, arg);
}

struct rig {
	struct ev_loop *loop;
	struct pool *pool;
	struct hash lanes;
	ev_timer limit;
	unsigned n_done, n_run, n_idle;
	unsigned order[MAX_TASKS]; /* numbers of jobs in the order in which they were done */
	unsigned submit_more;      /* jobs that each done submits */
	size_t await;              /* leave the loop when so many are done */
};

/* What the tests give to the pool, which frees it. */
struct task {
	struct job job;
	struct rig *rig;
	unsigned number;
	bool has_lane;
	uint64_t key;
	pthread_t thread;
	unsigned *runs; /* of its lane: how many have run, unguarded; NULL: none */
	unsigned seen;
};

/* A gate that holds threads until it is opened. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t change;
	unsigned n_inside, n_most;
	bool is_open;
} gate = { .mutex = PTHREAD_MUTEX_INITIALIZER, .change = PTHREAD_COND_INITIALIZER };

static void run_counted(void *arg)
{
	struct task *task = arg;

	task->thread = pthread_self();
	if (task->runs != NULL)
		task->seen = ++*task->runs;
}

static void run_at_gate(void *arg)
{
	run_counted(arg);
	pthread_mutex_lock(&gate.mutex);
	gate.n_inside++;
	if (gate.n_inside > gate.n_most)
		gate.n_most = gate.n_inside;
	pthread_cond_broadcast(&gate.change);
	while (!gate.is_open)
		pthread_cond_wait(&gate.change, &gate.mutex);
	gate.n_inside--;
	pthread_mutex_unlock(&gate.mutex);
}

/* Wait until n threads stand at the gate; the test's time limit is the deadline. */
static void await_inside(unsigned n)
{
	pthread_mutex_lock(&gate.mutex);
	while (gate.n_inside < n)
		pthread_cond_wait(&gate.change, &gate.mutex);
	pthread_mutex_unlock(&gate.mutex);
}

static void open_gate(void)
{
	pthread_mutex_lock(&gate.mutex);
	gate.is_open = true;
	pthread_cond_broadcast(&gate.change);
	pthread_mutex_unlock(&gate.mutex);
}

static enum rnl_status submit(struct rig *rig, unsigned number, void (*run)(void *arg),
    const uint64_t *key, unsigned *runs);

static void on_done(struct job *job, bool has_run)
{
	struct task *task = container_of(job, struct task, job);
	struct rig *rig = task->rig;

	rig->order[rig->n_done++] = task->number;
	rig->n_run += has_run;
	if (has_run)
		ck_assert(!pthread_equal(task->thread, pthread_self()));
	/* It ran when the one before it was done, and not earlier. */
	if (has_run && task->runs != NULL)
		ck_assert_uint_eq(task->seen, *task->runs);
	for (; rig->submit_more > 0; rig->submit_more--) {
		enum rnl_status status = submit(rig, rig->submit_more, run_counted,
		    task->has_lane ? &task->key : NULL, task->runs);

		ck_assert_int_eq(status, has_run ? RNL_OK : RNL_ECLOSED);
	}
	if (rig->n_done == rig->await)
		ev_break(rig->loop, EVBREAK_ALL);
}

static enum rnl_status submit(struct rig *rig, unsigned number, void (*run)(void *arg),
    const uint64_t *key, unsigned *runs)
{
	struct task *task = calloc(1, sizeof(*task));
	enum rnl_status status;

	ck_assert_ptr_nonnull(task);
	task->job.run = run;
	task->job.arg = task;
	task->job.done = on_done;
	task->rig = rig;
	task->number = number;
	task->runs = runs;
	task->has_lane = key != NULL;
	task->key = key != NULL ? *key : 0;
	status =
	    pool_submit(rig->pool, &task->job, key != NULL ? &rig->lanes : NULL, task->key);
	if (status != RNL_OK)
		free(task);
	return status;
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)timer;
	(void)revents;
	ck_abort_msg("jobs are not done in time");
}

static void rig_open(struct rig *rig, unsigned max_threads, size_t max_jobs)
{
	memset(rig, 0, sizeof(*rig));
	rig->loop = ev_loop_new(EVFLAG_AUTO);
	ck_assert_int_eq(hash_init(&rig->lanes), STATUS_OK);
	ck_assert_int_eq(pool_new(rig->loop, max_threads, max_jobs, &rig->pool), STATUS_OK);
	ev_timer_init(&rig->limit, on_limit, 30., 0.);
	ev_timer_start(rig->loop, &rig->limit);
}

/* Until n jobs are done since the rig was opened. */
static void rig_await(struct rig *rig, size_t n)
{
	rig->await = n;
	if (rig->n_done < n)
		ev_run(rig->loop, 0);
	ck_assert_uint_eq(rig->n_done, n);
}

static void rig_close(struct rig *rig)
{
	ck_assert_uint_eq(pool_n_jobs(rig->pool), 0);
	ck_assert_uint_eq(rig->lanes.n_links, 0);
	pool_destroy(&rig->pool);
	ck_assert_ptr_null(rig->pool);
	hash_destroy(&rig->lanes);
	ev_timer_stop(rig->loop, &rig->limit);
	ev_loop_destroy(rig->loop);
}

START_TEST(jobs_run_in_threads_and_are_done_on_the_loop)
{
	struct rig rig;

	rig_open(&rig, 4, 1000);
	for (unsigned i = 0; i < 1000; i++)
		ck_assert_int_eq(submit(&rig, i, run_counted, NULL, NULL), RNL_OK);
	ck_assert_uint_eq(rig.n_done, 0);
	rig_await(&rig, 1000);
	ck_assert_uint_eq(rig.n_run, 1000);
	rig_close(&rig);
}
END_TEST

START_TEST(a_pool_without_jobs_does_not_keep_the_loop)
{
	struct rig rig;

	rig_open(&rig, 4, 10);
	ev_timer_stop(rig.loop, &rig.limit);
	ev_run(rig.loop, 0);
	rig_close(&rig);
}
END_TEST

/* As many as may be, and no more. */
START_TEST(jobs_run_beside_each_other)
{
	struct rig rig;

	rig_open(&rig, 3, 100);
	for (unsigned i = 0; i < 10; i++)
		ck_assert_int_eq(submit(&rig, i, run_at_gate, NULL, NULL), RNL_OK);
	await_inside(3);
	open_gate();
	rig_await(&rig, 10);
	ck_assert_uint_eq(gate.n_most, 3);
	rig_close(&rig);
}
END_TEST

START_TEST(a_full_pool_refuses_at_once)
{
	struct rig rig;

	rig_open(&rig, 2, 5);
	for (unsigned i = 0; i < 5; i++)
		ck_assert_int_eq(submit(&rig, i, run_at_gate, NULL, NULL), RNL_OK);
	ck_assert_int_eq(submit(&rig, 5, run_counted, NULL, NULL), RNL_EFULL);
	ck_assert_uint_eq(pool_n_jobs(rig.pool), 5);
	open_gate();
	rig_await(&rig, 5);
	ck_assert_int_eq(submit(&rig, 5, run_counted, NULL, NULL), RNL_OK);
	rig_await(&rig, 6);
	rig_close(&rig);
}
END_TEST

/* Those that wait for their turn count, too. */
START_TEST(a_lane_fills_the_pool)
{
	const uint64_t key = 7;
	struct rig rig;

	rig_open(&rig, 2, 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_int_eq(submit(&rig, i, run_at_gate, &key, NULL), RNL_OK);
	ck_assert_int_eq(submit(&rig, 3, run_counted, &key, NULL), RNL_EFULL);
	open_gate();
	rig_await(&rig, 3);
	rig_close(&rig);
}
END_TEST

#define N_KEYS 50
#define N_EACH 40

/* The count of a lane is guarded by nothing but the order: a thread checker sees a slip. */
START_TEST(jobs_of_a_key_keep_their_order)
{
	unsigned runs[N_KEYS] = { 0 }, last[N_KEYS] = { 0 };
	struct rig rig;

	rig_open(&rig, 8, N_KEYS * N_EACH);
	for (unsigned i = 0; i < N_KEYS * N_EACH; i++) {
		const uint64_t key = i % N_KEYS;

		ck_assert_int_eq(submit(&rig, i, run_counted, &key, &runs[key]), RNL_OK);
	}
	rig_await(&rig, N_KEYS * N_EACH);
	for (unsigned i = 0; i < N_KEYS * N_EACH; i++) {
		unsigned key = rig.order[i] % N_KEYS;

		ck_assert_uint_eq(rig.order[i] / N_KEYS, last[key]);
		last[key]++;
	}
	rig_close(&rig);
}
END_TEST

START_TEST(a_lane_does_not_hold_up_others)
{
	const uint64_t slow = 1, fast = 2;
	struct rig rig;

	rig_open(&rig, 2, 100);
	for (unsigned i = 0; i < 20; i++)
		ck_assert_int_eq(submit(&rig, i, run_at_gate, &slow, NULL), RNL_OK);
	for (unsigned i = 20; i < 40; i++)
		ck_assert_int_eq(submit(&rig, i, run_counted, &fast, NULL), RNL_OK);
	rig_await(&rig, 20);
	for (unsigned i = 0; i < 20; i++)
		ck_assert_uint_eq(rig.order[i], 20 + i);
	open_gate();
	rig_await(&rig, 40);
	rig_close(&rig);
}
END_TEST

/* Alone, or in a lane behind the job that is done. */
START_TEST(done_may_submit)
{
	const uint64_t key = 3;
	unsigned runs = 0;
	struct rig rig;

	rig_open(&rig, 2, 10);
	rig.submit_more = 10;
	ck_assert_int_eq(
	    submit(&rig, 0, run_counted, _i == 0 ? NULL : &key, _i == 0 ? NULL : &runs),
	    RNL_OK);
	rig_await(&rig, 11);
	if (_i == 1) {
		for (unsigned i = 1; i <= 10; i++)
			ck_assert_uint_eq(rig.order[i], 11 - i);
	}
	rig_close(&rig);
}
END_TEST

static void count_idle(void *arg)
{
	unsigned *n = arg;

	++*n;
}

/* Jobs that run are done; those that wait for a thread are done without, and so are those behind
 * a job of their lane when it ends. */
START_TEST(a_closed_pool_runs_no_more)
{
	const uint64_t key = 9;
	struct rig rig;

	rig_open(&rig, 2, 100);
	pool_watch_idle(rig.pool, count_idle, &rig.n_idle);
	rig.submit_more = 1;
	for (unsigned i = 0; i < 2; i++)
		ck_assert_int_eq(
		    submit(&rig, i, run_at_gate, i == 0 ? &key : NULL, NULL), RNL_OK);
	await_inside(2);
	for (unsigned i = 2; i < 5; i++)
		ck_assert_int_eq(submit(&rig, i, run_counted, &key, NULL), RNL_OK);
	for (unsigned i = 5; i < 10; i++)
		ck_assert_int_eq(submit(&rig, i, run_counted, NULL, NULL), RNL_OK);
	pool_close(rig.pool);
	ck_assert_uint_eq(rig.n_done, 5);
	ck_assert_uint_eq(rig.n_run, 0);
	ck_assert_uint_eq(rig.n_idle, 0);
	ck_assert_int_eq(submit(&rig, 10, run_counted, NULL, NULL), RNL_ECLOSED);
	open_gate();
	rig_await(&rig, 10);
	ck_assert_uint_eq(rig.n_run, 2);
	ck_assert_uint_eq(rig.n_idle, 1);
	rig_close(&rig);
}
END_TEST

static void run_mask(void *arg)
{
	struct task *task = arg;
	sigset_t blocked;

	run_counted(arg);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	task->number =
	    (unsigned)(sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGCHLD) &&
		       sigismember(&blocked, SIGUSR1));
}

START_TEST(signals_stay_with_the_loop)
{
	sigset_t blocked;
	struct rig rig;

	rig_open(&rig, 1, 1);
	ck_assert_int_eq(submit(&rig, 0, run_mask, NULL, NULL), RNL_OK);
	rig_await(&rig, 1);
	ck_assert_uint_eq(rig.order[0], 1);
	pthread_sigmask(SIG_SETMASK, NULL, &blocked);
	ck_assert(!sigismember(&blocked, SIGTERM));
	rig_close(&rig);
}
END_TEST

/* Then the job is the caller's: submit() frees it. */
START_TEST(no_thread_at_all_is_an_error)
{
	const uint64_t key = 4;
	struct rig rig;

	rig_open(&rig, 2, 10);
	n_threads_left = 0;
	errno = 0;
	ck_assert_int_eq(submit(&rig, 0, run_counted, _i == 0 ? NULL : &key, NULL), RNL_ENOMEM);
	ck_assert_int_eq(errno, EAGAIN);
	ck_assert_uint_eq(pool_n_jobs(rig.pool), 0);
	n_threads_left = 1;
	ck_assert_int_eq(submit(&rig, 1, run_counted, _i == 0 ? NULL : &key, NULL), RNL_OK);
	rig_await(&rig, 1);
	rig_close(&rig);
}
END_TEST

START_TEST(fewer_threads_do_all_jobs)
{
	struct rig rig;

	rig_open(&rig, 8, 100);
	n_threads_left = 2;
	for (unsigned i = 0; i < 50; i++)
		ck_assert_int_eq(submit(&rig, i, run_at_gate, NULL, NULL), RNL_OK);
	await_inside(2);
	open_gate();
	rig_await(&rig, 50);
	ck_assert_uint_eq(gate.n_most, 2);
	rig_close(&rig);
}
END_TEST

/* Submissions while threads are busy, in every mixture, with more than one turn of ends. */
START_TEST(a_mixture_loses_nothing)
{
	unsigned runs[7] = { 0 };
	unsigned n_taken = 0, seed = 12345;
	struct rig rig;

	rig_open(&rig, 4, 100);
	while (n_taken < 1000) {
		bool is_full = false;

		for (unsigned i = 0; i < 20; i++) {
			uint64_t key = (seed = seed * 1103515245 + 12345) >> 16 & 7;
			bool has_lane = key < 7;
			bool is_taken =
			    submit(&rig, n_taken, run_counted, has_lane ? &key : NULL,
				has_lane ? &runs[key] : NULL) == RNL_OK;

			n_taken += is_taken;
			is_full = !is_taken;
		}
		/* When it is full there is something to wait for. */
		ev_run(rig.loop, is_full ? EVRUN_ONCE : EVRUN_NOWAIT);
	}
	rig_await(&rig, n_taken);
	ck_assert_uint_eq(rig.n_run, n_taken);
	rig_close(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("work");
	TCase *jobs = tcase_create("jobs");
	TCase *order = tcase_create("order");
	TCase *end = tcase_create("end");
	SRunner *runner;
	int n_failed;

	tcase_set_timeout(jobs, 60);
	tcase_add_test(jobs, jobs_run_in_threads_and_are_done_on_the_loop);
	tcase_add_test(jobs, a_pool_without_jobs_does_not_keep_the_loop);
	tcase_add_test(jobs, jobs_run_beside_each_other);
	tcase_add_test(jobs, a_full_pool_refuses_at_once);
	tcase_add_test(jobs, signals_stay_with_the_loop);
	tcase_add_loop_test(jobs, no_thread_at_all_is_an_error, 0, 2);
	tcase_add_test(jobs, fewer_threads_do_all_jobs);
	tcase_add_test(jobs, a_mixture_loses_nothing);
	suite_add_tcase(suite, jobs);
	tcase_set_timeout(order, 60);
	tcase_add_test(order, jobs_of_a_key_keep_their_order);
	tcase_add_test(order, a_lane_fills_the_pool);
	tcase_add_test(order, a_lane_does_not_hold_up_others);
	tcase_add_loop_test(order, done_may_submit, 0, 2);
	suite_add_tcase(suite, order);
	tcase_set_timeout(end, 60);
	tcase_add_test(end, a_closed_pool_runs_no_more);
	suite_add_tcase(suite, end);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
