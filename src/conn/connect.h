/*
 * Connecting out: the upstreams of a worker, one for each connect section. An
 * upstream has a connector for each address, which keeps one connection there:
 *
 *     CONNECTING ---> UP
 *       ^    | fails   | ends
 *       |    v         |
 *       +-- WAITING <--+
 *
 * The connection is one like any other. When the worker ends, connectors rest.
 */
#ifndef RUNNEL_CONN_CONNECT_H
#define RUNNEL_CONN_CONNECT_H

#include <stddef.h>

#include "base/status.h"
#include "conn/listener.h"
#include "conn/table.h"
#include "settings/address.h"

struct connectors;

/*
 * Connectors for n upstreams, each made of a connect section (both borrowed), and at rest.
 * STATUS_NOMEM. They are found as table->connectors.
 */
enum status connectors_new(struct conn_table *table, const struct listener *upstreams,
    const struct connect_settings *settings, size_t n,
    struct connectors **connectors) MUST_CHECK;

/*
 * Connect from now on. tried(arg) is called once: when each connector is up or has failed for
 * the first time, or at once when there is none. It must not end the worker's loop.
 */
void connectors_start(struct connectors *connectors, void (*tried)(void *arg), void *arg);

/* How many an upstream has, at least 1; 0: there is no such upstream. */
size_t connectors_n_addresses(const struct connectors *connectors, size_t upstream);

/* The connection to address i of an upstream; NULL: it is not up. */
struct rnl_conn *connectors_get(const struct connectors *connectors, size_t upstream, size_t i);

/* In turn, the next connection of an upstream that is up; NULL: none is. */
struct rnl_conn *connectors_next(struct connectors *connectors, size_t upstream);

/* Where a connection of a connector goes, as the conf writes it. Returns text. */
const char *connector_address(const struct connector *connector, char text[ADDRESS_TEXT_SIZE]);

/* All connections must be gone. */
void connectors_destroy(struct connectors **connectors);

#endif
