#include "config.h"

#include <stdlib.h>

#include "conn/callbacks.h"
#include "conn/extras.h"
#include "conn/parts.h"

struct callback {
	struct link of_conn; /* in extras->callbacks */
	size_t owner;
	const void *key; /* the module's; never looked into */
	rnl_closed_f *call;
	void *arg;
};

static struct callback *find(const struct rnl_conn *conn, size_t owner, const void *key)
{
	struct extras *extras = extras_find(conn);
	struct link *link;

	if (extras == NULL)
		return NULL;
	list_foreach(link, &extras->callbacks) {
		struct callback *callback = container_of(link, struct callback, of_conn);

		if (callback->owner == owner && callback->key == key)
			return callback;
	}
	return NULL;
}

static struct callback *append(struct rnl_conn *conn, size_t owner, const void *key)
{
	struct extras *extras = extras_get(conn);
	struct callback *callback;

	if (extras == NULL)
		return NULL;
	callback = malloc(sizeof(*callback));
	if (callback == NULL)
		return NULL;
	callback->owner = owner;
	callback->key = key;
	list_append(&extras->callbacks, &callback->of_conn);
	return callback;
}

enum rnl_status callbacks_add(
    struct rnl_conn *conn, size_t owner, const void *key, rnl_closed_f *call, void *arg)
{
	struct callback *callback;

	if (conn->is_ended)
		return RNL_ECLOSED;
	callback = find(conn, owner, key);
	if (callback == NULL)
		callback = append(conn, owner, key);
	if (callback == NULL)
		return RNL_ENOMEM;
	callback->call = call;
	callback->arg = arg;
	return RNL_OK;
}

void callbacks_remove(struct rnl_conn *conn, size_t owner, const void *key)
{
	struct callback *callback = find(conn, owner, key);

	if (callback == NULL)
		return;
	list_remove(&callback->of_conn);
	free(callback);
}

void callbacks_run(struct rnl_conn *conn)
{
	struct extras *extras = extras_find(conn);
	struct link *link;

	if (extras == NULL)
		return;
	while ((link = list_shift(&extras->callbacks)) != NULL) {
		struct callback *callback = container_of(link, struct callback, of_conn);

		conn_do(conn, DOING_CLOSE, (unsigned int)callback->owner);
		callback->call(conn, callback->arg);
		free(callback);
	}
}

void callbacks_clear(struct link *callbacks)
{
	struct link *link;

	while ((link = list_shift(callbacks)) != NULL)
		free(container_of(link, struct callback, of_conn));
}
