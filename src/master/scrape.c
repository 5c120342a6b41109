#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "master/metrics.h"
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
}

void scrape_print(time_t started_at, const struct generation *generation,
    const struct pages *pages, FILE *out)
{
	unsigned int n_workers = generation != NULL ? generation->settings->workers : 0;
	struct metrics_slot *slots = must_alloc(SETTINGS_MAX_WORKERS, sizeof(*slots));
	struct metrics metrics = {
		.started_at = started_at,
		.generation = generation != NULL ? generation->number : 0,
		.n_workers = n_workers,
		.slots = slots,
	};

	for (unsigned int number = 0; number < SETTINGS_MAX_WORKERS; number++) {
		if (pages->list[number].is_used)
			fill(&slots[metrics.n_slots++], number, n_workers, generation, pages);
	}
	metrics_print(&metrics, out);
	free(slots);
}
