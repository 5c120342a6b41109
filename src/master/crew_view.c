#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "master/slot.h"

static const char *state_name(const struct slot *slot)
{
	static const char *const names[] = {
		[SLOT_EMPTY] = "ended",
		[SLOT_STARTING] = "starting",
		[SLOT_READY] = "ready",
		[SLOT_WAITING] = "waiting",
		[SLOT_FAILED] = "failed",
	};

	if (slot->crew->is_stopping && process_is_running(slot->process))
		return "draining";
	return slot_is_stale(slot) ? "stale" : names[slot->state];
}

static void view_slowest(const struct slot *slot, struct crew_view *view)
{
	const struct settings *settings = slot->crew->config.settings;
	const struct slowest *slowest = &slot->process->seat->slowest;
	/* Read once: the worker can change it at any time. */
	uint32_t ms = __atomic_load_n(&slowest->ms, __ATOMIC_RELAXED);
	uint16_t module = __atomic_load_n(&slowest->module, __ATOMIC_RELAXED);

	if (ms == 0 || module >= settings->n_modules)
		return;
	view->slowest_ms = ms;
	view->slowest_id = __atomic_load_n(&slowest->id, __ATOMIC_RELAXED);
	view->slowest_module = settings->modules[module].name;
}

void crew_view(const struct crew *crew, unsigned int index, struct crew_view *view)
{
	const struct slot *slot = &crew->slots[index];
	const struct process *process = slot->process, *other = slot->other;

	*view = (struct crew_view){ .state = state_name(slot), .is_broken = slot->is_broken };
	if (slot->relief.phase == RELIEF_LEAVING && process_is_running(other)) {
		view->leaving_pid = other->pid;
		view->n_leaving = counters_open(&other->seat->counters);
	}
	if (!process_is_running(process))
		return;
	view->pid = process->pid;
	view->up_ms = clock_ms() - process->started_ms;
	view->n_open = counters_open(&process->seat->counters);
	view_slowest(slot, view);
}

static void log_slot(const struct crew *crew, unsigned int index)
{
	const char *degraded = crew->slots[index].is_broken ? " (degraded)" : "";
	const struct counters *counters;
	char slowest[160] = "";
	struct crew_view view;

	crew_view(crew, index, &view);
	if (view.pid == 0) {
		log_info("status: worker %u: %s%s, generation %" PRIu32, index, view.state,
		    degraded, crew->config.generation);
		return;
	}
	if (view.slowest_ms > 0)
		snprintf(slowest, sizeof(slowest),
		    ", slowest handler %" PRIu32 " ms (module '%s', id %" PRIu32 ")",
		    view.slowest_ms, view.slowest_module, view.slowest_id);
	counters = &crew->slots[index].process->seat->counters;
	log_info("status: worker %u: %s%s, pid %d, generation %" PRIu32 ", connections %" PRIu64
		 ", frames in %" PRIu64 ", out %" PRIu64 ", sends refused %" PRIu64 "%s",
	    index, view.state, degraded, (int)view.pid, crew->config.generation, view.n_open,
	    counter_read(counters->frames_in), counter_read(counters->frames_out),
	    counter_read(counters->sends_refused), slowest);
}

void crew_log_status(const struct crew *crew)
{
	for (unsigned int i = 0; i < crew->n_slots; i++)
		log_slot(crew, i);
}
