#include "config.h"

#include <stdlib.h>

#include "base/panic.h"
#include "conn/callbacks.h"
#include "conn/conn.h"
#include "conn/extras.h"
#include "conn/names.h"
#include "conn/timers.h"

struct extras *extras_find(const struct rnl_conn *conn)
{
	struct hash_link *link;

	if (!conn->has_extras)
		return NULL;
	link = hash_find(&conn->table->extras, conn_id(conn));
	CHECK(link != NULL);
	return container_of(link, struct extras, by_conn);
}

struct extras *extras_get(struct rnl_conn *conn)
{
	struct extras *extras = extras_find(conn);

	if (extras != NULL)
		return extras;
	extras = malloc(sizeof(*extras));
	if (extras == NULL)
		return NULL;
	list_init(&extras->callbacks);
	list_init(&extras->names);
	list_init(&extras->timers);
	extras->stop_bytes = 0;
	hash_insert(&conn->table->extras, &extras->by_conn, conn_id(conn));
	conn->has_extras = true;
	return extras;
}

void extras_destroy(struct rnl_conn *conn)
{
	struct extras *extras = extras_find(conn);

	if (extras == NULL)
		return;
	callbacks_clear(&extras->callbacks);
	names_clear(&conn->table->names, &extras->names);
	timers_clear(&extras->timers);
	hash_remove(&conn->table->extras, &extras->by_conn);
	conn->has_extras = false;
	free(extras);
}
