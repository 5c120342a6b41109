/*
 * Handing connections over to a worker of a later generation. The two share a
 * SOCK_SEQPACKET pair that the master made: the later one tells first which
 * listeners it can go on with (an offer), then the earlier one sends connections.
 */
#ifndef RUNNEL_WORKER_HANDOVER_H
#define RUNNEL_WORKER_HANDOVER_H

#include "base/list.h"
#include "base/status.h"
#include "conn/table.h"
#include "module/listeners.h"

struct handover;

/*
 * Hand over, on fd, what can be, from now on: the table's connections move when
 * they are between two turns. fd is the handover's now. NULL: no memory, fd is closed.
 */
struct handover *handover_new(
    struct conn_table *table, const struct listeners *listeners, int fd);

/* Hand over no more. */
void handover_destroy(struct handover **handover);

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
