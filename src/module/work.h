/*
 * Blocking work of modules: what rnl_work() is between the pool, which knows
 * nothing of connections, and the connections, which know nothing of threads.
 *
 * A job names its connection by id, and holds it (conn_hold) so that it does not
 * end in peace before the reply. A worker has one pool, so it is process-wide.
 */
#ifndef RUNNEL_MODULE_WORK_H
#define RUNNEL_MODULE_WORK_H

#include <stdbool.h>
#include <stddef.h>

#include <runnel/module.h>

#include "base/status.h"
#include "conn/table.h"
#include "module/modules.h"
#include "settings/settings.h"

/* Make the pool; no thread is started. All borrowed until work_close(). */
enum status work_open(
    struct ev_loop *loop, struct conn_table *table, const struct settings *settings) MUST_CHECK;

/* See rnl_work(). */
enum rnl_status work_submit(struct module *module, struct rnl_conn *conn, uint64_t key,
    rnl_work_f *run, rnl_done_f *done, void *arg);

/* Jobs that are not done. */
size_t work_n_jobs(void);

/* Call idle(arg) each time that the last job is done. */
void work_watch_idle(void (*idle)(void *arg), void *arg);

/* Take no more jobs, and drop those that no thread has begun: their done is called. */
void work_cancel(void);

/* All threads end. No job may be left. */
void work_close(void);

#endif
