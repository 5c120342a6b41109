#include "config.h"

#include "master/slot.h"

/*
 * While a slot has no worker that accepts, connections wait in the queues of its
 * sockets, where the kernel goes on putting new ones: another slot's worker
 * accepts them.
 */
static void adopt(struct slot *slot)
{
	struct crew *crew = slot->crew;

	if (slot->adopter != NULL)
		return;
	for (unsigned int i = 1; i < crew->n_slots; i++) {
		struct slot *other = &crew->slots[(slot_index(slot) + i) % crew->n_slots];

		if (slot_is_serving(other)) {
			process_order(other->process, CHANNEL_ADOPT, slot_index(slot));
			slot->adopter = other;
			return;
		}
	}
}

static void release(struct slot *slot)
{
	if (slot->adopter == NULL)
		return;
	process_order(slot->adopter->process, CHANNEL_RELEASE, slot_index(slot));
	slot->adopter = NULL;
}

void adoption_forget(struct slot *slot)
{
	struct crew *crew = slot->crew;

	for (unsigned int i = 0; i < crew->n_slots; i++) {
		if (crew->slots[i].adopter == slot)
			crew->slots[i].adopter = NULL;
	}
}

void adoption_arrange(struct crew *crew)
{
	if (!crew->is_serving || crew->is_stopping)
		return;
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		struct slot *slot = &crew->slots[i];

		if (slot->adopter != NULL && slot->adopter->state != SLOT_READY)
			slot->adopter = NULL;
		else if (slot->adopter != NULL && !slot_is_serving(slot->adopter))
			release(slot);
	}
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		struct slot *slot = &crew->slots[i];

		if (slot_is_serving(slot))
			release(slot);
		else
			adopt(slot);
	}
}
