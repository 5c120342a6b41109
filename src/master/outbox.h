/*
 * Orders to a worker that its channel had no room for: they wait, in order, until
 * the worker reads. Process: the master, in its loop.
 *
 * An order of which only the last counts (to serve, to end, where to log) takes the
 * place of one of its type that waits. So those are never refused; of the others
 * OUTBOX_MAX_ORDERS may wait.
 */
#ifndef RUNNEL_MASTER_OUTBOX_H
#define RUNNEL_MASTER_OUTBOX_H

#include <ev.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "worker/channel.h"

#define OUTBOX_MAX_ORDERS 128u

struct outbox {
	struct ev_loop *loop; /* borrowed */
	ev_io io;             /* active while orders wait */
	struct link orders;
	unsigned int n;
};

void outbox_init(struct outbox *outbox, struct ev_loop *loop);

/* To this end of a channel from now on; borrowed until outbox_clear(). Nothing waits. */
void outbox_open(struct outbox *outbox, int channel);

/*
 * Send an order with a descriptor, which stays the caller's too (-1: none), or have it wait.
 * False: it will not be sent: the other side is gone, or too much waits.
 */
bool outbox_send(
    struct outbox *outbox, enum channel_type type, uint32_t arg, int passed) MUST_CHECK;

/* Has all been sent? */
static inline bool outbox_is_empty(const struct outbox *outbox)
{
	return outbox->n == 0;
}

/* Drop what waits. */
void outbox_clear(struct outbox *outbox);

#endif
