/*
 * A timer wheel for deadlines of tens of milliseconds to days, of which nearly
 * all are moved or cancelled before they come: O(1), no memory beyond a link
 * and a time per entry. An entry never fires early, and at most one tick late
 * (when wheel_advance is called every tick).
 */
#ifndef RUNNEL_BASE_WHEEL_H
#define RUNNEL_BASE_WHEEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

#define WHEEL_TICK_MS 50u
#define WHEEL_SLOTS \
	512u /* a power of two; a deadline beyond the horizon waits for a later turn */

struct wheel_entry {
	struct link link;
	uint64_t deadline_ms; /* 0: not armed */
};

struct wheel {
	struct link slots[WHEEL_SLOTS];
	uint64_t tick; /* of the last advance */
	unsigned int n_armed;
};

typedef void wheel_fire_f(struct wheel_entry *entry, void *arg);

void wheel_init(struct wheel *wheel, uint64_t now_ms);

/* Entries are made not armed. */
void wheel_entry_init(struct wheel_entry *entry);

/* Arm or move an entry; the wheel borrows it until it fires or is cancelled. */
void wheel_arm(struct wheel *wheel, struct wheel_entry *entry, uint64_t deadline_ms);

void wheel_cancel(struct wheel *wheel, struct wheel_entry *entry);

static inline bool wheel_is_armed(const struct wheel_entry *entry)
{
	return entry->deadline_ms != 0;
}

/*
 * Fire all whose deadline has come. An entry is disarmed before its call, which may arm, cancel
 * or free any entry.
 */
void wheel_advance(struct wheel *wheel, uint64_t now_ms, wheel_fire_f *fire, void *arg);

#endif
