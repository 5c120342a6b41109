#include "config.h"

#include <unistd.h>

#include "master/answer.h"
#include "master/control.h"
#include "master/module_metrics.h"
#include "master/resident.h"
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

/*
 * [[bound in seconds, how many were not longer], ...], where that grows; what is longer than
 * all bounds is in the count only. Counted once, so that all of it is of the same moment.
 */
static json_t *durations_to_json(const struct durations *durations)
{
	json_t *buckets = json_array();
	uint64_t n = 0;

	for (size_t i = 0; i < DURATIONS_BUCKETS; i++) {
		n += durations->counts[i];
		if (durations->counts[i] > 0 && i < DURATIONS_BUCKETS - 1)
			json_array_append_new(
			    buckets, json_pack("[fI]", (double)durations_bound_ns(i) / 1e9,
					 (json_int_t)n));
	}
	return json_pack("{sI sf so}", "count", (json_int_t)n, "sum_seconds",
	    (double)durations->sum_ns / 1e9, "buckets", buckets);
}

/* NULL in JSON: none was slow. */
static json_t *slowest_of(const struct crew_view *view)
{
	if (view->slowest_ms == 0)
		return json_null();
	return json_pack("{sI ss sI}", "ms", (json_int_t)view->slowest_ms, "module",
	    view->slowest_module, "id", (json_int_t)view->slowest_id);
}

/* NULL in JSON: none drains. */
static json_t *leaving_of(const struct crew_view *view)
{
	if (view->leaving_pid == 0)
		return json_null();
	return json_pack("{si sI}", "pid", (int)view->leaving_pid, "connections",
	    (json_int_t)view->n_leaving);
}

/* What a slot has counted is told with the generation that serves. */
static json_t *worker_of(const struct generation *generation, unsigned int slot)
{
	struct crew_view view;

	crew_view(generation->crew, slot, &view);
	return json_pack("{si ss si sI sI sI sb so so}", "slot", (int)slot, "state", view.state,
	    "pid", (int)view.pid, "uptime_ms", (json_int_t)view.up_ms, "connections",
	    (json_int_t)view.n_open, "memory_bytes", (json_int_t)resident_bytes(view.pid),
	    "degraded", (int)view.is_broken, "leaving", leaving_of(&view), "slowest",
	    slowest_of(&view));
}

/* What a slot has counted, with all its processes so far. */
static void tell_counts(json_t *worker, const struct pages *pages, unsigned int slot)
{
	struct counters counters;
	struct times times;

	pages_sum(pages, slot, &counters);
	pages_sum_times(pages, slot, &times);
	json_object_set_new(worker, "counters", counters_of(&counters));
	json_object_set_new(worker, "handler_time", durations_to_json(&times.handler));
	json_object_set_new(worker, "reply_time", durations_to_json(&times.reply));
	json_object_set_new(worker, "modules", module_metrics_to_json(pages, slot));
}

static json_t *workers_of(const struct generation *generation, const struct pages *pages)
{
	json_t *workers = json_array();

	for (unsigned int i = 0; generation != NULL && i < generation->settings->workers; i++) {
		json_t *worker = worker_of(generation, i);

		if (pages != NULL)
			tell_counts(worker, pages, i);
		json_array_append_new(workers, worker);
	}
	return workers;
}

/* Each worker has a connection to each address of an upstream, when all are up. */
static json_t *upstreams_of(const struct generation *generation, const struct pages *pages)
{
	const struct settings *settings = generation != NULL ? generation->settings : NULL;
	json_t *list = json_array();

	for (size_t i = 0; settings != NULL && i < settings->n_upstreams; i++) {
		const struct listen_settings *upstream = &settings->upstreams[i].common;
		uint64_t n_up = 0;

		for (unsigned int slot = 0; slot < settings->workers; slot++)
			n_up += pages_n_up(pages, generation->number, slot, (unsigned int)i);
		json_array_append_new(list,
		    json_pack("{ss sI sI}", "name", upstream->name, "up", (json_int_t)n_up,
			"wanted", (json_int_t)(upstream->n_addresses * settings->workers)));
	}
	return list;
}

/* Connections of generations that end: all that the slots have, less those of this one. */
static json_int_t count_draining(const struct generation *generation, const struct pages *pages)
{
	uint64_t n_all = 0, n_current = 0;
	struct crew_view view;
	struct counters sum;

	for (unsigned int slot = 0; slot < SETTINGS_MAX_WORKERS; slot++) {
		if (!pages->list[slot].is_used)
			continue;
		pages_sum(pages, slot, &sum);
		n_all += counters_open(&sum);
	}
	for (unsigned int i = 0; i < generation->settings->workers; i++) {
		crew_view(generation->crew, i, &view);
		n_current += view.n_open;
	}
	/* They count on meanwhile. */
	return n_all > n_current ? (json_int_t)(n_all - n_current) : 0;
}

static json_t *ending_of(const struct succession *succession)
{
	const struct generation *generation;
	json_t *list = json_array();

	for (unsigned int i = 0; (generation = succession_ending(succession, i)) != NULL &&
				 generation->crew != NULL;
	     i++)
		json_array_append_new(
		    list, json_pack("{sI so}", "generation", (json_int_t)generation->number,
			      "workers", workers_of(generation, NULL)));
	return list;
}

json_t *summary_to_json(const struct summary *summary)
{
	const struct generation *generation = succession_current(summary->succession);

	return json_pack("{ss si ss so sI sI so sb sI so so so}", "version", PACKAGE_VERSION,
	    "pid", (int)getpid(), "state", summary->phase, "conf",
	    answer_text(summary->conf_path), "uptime_ms", (json_int_t)summary->up_ms,
	    "generation", generation != NULL ? (json_int_t)generation->number : 0,
	    "last_change", answer_text(succession_outcome(summary->succession)),
	    "last_change_successful", (int)succession_is_last_good(summary->succession),
	    "draining", generation != NULL ? count_draining(generation, summary->pages) : 0,
	    "upstreams", upstreams_of(generation, summary->pages), "workers",
	    workers_of(generation, summary->pages), "ending", ending_of(summary->succession));
}
