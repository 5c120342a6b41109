#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "master/endings.h"
#include "worker/channel.h"

/* What workers get beyond the time to end, or after the order to end at once, before SIGKILL. */
#define KILL_DELAY_S 2.

/* Generations that drain at the same time; the oldest of more has to hurry. */
#define MAX_DRAINING 2
#define HURRY_MS 1000

static struct generation *generation_of(struct link *link)
{
	return container_of(link, struct generation, link);
}

void endings_init(struct endings *endings, struct ev_loop *loop)
{
	endings->loop = loop;
	list_init(&endings->list);
}

void endings_add(struct endings *endings, struct generation *generation)
{
	list_append(&endings->list, &generation->link);
}

/* Those that failed have never served, and have no connections. */
static bool is_draining(const struct generation *generation)
{
	return generation->since_ms != 0;
}

/* Let the worker in a slot hand its connections over to one of the other generation. */
static void connect_slot(struct generation *from, unsigned int slot, struct generation *to)
{
	int pair[2];

	if (channel_open(pair) != STATUS_OK) {
		log_warn("worker %u: its connections are closed: %s", slot, strerror(errno));
		return;
	}
	crew_receive(to->crew, slot, pair[1]);
	crew_hand_over(from->crew, slot, pair[0]);
	close(pair[0]);
	close(pair[1]);
}

void endings_hand_over(struct endings *endings, struct generation *to)
{
	struct link *link;

	list_foreach(link, &endings->list) {
		struct generation *from = generation_of(link);

		for (unsigned int slot = 0; is_draining(from) && slot < from->settings->workers;
		     slot++)
			connect_slot(from, slot, to);
	}
}

void endings_hand_over_again(
    struct endings *endings, struct generation *to, unsigned int replaced)
{
	struct link *link;

	list_foreach(link, &endings->list) {
		struct generation *from = generation_of(link);

		for (unsigned int slot = replaced;
		     is_draining(from) && slot < from->settings->workers;
		     slot += to->settings->workers)
			connect_slot(from, slot, to);
	}
}

void endings_hand_over_to(struct endings *endings, unsigned int slot, int fd)
{
	const struct generation *newest = NULL;
	struct link *link;

	list_foreach(link, &endings->list) {
		if (is_draining(generation_of(link)))
			newest = generation_of(link);
	}
	if (newest != NULL && slot < newest->settings->workers)
		crew_hand_over(newest->crew, slot, fd);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)revents;
	crew_kill(container_of(timer, struct generation, end)->crew);
}

static void set_limit(struct endings *endings, struct generation *generation, uint32_t limit_ms)
{
	ev_timer_stop(endings->loop, &generation->end);
	ev_timer_init(&generation->end, on_limit, limit_ms / 1000. + KILL_DELAY_S, 0.);
	ev_timer_start(endings->loop, &generation->end);
}

void endings_drain(struct endings *endings, struct generation *generation, uint32_t limit_ms)
{
	crew_drain(generation->crew, limit_ms);
	set_limit(endings, generation, limit_ms);
}

void endings_stop_now(struct endings *endings, struct generation *generation)
{
	crew_stop_now(generation->crew);
	set_limit(endings, generation, 0);
}

void endings_stop_all(struct endings *endings, uint32_t limit_ms)
{
	struct link *link;

	list_foreach(link, &endings->list) {
		crew_stop(generation_of(link)->crew, limit_ms);
		if (limit_ms != 0)
			set_limit(endings, generation_of(link), limit_ms);
	}
}

void endings_stop_all_now(struct endings *endings)
{
	struct link *link;

	list_foreach(link, &endings->list)
		endings_stop_now(endings, generation_of(link));
}

/* Once: its time is not put off by the next that is too many. */
static void hurry(struct endings *endings, struct generation *generation, uint32_t limit_ms)
{
	if (generation->is_hurried)
		return;
	log_warn(
	    "generation %" PRIu32 " has to end: too many are draining", generation->number);
	generation->is_hurried = true;
	endings_drain(endings, generation, limit_ms);
}

void endings_hurry(struct endings *endings, uint32_t limit_ms)
{
	struct link *link;

	list_foreach(link, &endings->list)
		hurry(endings, generation_of(link), limit_ms);
}

void endings_cap(struct endings *endings)
{
	unsigned int n = 0;
	struct link *link;

	list_foreach(link, &endings->list)
		n++;
	list_foreach(link, &endings->list) {
		if (n-- <= MAX_DRAINING)
			break;
		hurry(endings, generation_of(link), HURRY_MS);
	}
}

void endings_review(struct endings *endings)
{
	struct link *link, *after;

	list_foreach_safe(link, after, &endings->list) {
		struct generation *generation = generation_of(link);

		if (crew_n_running(generation->crew) > 0)
			continue;
		ev_timer_stop(endings->loop, &generation->end);
		log_info("generation %" PRIu32 " has ended", generation->number);
		generation_destroy(&generation);
	}
}
