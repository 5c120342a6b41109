#include "config.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "http/health.h"

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text != NULL ? text : "";
}

static int slot_of(const json_t *worker)
{
	return (int)json_integer_value(json_object_get(worker, "slot"));
}

/* It serves; with all its workers? */
static enum status judge_workers(const json_t *workers, struct reason *why)
{
	size_t n_ready = 0;

	for (size_t i = 0; i < json_array_size(workers); i++) {
		const json_t *worker = json_array_get(workers, i);

		if (json_is_true(json_object_get(worker, "degraded")))
			return reason_set(
			    why, "degraded: worker %d crashes too often", slot_of(worker));
		if (strcmp(text_of(worker, "state"), "failed") == 0)
			return reason_set(
			    why, "degraded: worker %d cannot run", slot_of(worker));
		n_ready += strcmp(text_of(worker, "state"), "ready") == 0;
	}
	return n_ready > 0 ? STATUS_OK : reason_set(why, "not ready: no worker is ready");
}

enum status health_judge(const json_t *status, struct reason *why)
{
	const char *state = text_of(status, "state");

	if (strcmp(state, "starting") == 0)
		return reason_set(why, "not ready: starting");
	/* After an upgrade another master serves at this address, which is asked from now on. */
	if (strcmp(state, "leaving") == 0)
		return STATUS_OK;
	if (strcmp(state, "serving") != 0)
		return reason_set(why, "shutting down: %s", state);
	return judge_workers(json_object_get(status, "workers"), why);
}
