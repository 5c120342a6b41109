/*
 * One worker gives its place in the slot to another, which runs on the same conf:
 * a reload of one slot. Both have the slot's sockets, so no connect waits for it.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "master/slot.h"

/* What it gets beyond the time to end, before SIGKILL. */
#define KILL_DELAY_S 2.

static void on_limit(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct slot *slot = container_of(timer, struct slot, relief.end);

	(void)loop;
	(void)revents;
	log_warn(
	    "worker %u: pid %d does not end: killed", slot_index(slot), (int)slot->other->pid);
	kill(slot->other->pid, SIGKILL);
}

void relief_init(struct slot *slot)
{
	ev_init(&slot->relief.end, on_limit);
}

static void conclude(
    struct slot *slot, const struct reason *why, const struct crew_relief *outcome)
{
	struct relief *relief = &slot->relief;
	crew_relieved_f *done = relief->done;

	relief->done = NULL;
	if (done != NULL)
		done(why, outcome, relief->arg);
}

static const char *objection(const struct slot *slot)
{
	if (slot->relief.phase == RELIEF_STARTING)
		return "its replacement is being started already";
	if (slot->relief.phase == RELIEF_LEAVING)
		return "the worker before it still drains";
	if (slot->state != SLOT_READY || slot->is_leaving)
		return "it is not ready";
	return NULL;
}

enum status crew_relieve(struct crew *crew, unsigned int index, uint32_t limit_ms,
    crew_relieved_f *done, void *arg, struct reason *why)
{
	struct slot *slot;
	const char *no;

	if (index >= crew->n_slots)
		return reason_set(
		    why, "there is no worker %u; the last one is %u", index, crew->n_slots - 1);
	slot = &crew->slots[index];
	no = objection(slot);
	if (no != NULL)
		return reason_set(why, "worker %u: %s", index, no);
	if (!slot_fork(slot, slot->other))
		return reason_set(
		    why, "worker %u: no other can be started; the log says why", index);
	slot->relief.phase = RELIEF_STARTING;
	slot->relief.limit_ms = limit_ms;
	slot->relief.done = done;
	slot->relief.arg = arg;
	return STATUS_OK;
}

static void exchange(struct slot *slot)
{
	struct process *process = slot->process;

	slot->process = slot->other;
	slot->other = process;
	slot_renew(slot);
}

/* Without it the connections are closed within the limit. */
static void connect_both(const struct slot *slot)
{
	int pair[2];

	if (channel_open(pair) != STATUS_OK) {
		log_warn("worker %u: its connections are closed: %s", slot_index(slot),
		    strerror(errno));
		return;
	}
	process_pass(slot->process, CHANNEL_RECEIVE, 0, pair[1]);
	process_pass(slot->other, CHANNEL_HAND_OVER, 0, pair[0]);
	close(pair[0]);
	close(pair[1]);
}

void relief_on_ready(struct slot *slot)
{
	struct relief *relief = &slot->relief;
	struct ev_loop *loop = slot->crew->config.loop;

	if (relief->phase != RELIEF_STARTING)
		return;
	ev_timer_stop(loop, &slot->timer);
	exchange(slot);
	relief->phase = RELIEF_LEAVING;
	log_info("worker %u: pid %d serves in the place of pid %d, which drains",
	    slot_index(slot), (int)slot->process->pid, (int)slot->other->pid);
	process_order(slot->process, CHANNEL_SERVE, 0);
	/* What the one before it was to accept for others, the new one has to be told. */
	adoption_forget(slot);
	adoption_arrange(slot->crew);
	connect_both(slot);
	slot->crew->config.on_replaced(slot_index(slot), slot->crew->config.arg);
	process_order(slot->other, CHANNEL_DRAIN, relief->limit_ms);
	ev_timer_set(&relief->end, relief->limit_ms / 1000. + KILL_DELAY_S, 0.);
	ev_timer_start(loop, &relief->end);
}

void relief_go_on(struct slot *slot)
{
	if (slot->relief.phase == RELIEF_LEAVING)
		connect_both(slot);
}

/* The newcomer could not start. */
static void fail(struct slot *slot)
{
	struct reason why = { "" };

	ev_timer_stop(slot->crew->config.loop, &slot->timer);
	slot->relief.phase = RELIEF_NONE;
	reason_set(&why,
	    "worker %u: its replacement could not start, so pid %d goes on; the log says why",
	    slot_index(slot), (int)slot->process->pid);
	log_error("%s", why.text);
	conclude(slot, &why, NULL);
}

void relief_on_end(struct slot *slot)
{
	const struct counters *final = &slot->other->final;
	const struct crew_relief outcome = {
		.pid = slot->process->pid,
		.n_moved = final->moved_out,
		.n_closed = final->closed[CLOSE_REASON_shutdown] +
			    final->closed[CLOSE_REASON_drain_timeout] -
			    slot->other->n_upstreams_left,
		.n_lost = counters_open(final),
	};

	if (slot->relief.phase == RELIEF_STARTING) {
		fail(slot);
		return;
	}
	if (slot->relief.phase == RELIEF_CANCELLED) {
		slot->relief.phase = RELIEF_NONE;
		return;
	}
	ev_timer_stop(slot->crew->config.loop, &slot->relief.end);
	slot->relief.phase = RELIEF_NONE;
	log_info("worker %u: drained: %" PRIu64 " connection%s moved, %" PRIu64
		 " closed, %" PRIu64 " lost",
	    slot_index(slot), outcome.n_moved, outcome.n_moved == 1 ? "" : "s",
	    outcome.n_closed, outcome.n_lost);
	conclude(slot, NULL, &outcome);
}

bool relief_on_loss(struct slot *slot)
{
	struct reason why = { "" };

	if (slot->relief.phase != RELIEF_STARTING)
		return false;
	exchange(slot);
	slot->relief.phase = RELIEF_NONE;
	reason_set(&why, "worker %u: it died before its replacement, pid %d, was ready",
	    slot_index(slot), (int)slot->process->pid);
	conclude(slot, &why, NULL);
	return true;
}

void relief_cancel(struct slot *slot)
{
	static const struct reason why = {
		"another change came before the replacement was ready"
	};

	if (slot->relief.phase != RELIEF_STARTING)
		return;
	/* It is told to end as all are, and has accepted nothing yet. */
	ev_timer_stop(slot->crew->config.loop, &slot->timer);
	slot->relief.phase = RELIEF_CANCELLED;
	conclude(slot, &why, NULL);
}

void relief_forget(struct slot *slot)
{
	ev_timer_stop(slot->crew->config.loop, &slot->relief.end);
}
