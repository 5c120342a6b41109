#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "master/census.h"
#include "master/conns.h"
#include "master/state.h"

#define DEFAULT_LIMIT 100
#define MAX_LIMIT 10000

const char *const conns_keys[] = { "sort", "filter", "limit", NULL };
const char *const kick_keys[] = { "id", NULL };

/* A connection and the slot of the worker that has it. */
struct found {
	const struct survey_record *record;
	unsigned int slot;
};

struct list {
	struct found *items;
	size_t n;
};

typedef int order_f(const void *a, const void *b);

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int by_id(const void *a, const void *b)
{
	const struct found *first = a, *second = b;

	return compare(first->record->id, second->record->id);
}

/* Those that stand out come first. */
static int by_idle(const void *a, const void *b)
{
	const struct found *first = a, *second = b;
	int order = compare(second->record->idle_ms, first->record->idle_ms);

	return order != 0 ? order : by_id(a, b);
}

static int by_age(const void *a, const void *b)
{
	const struct found *first = a, *second = b;
	int order = compare(second->record->age_ms, first->record->age_ms);

	return order != 0 ? order : by_id(a, b);
}

static int by_queue(const void *a, const void *b)
{
	const struct found *first = a, *second = b;
	int order = compare(second->record->queue_bytes, first->record->queue_bytes);

	return order != 0 ? order : by_id(a, b);
}

static const struct {
	const char *name;
	order_f *order;
} orders[] = {
	{ "id", by_id },
	{ "age", by_age },
	{ "idle", by_idle },
	{ "queue", by_queue },
};

/* What a request wants, and the request. */
struct query {
	struct control_request *request;
	order_f *order;
	char *filter; /* NULL: all; owned */
	size_t limit;
};

static bool is_awaited(const void *arg)
{
	const struct query *query = arg;

	return control_request_is_awaited(query->request);
}

static void query_destroy(void *arg)
{
	struct query *query = arg;

	free(query->filter);
	free(query);
}

static enum status read_order(struct query *query, const json_t *value, struct reason *why)
{
	const char *name = value != NULL ? json_string_value(value) : "id";

	for (size_t i = 0; name != NULL && i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (strcmp(orders[i].name, name) == 0) {
			query->order = orders[i].order;
			return STATUS_OK;
		}
	}
	return name == NULL
		   ? reason_set(why, "sort: give id, age, idle or queue")
		   : reason_set(
			 why, "sort: there is no '%.60s': give id, age, idle or queue", name);
}

static enum status read_query(struct query *query, const json_t *object, struct reason *why)
{
	const json_t *filter = json_object_get(object, "filter");
	const json_t *limit = json_object_get(object, "limit");

	if (filter != NULL && !json_is_string(filter))
		return reason_set(why, "filter: give a text");
	query->filter = must_strdup(json_string_value(filter));
	query->limit = DEFAULT_LIMIT;
	if (limit != NULL) {
		json_int_t n = json_integer_value(limit);

		if (n < 1 || n > MAX_LIMIT)
			return reason_set(why, "limit: give a number from 1 to %d", MAX_LIMIT);
		query->limit = (size_t)n;
	}
	return read_order(query, json_object_get(object, "sort"), why);
}

static bool is_wanted(const struct query *query, const struct survey_record *record)
{
	char peer[ENDPOINT_TEXT_SIZE];

	return query->filter == NULL || strstr(record->listener, query->filter) != NULL ||
	       strstr(endpoint_format(&record->peer, peer), query->filter) != NULL;
}

/* Those that are wanted, in no order. */
static void gather(const struct census *census, const struct query *query, struct list *list)
{
	struct link *link;
	size_t n = 0;

	list_foreach(link, &census->workers)
		n += census_n_records(container_of(link, struct census_worker, link));
	list->items = must_alloc(n + 1, sizeof(*list->items));
	list->n = 0;
	list_foreach(link, &census->workers) {
		const struct census_worker *worker =
		    container_of(link, struct census_worker, link);

		for (size_t i = 0; i < census_n_records(worker); i++) {
			if (is_wanted(query, &worker->records[i]))
				list->items[list->n++] =
				    (struct found){ &worker->records[i], worker->slot };
		}
	}
}

