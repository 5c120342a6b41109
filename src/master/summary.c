#include "config.h"

#include <unistd.h>

#include "master/control.h"
#include "master/summary.h"

static json_t *counters_of(const struct counters *counters)
{
	json_t *object = json_object();

#define SET_COUNTER(name, text) \
	json_object_set_new(    \
	    object, #name, json_integer((json_int_t)counter_read(counters->name)));
	COUNTERS(SET_COUNTER)
#undef SET_COUNTER
#define SET_REASON(name, text)                       \
	json_object_set_new(object, "closed_" #name, \
	    json_integer((json_int_t)counter_read(counters->closed[CLOSE_REASON_##name])));
	CLOSE_REASONS(SET_REASON)
#undef SET_REASON
	return object;
}

static json_t *worker_of(const struct summary *summary, unsigned int slot)
{
	struct crew_view view;
	struct counters sum;

	crew_view(summary->generation->crew, slot, &view);
	pages_sum(summary->pages, slot, &sum);
	return json_pack("{si ss si sI sI sb so}", "slot", (int)slot, "state", view.state,
	    "pid", (int)view.pid, "uptime_ms", (json_int_t)view.up_ms, "connections",
	    (json_int_t)view.n_open, "degraded", (int)view.is_broken, "counters",
	    counters_of(&sum));
}

json_t *summary_to_json(const struct summary *summary)
{
	const struct generation *generation = summary->generation;
	json_t *workers = json_array();

	for (unsigned int i = 0; generation != NULL && i < generation->settings->workers; i++)
		json_array_append_new(workers, worker_of(summary, i));
	return json_pack("{ss si ss so sI sI so}", "version", PACKAGE_VERSION, "pid",
	    (int)getpid(), "state", summary->phase, "conf", control_text(summary->conf_path),
	    "uptime_ms", (json_int_t)summary->up_ms, "generation",
	    generation != NULL ? (json_int_t)generation->number : 0, "workers", workers);
}
