/*
 * The generations that end: those that drain since another serves, those that are
 * to stop, and those that failed. Each has a time, after which its workers are
 * killed. Process: the master.
 */
#ifndef RUNNEL_MASTER_ENDINGS_H
#define RUNNEL_MASTER_ENDINGS_H

#include <ev.h>
#include <stdint.h>

#include "base/list.h"
#include "master/generation.h"

struct endings {
	struct ev_loop *loop; /* borrowed */
	struct link list;     /* of struct generation, each with a crew, owned; oldest first */
};

void endings_init(struct endings *endings, struct ev_loop *loop);

/* It ends, and is the list's from now on; an order has to follow. */
void endings_add(struct endings *endings, struct generation *generation);

/* Those that drain hand their connections over to the one that serves, slot by slot. */
void endings_hand_over(struct endings *endings, struct generation *to);

/*
 * A worker of the one that serves was replaced; the one before may have died with connections
 * on the way to it.
 */
void endings_hand_over_again(
    struct endings *endings, struct generation *to, unsigned int replaced);

/*
 * The newest that drains hands over the connections of a slot to whoever is at the other end of
 * fd (borrowed): one end is for one worker, and the others hand over to that generation.
 */
void endings_hand_over_to(struct endings *endings, unsigned int slot, int fd);

/* One of them: let its connections go within limit_ms. */
void endings_drain(struct endings *endings, struct generation *generation, uint32_t limit_ms);

/* One of them: it ends at once. */
void endings_stop_now(struct endings *endings, struct generation *generation);

/* All of them: gracefully, within limit_ms (0: no limit). */
void endings_stop_all(struct endings *endings, uint32_t limit_ms);

/* All of them: at once. */
void endings_stop_all_now(struct endings *endings);

/* All of them have only so long left. */
void endings_hurry(struct endings *endings, uint32_t limit_ms);

/* When they are more than may drain at the same time the oldest have to hurry. */
void endings_cap(struct endings *endings);

/* Destroy those that have no worker any more. */
void endings_review(struct endings *endings);

#endif