/* A connection may be found twice; those of the same id stand together. */
static void unite(struct list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		if (n == 0 || list->items[n - 1].record->id != list->items[i].record->id)
			list->items[n++] = list->items[i];
	}
	list->n = n;
}

static json_t *describe(const struct found *found)
{
	const struct survey_record *record = found->record;
	char peer[ENDPOINT_TEXT_SIZE];

	return json_pack("{sI si ss ss sI sI sI sI}", "id", (json_int_t)record->id, "worker",
	    (int)found->slot, "peer", endpoint_format(&record->peer, peer), "listener",
	    record->listener, "age_ms", (json_int_t)record->age_ms, "idle_ms",
	    (json_int_t)record->idle_ms, "queue_messages", (json_int_t)record->queue_messages,
	    "queue_bytes", (json_int_t)record->queue_bytes);
}

/* Slots whose worker has not answered, each once. */
static json_t *list_silent(const struct census *census)
{
	bool is_silent[SETTINGS_MAX_WORKERS] = { false };
	json_t *silent = json_array();
	struct link *link;

	list_foreach(link, &census->workers) {
		const struct census_worker *worker =
		    container_of(link, struct census_worker, link);

		is_silent[worker->slot] |= !worker->is_complete;
	}
	for (int slot = 0; slot < SETTINGS_MAX_WORKERS; slot++) {
		if (is_silent[slot])
			json_array_append_new(silent, json_integer(slot));
	}
	return silent;
}

static void tell_list(struct census *census, void *arg)
{
	struct query *query = arg;
	json_t *conns = json_array();
	struct list list;

	gather(census, query, &list);
	qsort(list.items, list.n, sizeof(list.items[0]), by_id);
	unite(&list);
	if (query->order != by_id)
		qsort(list.items, list.n, sizeof(list.items[0]), query->order);
	for (size_t i = 0; i < list.n && i < query->limit; i++)
		json_array_append_new(conns, describe(&list.items[i]));
	control_answer(
	    query->request, json_pack("{sI so so}", "found", (json_int_t)list.n, "silent",
				list_silent(census), "connections", conns));
	free(list.items);
}

static void tell_kicked(struct census *census, void *arg)
{
	struct query *query = arg;
	json_t *silent = list_silent(census);
	struct list list;

	gather(census, query, &list);
	if (list.n > 0)
		control_answer(
		    query->request, json_pack("{so}", "connection", describe(&list.items[0])));
	else
		control_fail(query->request, "there is no connection %" PRIu64 "%s",
		    census->request.kick,
		    json_array_size(silent) > 0 ? ", or its worker does not answer" : "");
	json_decref(silent);
	free(list.items);
}

static void start(struct master *master, const struct survey_request *survey,
    void (*done)(struct census *census, void *arg), struct query *query)
{
	census_start(&master->censuses, master->loop, master->succession, survey, done,
	    is_awaited, query_destroy, query);
}

void conns_list(struct control_request *request, void *arg)
{
	const struct survey_request survey = { .kick = 0 };
	struct query *query = must_alloc(1, sizeof(*query));
	struct reason why = { "" };

	query->request = request;
	if (read_query(query, control_request_object(request), &why) == STATUS_OK) {
		start(arg, &survey, tell_list, query);
		return;
	}
	control_fail(request, "%s", why.text);
	query_destroy(query);
}

void conns_kick(struct control_request *request, void *arg)
{
	json_int_t id =
	    json_integer_value(json_object_get(control_request_object(request), "id"));
	const struct survey_request survey = { .kick = (uint64_t)id };
	struct query *query;

	if (id < 1) {
		control_fail(request, "id: give the number of a connection");
		return;
	}
	query = must_alloc(1, sizeof(*query));
	query->request = request;
	start(arg, &survey, tell_kicked, query);
}
