#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/panic.h"
#include "conn/conn.h"
#include "work/pool.h"

#include "module/work.h"

struct work {
	struct job job;
	uint64_t conn_id;            /* that it holds; 0: none */
	const struct module *module; /* borrowed */
	rnl_work_f *run;
	rnl_done_f *done;
	void *arg;
};

static struct {
	struct pool *pool; /* owned; NULL: there is no loop */
	struct conn_table *table;
	struct log_cap refusals;
} works;

enum status work_open(
    struct ev_loop *loop, struct conn_table *table, const struct settings *settings)
{
	works.table = table;
	return pool_new(loop, settings->worker_threads, settings->worker_jobs, &works.pool);
}

/* See conn_do(). */
static void work_do(const struct work *work, enum doing_what what)
{
	struct doing *doing = &works.table->seat->doing;

	doing->conn = work->conn_id;
	doing->id = 0;
	doing->module = (uint16_t)work->module->self.index;
	doing->what = (uint16_t)what;
}

/* In a thread. */
static void run_job(void *arg)
{
	const struct work *work = arg;
	char what[96];

	snprintf(what, sizeof(what), "a job of module '%s'", work->module->name);
	panic_enter_thread(what);
	work->run(work->arg);
	panic_enter_thread(NULL);
}

/* A job that will not run has no connection: then modules have no result to send. */
static void on_done(struct job *job, bool has_run)
{
	struct work *work = container_of(job, struct work, job);
	struct rnl_conn *conn =
	    work->conn_id != 0 ? table_find(works.table, work->conn_id) : NULL;

	work_do(work, DOING_DONE);
	work->done(has_run ? conn : NULL, work->arg);
	work_do(work, DOING_NOTHING);
	/* done() destroys no connection: it closes it at most, and that waits for its turn. */
	if (conn != NULL)
		conn_release(conn);
}

static void log_refusal(const struct module *module, enum rnl_status status)
{
	char rest[LOG_REST_SIZE];

	if (!log_cap_allows(&works.refusals, works.table->now_ms, rest))
		return;
	if (status == RNL_EFULL)
		log_warn("module '%s': job refused: %zu jobs run or wait, which is "
			 "worker-jobs%s",
		    module->name, pool_n_jobs(works.pool), rest);
	else
		log_error("module '%s': job refused: cannot start a thread: %s%s", module->name,
		    strerror(errno), rest);
}

static enum rnl_status count(const struct module *module, enum rnl_status status)
{
	struct counters *counters = &works.table->seat->counters;

	if (status == RNL_OK) {
		counter_add(counters->jobs, 1);
	} else if (status != RNL_ECLOSED) {
		if (status == RNL_EFULL)
			counter_add(counters->jobs_refused, 1);
		log_refusal(module, status);
	}
	return status;
}

static enum rnl_status check(const struct module *module, rnl_work_f *run, rnl_done_f *done)
{
	const char *why = NULL;

	if (works.pool == NULL)
		why = "there are no threads before the start hook";
	else if (run == NULL || done == NULL)
		why = "it has no function";
	if (why == NULL)
		return RNL_OK;
	log_error("module '%s': job refused: %s", module->name, why);
	return RNL_EINVAL;
}

enum rnl_status work_submit(struct module *module, struct rnl_conn *conn, uint64_t key,
    rnl_work_f *run, rnl_done_f *done, void *arg)
{
	enum rnl_status status = check(module, run, done);
	struct work *work;

	if (status != RNL_OK)
		return status;
	work = calloc(1, sizeof(*work));
	if (work == NULL)
		return RNL_ENOMEM;
	work->job.run = run_job;
	work->job.arg = work;
	work->job.done = on_done;
	work->run = run;
	work->done = done;
	work->arg = arg;
	work->module = module;
	work->conn_id = conn != NULL ? conn_id(conn) : 0;
	status = pool_submit(works.pool, &work->job, key != 0 ? &module->lanes : NULL, key);
	if (status != RNL_OK)
		free(work);
	else if (conn != NULL)
		conn_hold(conn);
	return count(module, status);
}

size_t work_n_jobs(void)
{
	return pool_n_jobs(works.pool);
}

void work_watch_idle(void (*idle)(void *arg), void *arg)
{
	pool_watch_idle(works.pool, idle, arg);
}

void work_cancel(void)
{
	pool_close(works.pool);
}

void work_close(void)
{
	pool_destroy(&works.pool);
	works.table = NULL;
}
