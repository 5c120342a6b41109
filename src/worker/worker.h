/*
 * A worker: the process that occupies a slot. It has one event loop, accepts on
 * its slot's sockets, and shares nothing with other workers on the data path.
 */
#ifndef RUNNEL_WORKER_WORKER_H
#define RUNNEL_WORKER_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "conn/slot_page.h"

/*
 * Exit status of a worker that is not ready yet and would fail again in the same way: it is not
 * started again.
 */
#define WORKER_EXIT_HOPELESS 2

/* A listening socket that a worker inherits. */
struct worker_socket {
	unsigned int listener; /* in the settings */
	unsigned int slot;     /* whose worker accepts on it */
	int fd;
};

/* What a worker inherits from the master; all borrowed for the worker's life. */
struct worker_plan {
	pid_t master;
	unsigned int slot, n_slots;
	const char *conf_path;   /* what messages call the conf */
	const char *conf_text;   /* normalised */
	struct slot_page *pages; /* of all slots */
	const struct metric_directory *directory;
	struct seat *seat;                   /* in the slot's page */
	const struct worker_socket *sockets; /* of all slots */
	size_t n_sockets;
	int channel;      /* the worker's end */
	bool is_detached; /* leave the standard streams once ready */
};

/*
 * Be a worker. Called in a process that was forked from the master and has no
 * watcher or loop of the master's left. Says READY on the channel when all is
 * loaded and upstreams were tried, accepts when it is told to serve, and exits when it is told to stop or the
 * channel ends.
 */
_Noreturn void worker_run(const struct worker_plan *plan);

#endif
