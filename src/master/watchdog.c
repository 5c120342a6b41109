#include "config.h"

#include <inttypes.h>
#include <signal.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "master/slot.h"

/* How often the watchdog looks, and what a worker gets between SIGABRT and SIGKILL. */
#define WATCH_S 0.2
#define ABORT_MS 2000

/* It has stood still for too long: have a picture of it taken, then end it. */
static void end_stale(struct slot *slot, uint32_t limit_ms)
{
	if (!slot->is_aborted) {
		log_error("worker %u: pid %d has not come round for %" PRIu32
			  " ms: aborted; a handler blocks, or it was stopped",
		    slot_index(slot), (int)slot->process->pid, slot->stale_ms);
		kill(slot->process->pid, SIGABRT);
		/* One that was stopped hears nothing else. */
		kill(slot->process->pid, SIGCONT);
		slot->is_aborted = true;
	} else if (slot->stale_ms >= limit_ms + ABORT_MS) {
		kill(slot->process->pid, SIGKILL);
	}
}

static void watch_slot(struct slot *slot, uint32_t elapsed_ms)
{
	uint32_t limit_ms = slot->crew->config.settings->watchdog_timeout_ms;
	uint64_t turned_ms;

	if (slot->state != SLOT_READY)
		return;
	turned_ms = counter_read(slot->process->seat->turned_ms);
	slot->stale_ms = turned_ms == slot->turned_ms ? slot->stale_ms + elapsed_ms : 0;
	slot->turned_ms = turned_ms;
	if (limit_ms != 0 && slot->stale_ms >= limit_ms)
		end_stale(slot, limit_ms);
	if (slot->is_broken && clock_ms() - slot->process->started_ms >= STEADY_MS) {
		slot->is_broken = false;
		log_info("worker %u: it has run for %d s: no longer degraded", slot_index(slot),
		    STEADY_MS / 1000);
	}
}

/*
 * Time that the master itself was stopped, or did not get to run, is not held
 * against the workers, which may have been stopped with it.
 */
static void on_watch(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct crew *crew = container_of(timer, struct crew, watch);
	uint64_t now_ms = clock_ms(), elapsed_ms = now_ms - crew->watched_ms;

	(void)loop;
	(void)revents;
	crew->watched_ms = now_ms;
	if (elapsed_ms > (uint64_t)(2000 * WATCH_S))
		elapsed_ms = (uint64_t)(2000 * WATCH_S);
	for (unsigned int i = 0; i < crew->n_slots; i++)
		watch_slot(&crew->slots[i], (uint32_t)elapsed_ms);
	adoption_arrange(crew);
}

void watchdog_init(struct crew *crew)
{
	ev_timer_init(&crew->watch, on_watch, WATCH_S, WATCH_S);
}

void watchdog_start(struct crew *crew)
{
	crew->watched_ms = clock_ms();
	ev_timer_start(crew->config.loop, &crew->watch);
}

void watchdog_stop(struct crew *crew)
{
	ev_timer_stop(crew->config.loop, &crew->watch);
}
