/*
 * What the files of the master itself share: its state, and what can be asked of
 * it by signals and over the control socket.
 */
#ifndef RUNNEL_MASTER_STATE_H
#define RUNNEL_MASTER_STATE_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/list.h"
#include "base/log.h"
#include "master/control.h"
#include "master/http.h"
#include "master/inheritance.h"
#include "master/master.h"
#include "master/pages.h"
#include "master/sockets.h"
#include "master/succession.h"
#include "master/upgrade.h"

enum phase {
	PHASE_STARTING,
	PHASE_SERVING,
	PHASE_LEAVING, /* another master serves; the workers drain */
	PHASE_STOPPING,
	PHASE_STOPPING_NOW,
};

#define MASTER_MAX_SIGNALS 16

struct master {
	const struct master_options *options;
	char *conf_path; /* absolute; owned, like the program's */
	char *program;   /* absolute */
	struct ev_loop *loop;
	struct pages pages;
	struct sockets *sockets;
	struct succession *succession;
	struct upgrade *upgrade; /* another binary is being started; NULL: none */
	struct upgrade *next;    /* it serves, and this one is leaving; NULL: it is not */
	struct inheritance old;  /* this is the other binary; old.channel -1: it is not */
	ev_io old_io;            /* on its channel */
	char *pid_file;          /* of the first conf; NULL: none; owned */
	int pid_fd;              /* -1: none is held */
	char *control_socket;    /* of the first conf; NULL: none; owned, like the group */
	char *control_group;
	struct control *control;           /* NULL: not yet */
	struct http *http;                 /* NULL: not yet */
	struct link censuses;              /* of connections, that are not over */
	struct control_request *upgrading; /* asked for the upgrade; NULL: a signal did */
	uint64_t started_ms;
	char *log; /* where the log goes; owned */
	enum log_level log_level;
	enum log_format log_format;
	char *journal; /* where lines about connections go; owned */
	enum log_format journal_format;
	int asked_level;   /* of log lines, over the control socket; -1: what the conf says */
	time_t started_at; /* by the calendar */
	ev_signal signals[MASTER_MAX_SIGNALS];
	enum phase phase;
	bool has_served;
	int exit_status;
};

/* master.c: take what only one daemon can have, or have it again. */
enum status master_take_pid_file(struct master *master, struct reason *why) MUST_CHECK;

/* orders.c: gracefully, within drain-timeout; asked for again, at once. */
void order_stop(struct master *master);

/* orders.c: gracefully, without limit. */
void order_quit(struct master *master);

/* orders.c: at once. */
void order_fast_stop(struct master *master);

/* orders.c: done as succession_reload() calls it, also when it cannot be done now. */
void order_reload(struct master *master, waiter_done_f *done, void *arg);

/* orders.c: the log file anew; all workers are told. Logged when it cannot be done. */
enum status order_reopen(struct master *master, struct reason *why);

/* orders.c: so many workers more, or less. */
void order_resize(struct master *master, int by);

/* orders.c: log lines down to level, in all processes, till the next reload. */
enum status order_log_level(
    struct master *master, enum log_level level, struct reason *why) MUST_CHECK;

/* orders.c: request waits for the end of it; NULL: a signal asked. */
void order_upgrade(struct master *master, struct control_request *request);

/* orders.c: end the loop if no worker is left. */
void master_end_if_empty(struct master *master);

/* signals.c */
void signals_watch(struct master *master);
void signals_forget(struct master *master);

/* verbs.c: take requests, over the control socket if there is to be one. */
enum status verbs_open(struct master *master, struct reason *why) MUST_CHECK;

#endif
