/*
 * An upgrade, as the old master sees it: another binary is started beside it, with
 * its sockets, and takes over when all its workers are ready. Until it serves, a
 * failure of it changes nothing. Process: the master.
 *
 *     old                         new
 *     exec ---------------------> conf, sockets, workers
 *     lets go of the pid file <-- NEW_READY
 *     OLD_LEFT -----------------> takes the pid file, serves
 *                             <-- HAND_OVER for each slot, NEW_SERVES
 *     drains, ends            <-- STOP, STOP_NOW: it has to end sooner
 *
 * The new one ends after the old one, so whoever waits for its end waits for both.
 */
#ifndef RUNNEL_MASTER_UPGRADE_H
#define RUNNEL_MASTER_UPGRADE_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "master/pages.h"
#include "master/sockets.h"

struct upgrade;

struct upgrade_config {
	struct ev_loop *loop; /* all borrowed */
	const char *program;  /* absolute */
	const char *conf_path;
	bool is_foreground; /* else standard error goes nowhere: what it says there is logged */
	bool is_verbose;
	const struct pages *pages;
	const struct sockets *sockets;
	uint32_t generation; /* the last one here */
	uint32_t n_slots;

	void (*leave)(void *arg); /* let go of what only one can have */
	/*
	 * It serves: descriptors to hand connections over on, by slot, -1: none. stop and
	 * stop_now may be called from now on.
	 */
	void (*done)(const int ends[], unsigned int n, void *arg);
	/* Another of its generations serves: as before, for a slot. fd stays the caller's. */
	void (*hand_over)(unsigned int slot, int fd, void *arg);
	/* Connections have so long left to go. */
	void (*hurry)(uint32_t limit_ms, void *arg);
	/* The daemon is to stop: within limit_ms (0: no limit), or at once. */
	void (*stop)(uint32_t limit_ms, void *arg);
	void (*stop_now)(void *arg);
	/* It does not, and is gone or killed. What leave() let go of is to be had again. */
	void (*failed)(const struct reason *why, void *arg);
	void *arg;
};

/* NULL: *why. */
struct upgrade *upgrade_start(const struct upgrade_config *config, struct reason *why);

/* Never mind: end the new master, unless it serves already. Nothing is called. */
void upgrade_cancel(struct upgrade **upgrade);

/* In a child: stop the watchers, close all descriptors. */
void upgrade_forget(struct upgrade *upgrade);

#endif
