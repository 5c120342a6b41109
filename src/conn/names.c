#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/panic.h"
#include "conn/conn.h"
#include "conn/extras.h"
#include "conn/names.h"

struct name {
	struct hash_link by_key; /* in names->by_key */
	struct link of_conn;     /* in extras->names */
	struct rnl_conn *conn;   /* borrowed: its end clears the name */
	size_t owner;
	size_t len;
	uint8_t key[];
};

enum status names_init(struct names *names)
{
	siphash_seed_init(&names->seed);
	return hash_init(&names->by_key);
}

static uint64_t hash_of(const struct names *names, size_t owner, const void *key, size_t len)
{
	return siphash(&names->seed, key, len) + owner;
}

static struct name *find(const struct names *names, size_t owner, const void *key, size_t len)
{
	struct hash_link *link = hash_find(&names->by_key, hash_of(names, owner, key, len));

	for (; link != NULL; link = hash_find_next(link)) {
		struct name *name = container_of(link, struct name, by_key);

		if (name->owner == owner && name->len == len &&
		    memcmp(name->key, key, len) == 0)
			return name;
	}
	return NULL;
}

static struct name *make(struct names *names, size_t owner, const void *key, size_t len)
{
	struct name *name = malloc(sizeof(*name) + len);

	if (name == NULL)
		return NULL;
	name->conn = NULL;
	name->owner = owner;
	name->len = len;
	memcpy(name->key, key, len);
	list_init(&name->of_conn);
	hash_insert(&names->by_key, &name->by_key, hash_of(names, owner, key, len));
	return name;
}

static void destroy(struct names *names, struct name *name)
{
	list_remove(&name->of_conn);
	hash_remove(&names->by_key, &name->by_key);
	free(name);
}

enum rnl_status names_bind(
    struct rnl_conn *conn, size_t owner, const void *key, size_t len, struct rnl_conn **former)
{
	struct names *names = &conn->table->names;
	struct extras *extras;
	struct name *name;

	CHECK(len > 0 && len <= RNL_MAX_KEY);
	*former = NULL;
	if (conn->state != CONN_OPEN)
		return RNL_ECLOSED;
	extras = extras_get(conn);
	if (extras == NULL)
		return RNL_ENOMEM;
	name = find(names, owner, key, len);
	if (name == NULL)
		name = make(names, owner, key, len);
	if (name == NULL)
		return RNL_ENOMEM;
	if (name->conn != conn)
		*former = name->conn;
	name->conn = conn;
	list_remove(&name->of_conn);
	list_append(&extras->names, &name->of_conn);
	return RNL_OK;
}

struct rnl_conn *names_find(
    const struct conn_table *table, size_t owner, const void *key, size_t len)
{
	const struct name *name = find(&table->names, owner, key, len);

	return name != NULL ? name->conn : NULL;
}

void names_unbind(struct rnl_conn *conn, size_t owner, const void *key, size_t len)
{
	struct names *names = &conn->table->names;
	struct name *name = find(names, owner, key, len);

	if (name != NULL && name->conn == conn)
		destroy(names, name);
}

void names_clear(struct names *names, struct link *of_conn)
{
	struct link *link, *after;

	list_foreach_safe(link, after, of_conn)
		destroy(names, container_of(link, struct name, of_conn));
}

void names_destroy(struct names *names)
{
	CHECK(names->by_key.n_links == 0);
	hash_destroy(&names->by_key);
}
