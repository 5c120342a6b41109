/*
 * A connection to a backend, and the requests that are in flight on it. A reply
 * goes to the client whose request it answers, or to nobody.
 */
#ifndef RELAY_BACKEND_H
#define RELAY_BACKEND_H

#include <runnel/module.h>

#include "tally.h"

struct backend;

/* Of a connection that has been made. NULL: no memory. */
struct backend *backend_new(struct rnl_conn *conn);

/* Send it a request of a client. CAUSE_NONE: a reply will come, or the client is told. */
enum cause backend_pass_on(
    struct backend *backend, struct rnl_conn *client, const struct rnl_msg *msg);

/* Give a reply to whom it is for. */
enum rnl_verdict backend_take(struct backend *backend, const struct rnl_msg *msg);

/* The connection has ended: so have failed the requests that are in flight. */
void backend_end(struct backend *backend);

#endif
