/*
 * Handing connections over to a worker of a later generation. The two share a
 * SOCK_SEQPACKET pair that the master made: the later one tells first which
 * listeners it can go on with (an offer), then the earlier one sends connections,
 * each of which the later one takes or refuses by a reply, in the order they came.
 *
 * A connection has one owner at any time, whoever dies. The sender keeps a copy of
 * the descriptor and the message until the reply, and takes the connection back
 * when it is refused, or when the other end closes without a reply. The receiver
 * does nothing with a connection before its reply is sent; it reads what has been
 * sent before it closes, and what a sender leaves behind that is gone is its own.
 */
#ifndef RUNNEL_WORKER_HANDOVER_H
#define RUNNEL_WORKER_HANDOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/status.h"
#include "conn/table.h"
#include "module/listeners.h"

/* Connections in one turn of the loop, so that those that stay are served meanwhile. */
#define HANDOVER_BUDGET 64

/* Connections without a reply yet. So many replies fit into a new pair. */
#define HANDOVER_WINDOW 64

/* A rest when descriptors are short, or a connection was refused. */
#define HANDOVER_PAUSE_S 0.05

/* A byte each. */
enum handover_reply { HANDOVER_REFUSED, HANDOVER_TAKEN };

/*
 * Hand over, on fd, what can be, from now on: the table's connections move when
 * they are between two turns. An earlier handover of the list sends no more. It
 * stands in list until the other end is gone; on_landed is called when no
 * connection is without a reply any more. fd is the handover's now.
 * STATUS_NOMEM: fd is closed.
 */
enum status handover_new(struct link *list, struct conn_table *table,
    const struct listeners *listeners, int fd, void (*on_landed)(void *arg),
    void *arg) MUST_CHECK;

/* Is a connection on the way, without a reply? */
bool handovers_are_flying(struct link *list);

/* Hand over no more; the replies that are still to come are waited for. */
void handovers_end(struct link *list);

/* Hand over no more, and forget what is on the way: it is the other's. */
void handovers_close(struct link *list);

#endif
