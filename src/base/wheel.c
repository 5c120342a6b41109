/*
 * An entry stands in the slot of the tick that its deadline falls in. A visit
 * leaves what is not due yet, for a later turn or for later in the same tick: the
 * slot of the last tick is visited again by the next advance.
 */
#include "config.h"

#include "base/panic.h"
#include "base/wheel.h"

void wheel_init(struct wheel *wheel, uint64_t now_ms)
{
	for (unsigned int i = 0; i < WHEEL_SLOTS; i++)
		list_init(&wheel->slots[i]);
	wheel->tick = now_ms / WHEEL_TICK_MS;
	wheel->n_armed = 0;
}

void wheel_entry_init(struct wheel_entry *entry)
{
	list_init(&entry->link);
	entry->deadline_ms = 0;
}

void wheel_arm(struct wheel *wheel, struct wheel_entry *entry, uint64_t deadline_ms)
{
	uint64_t tick = deadline_ms / WHEEL_TICK_MS;

	CHECK(deadline_ms != 0);
	if (tick < wheel->tick)
		tick = wheel->tick;
	if (entry->deadline_ms != 0)
		list_remove(&entry->link);
	else
		wheel->n_armed++;
	entry->deadline_ms = deadline_ms;
	list_append(&wheel->slots[tick % WHEEL_SLOTS], &entry->link);
}

void wheel_cancel(struct wheel *wheel, struct wheel_entry *entry)
{
	if (entry->deadline_ms == 0)
		return;
	list_remove(&entry->link);
	entry->deadline_ms = 0;
	wheel->n_armed--;
}

static void advance_slot(
    struct wheel *wheel, struct link *slot, uint64_t now_ms, wheel_fire_f *fire, void *arg)
{
	struct link turn, *link;

	/* Taken out whole: what is armed meanwhile for this slot waits for its next visit. */
	list_init(&turn);
	list_splice(&turn, slot);
	while ((link = list_shift(&turn)) != NULL) {
		struct wheel_entry *entry = container_of(link, struct wheel_entry, link);

		if (entry->deadline_ms > now_ms) {
			list_append(slot, link);
			continue;
		}
		entry->deadline_ms = 0;
		wheel->n_armed--;
		fire(entry, arg);
	}
}

void wheel_advance(struct wheel *wheel, uint64_t now_ms, wheel_fire_f *fire, void *arg)
{
	uint64_t last = now_ms / WHEEL_TICK_MS, tick = wheel->tick;

	if (last < tick)
		return;
	/* After a long sleep each slot needs one visit only. */
	if (last - tick >= WHEEL_SLOTS)
		tick = last - WHEEL_SLOTS + 1;
	/* What is armed for the past from now on stands in the slot that is visited last. */
	wheel->tick = last;
	for (; tick <= last; tick++)
		advance_slot(wheel, &wheel->slots[tick % WHEEL_SLOTS], now_ms, fire, arg);
}
