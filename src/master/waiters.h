/*
 * Those who wait for the end of an attempt to change generations. Process: the master.
 */
#ifndef RUNNEL_MASTER_WAITERS_H
#define RUNNEL_MASTER_WAITERS_H

#include "base/list.h"
#include "base/status.h"

/* The attempt is over: why it failed (borrowed), or NULL. */
typedef void waiter_done_f(const struct reason *why, void *arg);

/* done NULL: nobody waits. */
void waiters_add(struct link *list, waiter_done_f *done, void *arg);

/* Tell each, once, in the order they came. */
void waiters_tell(struct link *list, const struct reason *why);

#endif
