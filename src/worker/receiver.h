/*
 * The other end of a handover: a worker takes the connections of an earlier one.
 * See worker/handover.h.
 */
#ifndef RUNNEL_WORKER_RECEIVER_H
#define RUNNEL_WORKER_RECEIVER_H

#include "base/list.h"
#include "base/status.h"
#include "conn/table.h"
#include "module/listeners.h"

/*
 * Make the offer on fd and take the connections that come until the other end
 * ends. The receiver stands in list until then, and on_end is called; fd is its
 * own now. STATUS_NOMEM: fd is closed.
 */
enum status receiver_new(struct link *list, struct conn_table *table,
    const struct listeners *listeners, int fd, void (*on_end)(void *arg), void *arg) MUST_CHECK;

/* Take what has been sent to the receivers of the list, and no more. */
void receivers_close(struct link *list);

#endif
