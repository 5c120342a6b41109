/*
 * A slot as a generation has it, and what the files of a crew share: crew.c starts
 * and ends workers, adoption.c has others accept for those that do not,
 * watchdog.c ends those that stand still, crew_view.c tells about them.
 */
#ifndef RUNNEL_MASTER_SLOT_H
#define RUNNEL_MASTER_SLOT_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "master/crew.h"
#include "master/process.h"

/* A worker that has lived for so long is a steady one: what was before it does not count. */
#define STEADY_MS 60000

#define BREAKER_CRASHES 5

enum slot_state {
	SLOT_EMPTY,    /* nothing runs and nothing is planned */
	SLOT_STARTING, /* a process that is not ready yet */
	SLOT_READY,
	SLOT_WAITING, /* for the back-off */
	SLOT_FAILED,  /* given up */
};

/*
 * One worker gives its place to another: first the newcomer starts, then it serves and the one
 * before it leaves. The slot's other process is the one that does not serve.
 */
enum relief_phase { RELIEF_NONE, RELIEF_STARTING, RELIEF_LEAVING, RELIEF_CANCELLED };

struct relief {
	enum relief_phase phase;
	uint32_t limit_ms;     /* for its connections to go */
	ev_timer end;          /* of the time to leave */
	crew_relieved_f *done; /* NULL: nobody waits */
	void *arg;
};

/* What a generation has in a slot. */
struct slot {
	struct crew *crew;
	enum slot_state state;
	struct process places[2];
	struct process *process; /* of these, the one that serves or is to */
	struct process *other;   /* not running, unless there is a relief */
	struct relief relief;
	/* WAITING: the end of the back-off; STARTING, also of a relief: of the time to start. */
	ev_timer timer;
	unsigned int n_failures; /* in a row */
	bool was_ready;          /* some worker was */
	bool is_leaving;         /* its worker accepts no more */
	bool is_broken;          /* it crashed too often, and has not run for long since */
	uint64_t crashed_ms[BREAKER_CRASHES]; /* the last ones, in a ring */
	unsigned int n_crashes;               /* so far */
	struct slot *adopter; /* whose worker accepts for this slot meanwhile; NULL: none */

	/* The watchdog's. */
	uint64_t turned_ms; /* what the worker's stamp was at the last look */
	uint32_t stale_ms;  /* it has stood still for */
	bool is_aborted;    /* SIGABRT was sent */
};

struct crew {
	struct crew_config config;
	pid_t master; /* the process that has it */
	struct slot *slots;
	unsigned int n_slots;
	ev_timer watch;
	uint64_t watched_ms; /* the last look */
	bool is_serving;
	bool is_stopping;
};

static inline unsigned int slot_index(const struct slot *slot)
{
	return slot->process->slot;
}

static inline bool slot_is_stale(const struct slot *slot)
{
	uint32_t limit_ms = slot->crew->config.settings->watchdog_adopt_ms;

	return limit_ms != 0 && slot->stale_ms >= limit_ms;
}

/* Does its worker accept? */
static inline bool slot_is_serving(const struct slot *slot)
{
	return slot->crew->is_serving && slot->state == SLOT_READY && !slot->is_leaving &&
	       !slot_is_stale(slot);
}

/* adoption.c: a slot's worker came, went, or stands still: see that every slot is accepted for. */
void adoption_arrange(struct crew *crew);

/* adoption.c: another process is the slot's, which has been told of no adoption. */
void adoption_forget(struct slot *slot);

/* crew.c: fork a worker into a place of the slot. False: none runs. */
bool slot_fork(struct slot *slot, struct process *process);

/* crew.c: the slot's process is a fresh one. */
void slot_renew(struct slot *slot);

/* relief.c: the other process of a slot is ready; it has ended. */
void relief_on_ready(struct slot *slot);
void relief_on_end(struct slot *slot);

/* relief.c: the newcomer died, and yet another is in its place. */
void relief_go_on(struct slot *slot);

/* relief.c: the slot's process has ended. True: the other is in its place. */
bool relief_on_loss(struct slot *slot);

/* relief.c: the crew ends. */
void relief_cancel(struct slot *slot);

void relief_init(struct slot *slot);
void relief_forget(struct slot *slot);

/* watchdog.c: look at the workers' stamps from time to time. */
void watchdog_init(struct crew *crew);
void watchdog_start(struct crew *crew);
void watchdog_stop(struct crew *crew);

#endif
