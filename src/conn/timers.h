/*
 * Timers of modules, on libev's: to a millisecond, from when the loop woke. A
 * module's own, or one that is bound to a connection and ends with it.
 */
#ifndef RUNNEL_CONN_TIMERS_H
#define RUNNEL_CONN_TIMERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <runnel/module.h>

#include "base/list.h"

struct conn_table;

/*
 * owner: the module's index. Call after after_ms, then every every_ms, or once when that is 0. It is gone when it is
 * stopped, when its only call has returned, or with the table. NULL: no memory.
 */
struct rnl_timer *timer_start(struct conn_table *table, size_t owner, uint32_t after_ms,
    uint32_t every_ms, rnl_timer_f *call, void *arg);

/* The same, but it also is gone when the connection has ended. NULL, too: it has ended. */
struct rnl_timer *timer_start_for(struct rnl_conn *conn, size_t owner, uint32_t after_ms,
    uint32_t every_ms, rnl_timer_f *call, void *arg);

/* False of one that is gone, as far as its memory tells, and of NULL. */
bool timer_is_there(const struct rnl_timer *timer);

/* Also from its own call. */
void timer_stop(struct rnl_timer *timer);

/* Stop all of a list. */
void timers_clear(struct link *timers);

#endif
