/*
 * Accepting: the listening sockets that this worker serves. Sockets belong to
 * the master and are shared with it: they are never shut down here.
 */
#ifndef RUNNEL_CONN_ACCEPT_H
#define RUNNEL_CONN_ACCEPT_H

#include "base/status.h"
#include "conn/listener.h"
#include "conn/table.h"

struct acceptors;

/* STATUS_ERRNO: the reserve descriptor cannot be had; STATUS_NOMEM. */
enum status acceptors_new(struct conn_table *table, struct acceptors **acceptors) MUST_CHECK;

/* Accept connections of listener (borrowed) on fd, a socket of a slot, from now on. */
enum status acceptors_add(struct acceptors *acceptors, const struct listener *listener, int fd,
    unsigned int slot) MUST_CHECK;

/* Accept no more on the sockets of a slot. */
void acceptors_drop(struct acceptors *acceptors, unsigned int slot);

/* Accept what is waiting now. */
void acceptors_sweep(struct acceptors *acceptors);

/* Accept no more. */
void acceptors_destroy(struct acceptors **acceptors);

#endif
