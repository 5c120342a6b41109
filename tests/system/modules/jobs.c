/*
 * A module that has jobs for rnl_work(): each logs when it is done, and whether
 * it ran and has its connection still.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <runnel/module.h>

#include "system/modules/jobs.h"

struct task {
	uint32_t id, number, key;
	char has_run;
};

static const char *gate;
static int moves;
static unsigned n_done, n_taken;
static struct rnl_conn *of_jobs; /* the last that a job came from */
static struct rnl_timer *timer;

static uint32_t get32(const struct rnl_msg *msg, size_t offset)
{
	const uint8_t *at = (const uint8_t *)msg->payload + offset;

	if (offset + 4 > msg->len)
		return 0;
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put32(uint8_t *at, uint32_t value)
{
	at[0] = (uint8_t)(value >> 24);
	at[1] = (uint8_t)(value >> 16);
	at[2] = (uint8_t)(value >> 8);
	at[3] = (uint8_t)value;
}

static const char *reached_name(char name[300])
{
	snprintf(name, 300, "%s-reached", gate);
	return name;
}

/* The file NAME-reached says that somebody waits. */
static void wait_at_gate(void)
{
	char reached[300];

	close(open(reached_name(reached), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	while (access(gate, F_OK) != 0)
		usleep(1000);
}

/* The sanitizer of undefined behaviour knows that nothing is at address 0. */
static void *no_access(void)
{
	return mmap(NULL, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static unsigned fall(unsigned depth)
{
	volatile char room[2000];

	room[depth % sizeof(room)] = (char)depth;
	return depth == UINT32_MAX ? 0 : fall(depth + 1) + (unsigned)room[0];
}

static void crash(uint32_t id)
{
	char reached[300];

	while (access(reached_name(reached), F_OK) != 0)
		usleep(1000);
	if (id == JOBS_FAULT)
		*(volatile char *)no_access() = 1;
	if (id == JOBS_DEPTH)
		n_done = fall(0);
	abort();
}

static void never(struct rnl_timer *called, struct rnl_conn *conn, void *arg)
{
	(void)called;
	(void)conn;
	(void)arg;
}

static void call(uint32_t which)
{
	if (which == JOBS_CALL_LOG)
		rnl_log(RNL_LOG_INFO, "from a thread");
	else if (which == JOBS_CALL_AGE)
		rnl_conn_age_ms(of_jobs);
	else if (which == JOBS_CALL_IDLE)
		rnl_conn_idle_ms(of_jobs);
	else
		rnl_stop_timer(timer);
}

static void work(void *arg)
{
	struct task *task = arg;

	if (task->id >= JOBS_ABORT && task->id <= JOBS_DEPTH)
		crash(task->id);
	if (task->id == JOBS_BAD)
		call(task->key);
	if (task->id != JOBS_PLAIN && task->id != JOBS_AGAIN && task->id != JOBS_CRASH)
		wait_at_gate();
	task->has_run = 1;
}

static enum rnl_status submit(struct rnl_conn *conn, uint64_t key, const struct task *task);

static void done(struct rnl_conn *conn, void *arg)
{
	struct task *task = arg;
	uint8_t payload[8];

	if (task->id == JOBS_CRASH)
		abort();
	n_done++;
	rnl_log(RNL_LOG_INFO, "job %u %s, conn %s", task->number,
	    task->has_run ? "ran" : "did not run", conn != NULL ? "there" : "gone");
	put32(payload, task->number);
	put32(payload + 4, task->key);
	if (conn != NULL && task->id != JOBS_SILENT)
		rnl_send(conn, task->id, payload, sizeof(payload));
	if (task->id == JOBS_AGAIN && task->number > 0) {
		task->number--;
		task->has_run = 0;
		submit(conn, task->key, task);
	}
	free(task);
}

static enum rnl_status submit(struct rnl_conn *conn, uint64_t key, const struct task *task)
{
	struct task *copy = malloc(sizeof(*copy));
	enum rnl_status status;
	uint8_t payload[4];

	if (copy == NULL)
		return RNL_ENOMEM;
	*copy = *task;
	status = rnl_work(conn, key, work, done, copy);
	n_taken += status == RNL_OK;
	if (status == RNL_OK)
		return RNL_OK;
	free(copy);
	put32(payload, (uint32_t)status);
	if (conn != NULL)
		rnl_send(conn, JOBS_REFUSED, payload, sizeof(payload));
	return status;
}

static enum rnl_verdict on_job(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct task task = {
		.id = msg->id,
		.number = get32(msg, 0),
		.key = get32(msg, 4),
	};

	(void)arg;
	of_jobs = conn;
	if (msg->id == JOBS_BAD)
		timer = rnl_start_conn_timer(conn, 1000000, 0, never, NULL);
	if (msg->id == JOBS_IN_ORDER)
		submit(conn, rnl_conn_id(conn), &task);
	else if (msg->id == JOBS_LOOSE)
		submit(NULL, 0, &task);
	else
		submit(conn, task.key, &task);
	return msg->id == JOBS_CLOSE ? RNL_CLOSE : RNL_DONE;
}

static enum rnl_verdict on_nothing(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	uint8_t payload[4];

	(void)msg;
	(void)arg;
	put32(payload, (uint32_t)rnl_work(conn, 0, NULL, NULL, NULL));
	rnl_send(conn, JOBS_REFUSED, payload, sizeof(payload));
	return RNL_DONE;
}

static enum rnl_verdict on_ping(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_send(conn, msg->id, msg->payload, msg->len);
	return RNL_DONE;
}

static enum rnl_verdict on_stall(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)msg;
	(void)arg;
	wait_at_gate();
	return RNL_DONE;
}

static int jobs_configure(struct rnl_setup *setup)
{
	if (rnl_work(NULL, 0, work, done, NULL) != RNL_EINVAL)
		return rnl_refuse(setup, "a job was taken before there was a loop");
	gate = rnl_option_string(setup, "gate");
	moves = rnl_option_number(setup, "moves") != 0;
	return 0;
}

static void jobs_close(struct rnl_conn *conn)
{
	(void)conn;
	rnl_log(RNL_LOG_INFO, "connection closed");
}

static ptrdiff_t jobs_save(struct rnl_conn *conn, void *state, size_t size)
{
	(void)conn;
	(void)state;
	(void)size;
	return moves ? 0 : -1;
}

static void jobs_stop(void)
{
	rnl_log(RNL_LOG_INFO, "taken %u done %u, now refused with %d", n_taken, n_done,
	    (int)rnl_work(NULL, 0, work, done, NULL));
}

static const struct rnl_option options[] = {
	{ "gate", RNL_STRING, NULL, 0, 0, "the file that lets gated jobs end" },
	{ "moves", RNL_BOOL, "false", 0, 0, "connections go on in other workers" },
};

static const struct rnl_route routes[] = {
	RNL_ON_RANGE(JOBS_PLAIN, JOBS_BAD, on_job),
	RNL_ON(JOBS_NOTHING, on_nothing),
	RNL_ON(JOBS_CLOSE, on_job),
	RNL_ON(JOBS_AGAIN, on_job),
	RNL_ON(JOBS_PING, on_ping),
	RNL_ON_RANGE(JOBS_SILENT, JOBS_DEPTH, on_job),
	RNL_ON(JOBS_STALL, on_stall),
};

RNL_MODULE(.version = "1.0", .options = options, .n_options = 2, .routes = routes,
    .n_routes = sizeof(routes) / sizeof(routes[0]), .configure = jobs_configure,
    .close = jobs_close, .save = jobs_save, .restore = rnl_restore_nothing, .stop = jobs_stop);
