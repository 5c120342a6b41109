/*
 * A message for many connections of a worker: one copy, of which their queues
 * hold references. It is framed once for each framing that its receivers speak.
 */
#ifndef RUNNEL_CONN_SHARED_H
#define RUNNEL_CONN_SHARED_H

#include <stddef.h>
#include <stdint.h>

#include <runnel/module.h>

#include "conn/table.h"

/* The payload is copied. NULL: no memory, or worker-send-memory is used up. */
struct rnl_shared *shared_new(
    struct conn_table *table, uint32_t id, const void *payload, size_t len);

/* Queue it for a connection; see rnl_send_shared(). */
enum rnl_status conn_send_shared(struct rnl_conn *conn, struct rnl_shared *shared);

/* The queues that hold it keep it until it is sent. */
void shared_free(struct rnl_shared *shared);

#endif
