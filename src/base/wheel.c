#include "config.h"

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
	/* The first tick that is not before the deadline; a tick that is done comes no more. */
	uint64_t tick = (deadline_ms + WHEEL_TICK_MS - 1) / WHEEL_TICK_MS;

	if (tick <= wheel->tick)
		tick = wheel->tick + 1;
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

	/* Taken out whole: what is armed again for this slot waits for its next turn. */
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
	uint64_t last = now_ms / WHEEL_TICK_MS;

	/* After a long sleep each slot needs one visit only. */
	if (last > wheel->tick + WHEEL_SLOTS)
		wheel->tick = last - WHEEL_SLOTS;
	while (wheel->tick < last) {
		wheel->tick++;
		advance_slot(
		    wheel, &wheel->slots[wheel->tick % WHEEL_SLOTS], now_ms, fire, arg);
	}
}
