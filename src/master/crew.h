/*
 * The workers of one generation, one for each slot: each is started, watched,
 * started again with back-off when it dies, and told to end. Process: the master.
 */
#ifndef RUNNEL_MASTER_CREW_H
#define RUNNEL_MASTER_CREW_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "master/pages.h"
#include "master/privileges.h"
#include "settings/settings.h"
#include "worker/channel.h"
#include "worker/worker.h"

struct crew;

struct crew_config {
	struct ev_loop *loop; /* all borrowed for the crew's life */
	uint32_t generation;
	const char *conf_path;
	const char *conf_text;
	const struct settings *settings;
	const struct privileges *privileges;
	struct pages *pages;
	const struct worker_socket *sockets;
	size_t n_sockets;
	bool is_detached;             /* workers leave the terminal once they are ready */
	void (*on_change)(void *arg); /* a worker became ready, ended, or was given up */
	/* While the crew serves, another worker is ready in a slot. */
	void (*on_replaced)(unsigned int slot, void *arg);
	/* Called in a new worker: forget all that is the master's, and other sockets than these.
	 */
	void (*in_child)(const struct worker_socket *sockets, size_t n, void *arg);
	void *arg;
};

struct crew *crew_new(const struct crew_config *config) MUST_CHECK;

/* Start a worker in each slot. They accept nothing before crew_serve(). */
void crew_start(struct crew *crew);

/* Let all workers, those that are started later too, accept connections. */
void crew_serve(struct crew *crew);

/* Slots whose worker is ready. */
unsigned int crew_n_ready(const struct crew *crew);

/* Slots that have a process. */
unsigned int crew_n_running(const struct crew *crew);

/*
 * Slots whose worker is not started again: it said that it is hopeless, or was never ready in
 * several tries.
 */
unsigned int crew_n_failed(const struct crew *crew);

/* What the worker of such a slot died in, for people; empty: it is not known. Borrowed. */
const char *crew_fault(const struct crew *crew);

/* Slots that crash so often that they are left alone for a while. */
unsigned int crew_n_broken(const struct crew *crew);

/* What there is to say of a slot. */
struct crew_view {
	const char *state; /* starting, ready, stale, draining, waiting, failed or ended */
	pid_t pid;         /* 0: no process */
	uint64_t up_ms;    /* of the process */
	uint64_t n_open;   /* connections of the process */
	bool is_broken;
	uint32_t slowest_ms; /* of the process's handlers so far; 0: none was slow */
	uint32_t slowest_id;
	const char *slowest_module; /* borrowed */
	pid_t leaving_pid;          /* of the worker before, which drains; 0: none does */
	uint64_t n_leaving;         /* its connections */
};

void crew_view(const struct crew *crew, unsigned int slot, struct crew_view *view);

/* How a worker was replaced by another, and what became of its connections. */
struct crew_relief {
	pid_t pid; /* of the new one */
	uint64_t n_moved, n_closed, n_lost;
};

/* Why is NULL when it was; relief is NULL when it was not. */
typedef void crew_relieved_f(
    const struct reason *why, const struct crew_relief *relief, void *arg);

/*
 * Let another worker take the place of the one in a slot: it starts beside it, serves when it is
 * ready, and takes over its connections; those that do not move are let go within limit_ms. done
 * is called when the one before has ended, or the new one cannot start. STATUS_INVALID: *why, and
 * done is not called.
 */
enum status crew_relieve(struct crew *crew, unsigned int slot, uint32_t limit_ms,
    crew_relieved_f *done, void *arg, struct reason *why) MUST_CHECK;

/*
 * A descriptor for the worker in a slot, which takes connections of an earlier generation from
 * it. It stays the caller's too.
 */
void crew_receive(struct crew *crew, unsigned int slot, int fd);

/*
 * A descriptor on which the worker in a slot hands connections over to one of a
 * later generation. It stays the caller's too.
 */
void crew_hand_over(struct crew *crew, unsigned int slot, int fd);

/*
 * Ask each worker that runs: open returns the descriptor that it answers on, which is closed
 * here; -1: this one is not asked.
 */
typedef int crew_open_f(unsigned int slot, void *arg);
void crew_survey(struct crew *crew, crew_open_f *open, void *arg);

/* What all workers log from now on. Those that are started later have it from the master. */
void crew_set_log_level(struct crew *crew, enum log_level level);

/*
 * Another generation serves: let the workers' connections go, within limit_ms,
 * and start no worker any more. Called again, it makes them hurry.
 */
void crew_drain(struct crew *crew, uint32_t limit_ms);

/* Let all workers close gracefully, within limit_ms (0: no limit), and start none any more. */
void crew_stop(struct crew *crew, uint32_t limit_ms);

/* Let all workers close at once. */
void crew_stop_now(struct crew *crew);

/* Let all workers log to the file that the master has opened anew: type is LOG or JOURNAL. */
void crew_pass_log(struct crew *crew, enum channel_type type, int fd);

/* SIGKILL to all workers that are left. */
void crew_kill(struct crew *crew);

/* A line for each slot: what its worker is, and what it has done so far. */
void crew_log_status(const struct crew *crew);

/* In a worker process: stop the watchers and close the master's ends of the channels. */
void crew_forget(struct crew *crew);

/* No process may be left. */
void crew_destroy(struct crew **crew);

#endif
