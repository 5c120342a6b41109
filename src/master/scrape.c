#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "master/metrics.h"
#include "master/module_metrics.h"
#include "master/resident.h"
#include "master/scrape.h"

static void fill(struct metrics_slot *slot, unsigned int number, unsigned int n_workers,
    const struct generation *generation, const struct pages *pages)
{
	struct crew_view view = { .state = "" };

	if (number < n_workers)
		crew_view(generation->crew, number, &view);
	slot->number = number;
	pages_sum(pages, number, &slot->counters);
	pages_sum_times(pages, number, &slot->times);
	slot->n_open = counters_open(&slot->counters);
	slot->is_ready = strcmp(view.state, "ready") == 0;
	slot->is_degraded = view.is_broken;
	slot->slowest_ms = view.slowest_ms;
	slot->memory_bytes = resident_bytes(view.pid);
	slot->n_crashes = pages_n_crashes(pages, number);
}

/* free(). The names are the generation's. */
static struct metrics_listener *list_listeners(
    const struct generation *generation, const struct pages *pages, size_t *n)
{
	const struct settings *settings = generation != NULL ? generation->settings : NULL;
	struct metrics_listener *list;

	*n = settings != NULL ? settings->n_listeners : 0;
	list = must_alloc(*n + 1, sizeof(*list));
	for (size_t i = 0; i < *n; i++)
		list[i] = (struct metrics_listener){
			.name = settings->listeners[i].name,
			.n_open = pages_n_open(pages, generation->number, (unsigned int)i),
			.max_connections = settings->listeners[i].max_connections,
		};
	return list;
}

/* Each upstream in each slot; free(). The names are the generation's. */
static struct metrics_upstream *list_upstreams(
    const struct generation *generation, const struct pages *pages, size_t *n)
{
	const struct settings *settings = generation != NULL ? generation->settings : NULL;
	unsigned int n_slots = settings != NULL ? settings->workers : 0;
	struct metrics_upstream *list;

	*n = settings != NULL ? settings->n_upstreams * n_slots : 0;
	list = must_alloc(*n + 1, sizeof(*list));
	for (size_t i = 0; i < *n; i++) {
		unsigned int upstream = (unsigned int)i / n_slots;
		unsigned int slot = (unsigned int)i % n_slots;

		list[i] = (struct metrics_upstream){
			.name = settings->upstreams[upstream].common.name,
			.slot = slot,
			.n_up = pages_n_up(pages, generation->number, slot, upstream),
			.n_addresses = settings->upstreams[upstream].common.n_addresses,
		};
	}
	return list;
}

void scrape_print(time_t started_at, const struct succession *succession,
    const struct pages *pages, FILE *out)
{
	const struct generation *generation = succession_current(succession);
	unsigned int n_workers = generation != NULL ? generation->settings->workers : 0;
	struct metrics_slot *slots = must_alloc(SETTINGS_MAX_WORKERS, sizeof(*slots));
	struct metrics_listener *listeners;
	struct metrics_upstream *upstreams;
	struct metrics metrics = {
		.started_at = started_at,
		.generation = generation != NULL ? generation->number : 0,
		.is_last_change_good = succession_is_last_good(succession),
		.n_workers = n_workers,
		.slots = slots,
	};

	for (unsigned int number = 0; number < SETTINGS_MAX_WORKERS; number++) {
		if (pages->list[number].is_used)
			fill(&slots[metrics.n_slots++], number, n_workers, generation, pages);
	}
	listeners = list_listeners(generation, pages, &metrics.n_listeners);
	metrics.listeners = listeners;
	upstreams = list_upstreams(generation, pages, &metrics.n_upstreams);
	metrics.upstreams = upstreams;
	metrics_print(&metrics, out);
	module_metrics_print(pages, out);
	free(upstreams);
	free(listeners);
	free(slots);
}
