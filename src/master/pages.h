/*
 * The slots' pages: shared memory of the master and its workers, which the next
 * master takes over in an upgrade. So ids and counters go on over every change
 * of processes. Process: the master; workers use what they inherit.
 *
 * Workers run foreign code without the master's rights, and can write all of the pages:
 * nothing there is an index, a length or a text that ends before it was checked. What the master
 * relies on, the directory, is in memory of its own, of which a worker has a copy.
 */
#ifndef RUNNEL_MASTER_PAGES_H
#define RUNNEL_MASTER_PAGES_H

#include "base/status.h"
#include "conn/slot_page.h"

struct pages {
	struct metric_directory *directory; /* of modules' metrics; owned */
	struct slot_page *list;             /* SETTINGS_MAX_WORKERS of them */
	int fd;                             /* of the memory; close-on-exec */
};

/* STATUS_ERRNO. */
enum status pages_open(struct pages *pages) MUST_CHECK;

/* For the next master, beside fd: a new descriptor, close-on-exec; -1: errno. */
int pages_leave(const struct pages *pages) MUST_CHECK;

/*
 * Use the memory of another master, and what its pages_leave() has given (both descriptors are
 * ours from now on, also on failure). It may be of another version: STATUS_INVALID when its
 * layout is not ours.
 */
enum status pages_adopt(struct pages *pages, int fd, int legacy_fd) MUST_CHECK;

/*
 * Take a seat for a new process of a generation; NULL: all seats of the slot are taken. Seats of
 * processes that are gone are given back before: a master that died could not do it.
 */
struct seat *pages_take_seat(struct pages *pages, unsigned int slot, uint32_t generation);

/*
 * The process is gone. What it counted stays with the slot; connections that it had are counted
 * as lost: returns how many.
 */
uint64_t pages_leave_seat(struct pages *pages, unsigned int slot, struct seat *seat);

/* A worker of the slot ended otherwise than in order; how many did so far. */
void pages_count_crash(const struct pages *pages, unsigned int slot);
uint64_t pages_n_crashes(const struct pages *pages, unsigned int slot);

/* Connections of a listener that the workers of a generation have, in all slots. */
uint64_t pages_n_open(const struct pages *pages, uint32_t generation, unsigned int listener);

/* Connections to an upstream that the workers of a generation have in a slot. */
uint64_t pages_n_up(
    const struct pages *pages, uint32_t generation, unsigned int slot, unsigned int upstream);

/* What a slot has counted: of processes that are gone, and of those in its seats. */
void pages_sum(const struct pages *pages, unsigned int slot, struct counters *sum);

/* The same for how long messages took. */
void pages_sum_times(const struct pages *pages, unsigned int slot, struct times *sum);

/* Likewise what modules have counted, and the gauges of the processes that are there. */
void pages_sum_metrics(const struct pages *pages, unsigned int slot, struct metric_cells *sum);

/* A line in the log for each slot that was used. */
void pages_log(const struct pages *pages);

/* Unmap and close. */
void pages_close(struct pages *pages);

#endif
