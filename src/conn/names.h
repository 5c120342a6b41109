/*
 * Names: keys that modules have bound to connections of this worker. A key is a
 * module's own bytes, and leads to one connection; a connection may have many.
 */
#ifndef RUNNEL_CONN_NAMES_H
#define RUNNEL_CONN_NAMES_H

#include <stddef.h>

#include <runnel/module.h>

#include "base/hash.h"
#include "base/list.h"
#include "base/siphash.h"
#include "base/status.h"

struct conn_table;

struct names {
	struct hash by_key; /* keyed by a hash of owner and key, which two may share */
	struct siphash_seed seed;
};

enum status names_init(struct names *names) MUST_CHECK;

/*
 * Bind a key of 1 to RNL_MAX_KEY bytes, which are copied, to conn; from now on it leads to no
 * other. owner: the module's index. *former: whom it led to before; NULL: nobody, or conn
 * itself. RNL_ECLOSED, RNL_ENOMEM: nothing was changed.
 */
enum rnl_status names_bind(
    struct rnl_conn *conn, size_t owner, const void *key, size_t len, struct rnl_conn **former);

/* The connection, which may be closing; NULL: the key is not bound. */
struct rnl_conn *names_find(
    const struct conn_table *table, size_t owner, const void *key, size_t len);

/* Without effect when the key is not bound to conn. */
void names_unbind(struct rnl_conn *conn, size_t owner, const void *key, size_t len);

/* Unbind all that stand in a connection's list. */
void names_clear(struct names *names, struct link *of_conn);

/* No name is left. */
void names_destroy(struct names *names);

#endif
