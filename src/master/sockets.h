/*
 * The listening sockets: for each address of each listener one SO_REUSEPORT
 * group with a socket for each slot. The master opens them and keeps them open
 * while it serves, so that no connection in a queue is reset when a worker goes.
 */
#ifndef RUNNEL_MASTER_SOCKETS_H
#define RUNNEL_MASTER_SOCKETS_H

#include <stddef.h>

#include "base/status.h"
#include "settings/settings.h"
#include "worker/worker.h"

struct sockets {
	struct worker_socket *list; /* owned: those of slot 0, those of slot 1, ... */
	size_t n_per_slot;
	unsigned int n_slots;
};

/* STATUS_INVALID: *why names listener and address. A line in the log for each address. */
enum status sockets_open(
    const struct settings *settings, struct sockets *sockets, struct reason *why) MUST_CHECK;

void sockets_close(struct sockets *sockets);

#endif
