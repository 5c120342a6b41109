/*
 * A worker as the master sees it: its process, its channel, its seat in the
 * slot's page. Process: the master.
 */
#ifndef RUNNEL_MASTER_PROCESS_H
#define RUNNEL_MASTER_PROCESS_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "master/outbox.h"
#include "master/pages.h"
#include "worker/channel.h"

struct process;

struct process_events {
	/* It can serve. */
	void (*ready)(struct process *process);
	/* It accepts no more, and will end. */
	void (*leaving)(struct process *process);
	/* It is gone; status as from waitpid(2). Its seat and channel are given back. */
	void (*end)(struct process *process, int status);
};

struct process {
	struct ev_loop *loop; /* borrowed, like all pointers here */
	const struct process_events *events;
	struct pages *pages;
	const struct settings *settings; /* of its generation */
	unsigned int slot;
	struct seat *seat; /* NULL: there is no process */
	pid_t pid;
	int channel; /* the master's end; -1: none */
	ev_child child;
	ev_io channel_io;
	struct outbox outbox; /* what waits for room in the channel */
	uint64_t started_ms;
	void *owner;     /* for the events */
	char fault[160]; /* what the last process died in, for people; empty: nobody knows */
	struct counters final;     /* of the process that was here last: what it had counted */
	uint64_t n_upstreams_left; /* likewise, see slot_page.h */
};

void process_init(struct process *process, struct ev_loop *loop, struct pages *pages,
    const struct settings *settings, const struct process_events *events, unsigned int slot);

/*
 * Fork a worker of a generation. Returns its pid; 0 in the worker, where *channel is its end
 * and process->seat its seat; -1 after a line in the log.
 */
pid_t process_fork(struct process *process, uint32_t generation, int *channel);

static inline bool process_is_running(const struct process *process)
{
	return process->seat != NULL;
}

/* Give it an order, now or when it reads; without effect when it is not running. */
void process_order(struct process *process, enum channel_type type, uint32_t arg);

/*
 * The same with a descriptor, which stays the caller's too. False: it runs, and will not hear of
 * it: it ends, or too much waits for it.
 */
bool process_pass(struct process *process, enum channel_type type, uint32_t arg, int passed);

/* Does it run, without orders that wait until it reads? */
bool process_hears(const struct process *process);

/* In a worker: stop the watchers and close the master's end. */
void process_forget(struct process *process);

#endif
