/*
 * A client of the relay: a connection whose data is the number of its requests in
 * flight, each of which holds it. So what another worker takes over has none.
 */
#ifndef RELAY_CLIENT_H
#define RELAY_CLIENT_H

#include <stdint.h>

#include <runnel/module.h>

#include "tally.h"

/*
 * A request of it is in flight, or no more. A client that waits for as many replies as it may is
 * not read until one has come.
 */
void client_hold(struct rnl_conn *client);
void client_release(struct rnl_conn *client);

/* A request gets no reply. A client that is not told of it must not go on waiting. */
void client_fail(struct rnl_conn *client, uint32_t id, enum cause cause);

#endif
