/*
 * Close callbacks: functions that modules have asked for while a connection
 * lives, to be called when it has ended. One for each key of a module.
 */
#ifndef RUNNEL_CONN_CALLBACKS_H
#define RUNNEL_CONN_CALLBACKS_H

#include <stddef.h>

#include <runnel/module.h>

#include "base/list.h"

/*
 * Call it after the close hooks, in the order of this. What stands under the key is replaced,
 * and keeps its place. owner: the module's index. RNL_ECLOSED: it has ended. RNL_ENOMEM.
 */
enum rnl_status callbacks_add(
    struct rnl_conn *conn, size_t owner, const void *key, rnl_closed_f *call, void *arg);

/* Without effect when there is none. */
void callbacks_remove(struct rnl_conn *conn, size_t owner, const void *key);

/* The connection has ended: call each once. One that is called may remove others. */
void callbacks_run(struct rnl_conn *conn);

/* Drop those that were not called. */
void callbacks_clear(struct link *callbacks);

#endif
