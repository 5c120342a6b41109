/*
 * The module of contrib/bench/jobs: message 1 comes back at once; message 2, u32
 * milliseconds (big-endian), when a job has slept so long; message 3 when a job
 * has used so much processor time.
 */
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <runnel/module.h>

#define ECHO 1
#define SLEEP 2
#define COMPUTE 3

struct task {
	uint32_t id, ms;
};

static uint64_t processor_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000 + (uint64_t)used.tv_nsec;
}

static void work(void *arg)
{
	const struct task *task = arg;
	const struct timespec pause = { .tv_sec = task->ms / 1000,
		.tv_nsec = task->ms % 1000 * 1000000L };
	uint64_t end_ns = processor_ns() + (uint64_t)task->ms * 1000000;

	if (task->id == SLEEP)
		nanosleep(&pause, NULL);
	while (task->id == COMPUTE && processor_ns() < end_ns)
		continue;
}

static void done(struct rnl_conn *conn, void *arg)
{
	struct task *task = arg;

	if (conn != NULL)
		rnl_send(conn, task->id, NULL, 0);
	free(task);
}

static enum rnl_verdict begin(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const uint8_t *at = msg->payload;
	struct task *task = malloc(sizeof(*task));

	(void)arg;
	if (task == NULL || msg->len != 4) {
		free(task);
		return RNL_ABORT;
	}
	task->id = msg->id;
	task->ms = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
	if (rnl_work(conn, 0, work, done, task) == RNL_OK)
		return RNL_DONE;
	free(task);
	return RNL_ABORT;
}

static enum rnl_verdict echo(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_send(conn, msg->id, msg->payload, msg->len);
	return RNL_DONE;
}

static const struct rnl_route routes[] = {
	RNL_ON(ECHO, echo),
	RNL_ON_RANGE(SLEEP, COMPUTE, begin),
};

RNL_MODULE(.version = "1.0", .routes = routes, .n_routes = 2);
