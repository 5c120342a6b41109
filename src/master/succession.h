/*
 * From one generation to the next: the conf is checked, the next generation's
 * workers are started beside those that serve, and when all of them are ready
 * they serve and the others' connections go. On any failure before that, those
 * that serve go on. The first generation comes about in the same way. Process:
 * the master.
 */
#ifndef RUNNEL_MASTER_SUCCESSION_H
#define RUNNEL_MASTER_SUCCESSION_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/log.h"
#include "base/status.h"
#include "master/generation.h"
#include "master/pages.h"
#include "master/sockets.h"
#include "master/waiters.h"

struct succession;

struct succession_config {
	struct ev_loop *loop; /* all borrowed */
	const char *conf_path;
	struct pages *pages;
	struct sockets *sockets;
	bool is_detached;

	/* The conf is good: have ready what else the generation needs. */
	enum status (*prepare)(const struct generation *next, struct reason *why, void *arg);
	/* The next generation is ready: call succession_commit(), now or later. */
	void (*ready)(void *arg);
	/* It serves. */
	void (*serving)(void *arg);
	/* Of those that serve, the worker in a slot is another one now. */
	void (*replaced)(unsigned int slot, void *arg);
	/* There is no next generation; what serves goes on. */
	void (*failed)(const struct reason *why, void *arg);
	/* No worker of the generation that serves can run. */
	void (*dead)(void *arg);
	/* No worker is left. */
	void (*empty)(void *arg);
	/* In a child: forget all that is the master's. */
	void (*in_child)(void *arg);
	void *arg;
};

/* Generations are counted from first_number. */
struct succession *succession_new(
    const struct succession_config *config, uint32_t first_number) MUST_CHECK;

/*
 * Read the conf and make the next generation of it. While that is done already, it is done
 * again afterwards. done (may be NULL) is called when the attempt that begins now or then is over.
 */
void succession_reload(struct succession *succession, waiter_done_f *done, void *arg);

/* Make the next generation of the conf that serves with so many workers more, or less. */
void succession_resize(struct succession *succession, int by);

/* The next generation serves from now on, and the present one drains. */
void succession_commit(struct succession *succession);

/* Is a next generation being made? */
bool succession_is_busy(const struct succession *succession);

/* Does one wait for succession_commit()? */
bool succession_is_ready(const struct succession *succession);

/* The generation that serves; NULL: none yet. */
const struct generation *succession_current(const struct succession *succession);

/* The generations that end, oldest first; NULL: there are not so many. */
const struct generation *succession_ending(
    const struct succession *succession, unsigned int index);

/* Was the last attempt a success, with the conf that was wanted? */
bool succession_is_last_good(const struct succession *succession);

/* What became of the last attempt, for people. */
const char *succession_outcome(const struct succession *succession);

/*
 * Another master serves: let all connections go within the time that the conf gives. ends[]:
 * descriptors to hand connections over on, by slot; -1: none. They stay the caller's too.
 */
void succession_drain(struct succession *succession, const int ends[], unsigned int n_ends);

/* While an upgrade runs no generation takes the place of the one that serves. */
void succession_freeze(struct succession *succession, bool is_frozen);

/*
 * After succession_drain(): a descriptor to hand connections of a slot over on from now on. It
 * stays the caller's.
 */
void succession_hand_over(struct succession *succession, unsigned int slot, int fd);

/* Generations that drain have so long left. */
void succession_hurry(struct succession *succession, uint32_t limit_ms);

/* A descriptor on which connections of another master's worker come. It stays the caller's. */
void succession_receive(struct succession *succession, unsigned int slot, int fd);

/*
 * As crew_relieve(), of the generation that serves, within its drain-timeout. STATUS_INVALID, too,
 * while there is no such generation or the next one is being made.
 */
enum status succession_relieve(struct succession *succession, unsigned int slot,
    crew_relieved_f *done, void *arg, struct reason *why) MUST_CHECK;

/* Let the workers of all generations log to the file that the master has opened anew. */
void succession_pass_log(struct succession *succession, enum channel_type type, int fd);

/* Ask the workers of all generations that serve or end, as crew_survey() does. */
void succession_survey(struct succession *succession, crew_open_f *open, void *arg);

/* What all workers log, of all generations that have any. */
void succession_set_log_level(struct succession *succession, enum log_level level);

/* Let all workers end gracefully, within limit_ms (0: no limit), and make no generation. */
void succession_stop(struct succession *succession, uint32_t limit_ms);

/* Let all workers end at once. */
void succession_stop_now(struct succession *succession);

/* Have workers any process? */
bool succession_is_empty(const struct succession *succession);

/* A few lines: the generations, and what their workers do. */
void succession_log_status(const struct succession *succession);

/* In a child: stop all watchers. */
void succession_forget(struct succession *succession);

/* No worker may be left. */
void succession_destroy(struct succession **succession);

#endif
