#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "conn/slot_page.h"
#include "master/slots.h"
#include "worker/channel.h"
#include "worker/worker.h"

/* A worker that is not ready after so long hangs in a module. */
#define START_LIMIT_S 60.

/* Back-off: at once, then 0.1 s, 0.2 s, 0.4 s ... 10 s. Who lived this long starts afresh. */
#define FIRST_DELAY_S 0.1
#define LAST_DELAY_S 10.
#define STEADY_MS 60000

/* A slot whose first workers die this often before one was ready is given up. */
#define FIRST_TRIES 3

enum slot_state {
	SLOT_EMPTY,    /* nothing runs and nothing is planned */
	SLOT_STARTING, /* a process that is not ready yet */
	SLOT_READY,
	SLOT_WAITING, /* for the back-off */
	SLOT_FAILED,  /* given up */
};

struct slot {
	struct slots *slots;
	unsigned int index;
	enum slot_state state;
	struct slot_page *page; /* shared with the workers */
	pid_t pid;
	int channel; /* the master's end; -1: none */
	ev_child child;
	ev_io channel_io;
	ev_timer timer; /* WAITING: the end of the back-off; STARTING: of the time to start */
	uint64_t started_ms;
	unsigned int n_failures; /* in a row */
	bool was_ready;          /* some worker was */
	struct slot *adopter;    /* whose worker accepts for this slot meanwhile; NULL: none */
};

struct slots {
	struct slots_config config;
	struct slot *list;
	struct slot_page **pages;
	bool is_stopping;
};

static void spawn(struct slot *slot);

static bool has_process(const struct slot *slot)
{
	return slot->state == SLOT_STARTING || slot->state == SLOT_READY;
}

static void close_channel(struct slot *slot)
{
	if (slot->channel < 0)
		return;
	ev_io_stop(slot->slots->config.loop, &slot->channel_io);
	close(slot->channel);
	slot->channel = -1;
}

static void changed(struct slots *slots)
{
	slots->config.on_change(slots->config.arg);
}

static void set_timer(struct slot *slot, double seconds)
{
	struct ev_loop *loop = slot->slots->config.loop;

	ev_timer_stop(loop, &slot->timer);
	ev_timer_set(&slot->timer, seconds, 0.);
	ev_timer_start(loop, &slot->timer);
}

/* Start the next worker, at once or after a while that grows with failures in a row. */
static void spawn_later(struct slot *slot)
{
	double delay_s = slot->n_failures == 0 ? 0. : FIRST_DELAY_S;

	for (unsigned int i = 1; i < slot->n_failures && delay_s < LAST_DELAY_S; i++)
		delay_s *= 2;
	slot->state = SLOT_WAITING;
	slot->n_failures++;
	set_timer(slot, delay_s < LAST_DELAY_S ? delay_s : LAST_DELAY_S);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct slot *slot = container_of(timer, struct slot, timer);

	(void)loop;
	(void)revents;
	if (slot->state == SLOT_WAITING) {
		spawn(slot);
		return;
	}
	log_error("worker %u: pid %d is not ready after %.0f s and is killed: does a module's "
		  "start hook hang?",
	    slot->index, (int)slot->pid, START_LIMIT_S);
	/* One try of that length is enough. */
	if (!slot->was_ready)
		slot->n_failures = FIRST_TRIES;
	kill(slot->pid, SIGKILL);
}

/*
 * While a slot has no worker that accepts, connections wait in the queues of its
 * sockets, where the kernel goes on putting new ones: another slot's worker
 * accepts them.
 */
static void adopt(struct slot *slot)
{
	struct slots *slots = slot->slots;

	if (slot->adopter != NULL || !slot->was_ready)
		return;
	for (unsigned int i = 1; i < slots->config.n_slots; i++) {
		struct slot *other = &slots->list[(slot->index + i) % slots->config.n_slots];

		if (other->state == SLOT_READY &&
		    channel_send(other->channel, CHANNEL_ADOPT, slot->index)) {
			slot->adopter = other;
			return;
		}
	}
}

static void release(struct slot *slot)
{
	if (slot->adopter == NULL)
		return;
	channel_send(slot->adopter->channel, CHANNEL_RELEASE, slot->index);
	slot->adopter = NULL;
}

/* A slot became ready or lost its worker: see that every slot is accepted for. */
static void arrange_adoption(struct slot *changed)
{
	struct slots *slots = changed->slots;

	for (unsigned int i = 0; i < slots->config.n_slots; i++) {
		struct slot *slot = &slots->list[i];

		if (slot->adopter == changed && changed->state != SLOT_READY)
			slot->adopter = NULL;
		if (slot->state == SLOT_READY)
			release(slot);
		else if (!slots->is_stopping)
			adopt(slot);
	}
}

static void on_channel(struct ev_loop *loop, ev_io *io, int revents)
{
	struct slot *slot = container_of(io, struct slot, channel_io);
	struct channel_message message;

	(void)revents;
	switch (channel_receive(io->fd, &message)) {
	case CHANNEL_NOTHING:
		break;
	case CHANNEL_END:
		ev_io_stop(loop, io);
		break;
	case CHANNEL_MESSAGE:
		if (message.type != CHANNEL_READY || slot->state != SLOT_STARTING)
			break;
		slot->state = SLOT_READY;
		slot->was_ready = true;
		ev_timer_stop(loop, &slot->timer);
		arrange_adoption(slot);
		changed(slot->slots);
		break;
	}
}

/* What the dead worker had open is lost; its counts stay. */
static void settle_page(struct slot *slot)
{
	struct counters *counters = &slot->page->counters;
	uint64_t n_lost = counters_open(counters);

	if (slot->page->panic.text[0] != '\0')
		log_error("worker %u: its last words: %s", slot->index, slot->page->panic.text);
	slot->page->panic.text[0] = '\0';
	if (n_lost > 0)
		log_warn("worker %u: %llu connections were lost with it", slot->index,
		    (unsigned long long)n_lost);
	counter_add(counters->closed[CLOSE_REASON_worker_died], n_lost);
	memset(slot->page->n_open, 0, sizeof(slot->page->n_open));
}

static void log_death(const struct slot *slot, int status)
{
	if (WIFSIGNALED(status))
		log_error("worker %u: pid %d was killed by signal %d (%s)", slot->index,
		    (int)slot->pid, WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		log_error("worker %u: pid %d exited with status %d", slot->index,
		    (int)slot->pid, WEXITSTATUS(status));
	else
		log_info("worker %u: pid %d ended", slot->index, (int)slot->pid);
}

/* Decide what becomes of a slot whose process is gone. */
static void decide(struct slot *slot, int status)
{
	bool is_hopeless = WIFEXITED(status) && WEXITSTATUS(status) == WORKER_EXIT_HOPELESS;

	if (slot->slots->is_stopping) {
		slot->state = SLOT_EMPTY;
	} else if (is_hopeless || (!slot->was_ready && slot->n_failures + 1 >= FIRST_TRIES)) {
		slot->state = SLOT_FAILED;
		log_error("worker %u: not started again: %s", slot->index,
		    is_hopeless ? "it would fail in the same way" : "it was never ready");
	} else {
		if (clock_ms() - slot->started_ms >= STEADY_MS)
			slot->n_failures = 0;
		spawn_later(slot);
	}
}

static void on_death(struct ev_loop *loop, ev_child *child, int revents)
{
	struct slot *slot = container_of(child, struct slot, child);

	(void)revents;
	ev_child_stop(loop, child);
	ev_timer_stop(loop, &slot->timer);
	log_death(slot, child->rstatus);
	close_channel(slot);
	settle_page(slot);
	decide(slot, child->rstatus);
	arrange_adoption(slot);
	changed(slot->slots);
}

static _Noreturn void become_worker(struct slot *slot, int channel)
{
	const struct slots_config *config = &slot->slots->config;
	struct worker_plan plan = {
		.slot = slot->index,
		.n_slots = config->n_slots,
		.conf_path = config->conf_path,
		.conf_text = config->conf_text,
		.pages = slot->slots->pages,
		.sockets = config->sockets->list,
		.n_per_slot = config->sockets->n_per_slot,
		.channel = channel,
		.is_detached = config->is_detached,
	};

	config->in_child(config->arg);
	worker_run(&plan);
}

static void spawn(struct slot *slot)
{
	struct ev_loop *loop = slot->slots->config.loop;
	int ends[2];

	if (channel_open(ends) != STATUS_OK) {
		log_error("worker %u: no channel: %s", slot->index, strerror(errno));
		spawn_later(slot);
		return;
	}
	slot->pid = fork();
	if (slot->pid == 0) {
		close(ends[0]);
		become_worker(slot, ends[1]);
	}
	close(ends[1]);
	if (slot->pid < 0) {
		log_error("worker %u: fork: %s", slot->index, strerror(errno));
		close(ends[0]);
		spawn_later(slot);
		return;
	}
	slot->state = SLOT_STARTING;
	slot->started_ms = clock_ms();
	slot->channel = ends[0];
	ev_io_set(&slot->channel_io, slot->channel, EV_READ);
	ev_io_start(loop, &slot->channel_io);
	ev_child_set(&slot->child, slot->pid, 0);
	ev_child_start(loop, &slot->child);
	set_timer(slot, START_LIMIT_S);
	log_info("worker %u: started, pid %d", slot->index, (int)slot->pid);
}

static struct slot_page *page_new(void)
{
	struct slot_page *page = mmap(
	    NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED) {
		log_error("no shared memory: %s", strerror(errno));
		exit(1);
	}
	return page;
}

static void slot_init(struct slot *slot, struct slots *slots, unsigned int index)
{
	slot->slots = slots;
	slot->index = index;
	slot->channel = -1;
	slot->page = slots->pages[index] = page_new();
	ev_init(&slot->channel_io, on_channel);
	ev_init(&slot->child, on_death);
	ev_init(&slot->timer, on_timer);
}

struct slots *slots_new(const struct slots_config *config)
{
	struct slots *slots = must_alloc(1, sizeof(*slots));

	slots->config = *config;
	slots->list = must_alloc(config->n_slots, sizeof(*slots->list));
	slots->pages = must_alloc(config->n_slots, sizeof(struct slot_page *));
	for (unsigned int i = 0; i < config->n_slots; i++)
		slot_init(&slots->list[i], slots, i);
	return slots;
}

void slots_start(struct slots *slots)
{
	for (unsigned int i = 0; i < slots->config.n_slots; i++)
		spawn(&slots->list[i]);
}

static unsigned int count(const struct slots *slots, enum slot_state state)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < slots->config.n_slots; i++)
		n += slots->list[i].state == state;
	return n;
}

unsigned int slots_n_ready(const struct slots *slots)
{
	return count(slots, SLOT_READY);
}

unsigned int slots_n_running(const struct slots *slots)
{
	return count(slots, SLOT_STARTING) + count(slots, SLOT_READY);
}

unsigned int slots_n_failed(const struct slots *slots)
{
	return count(slots, SLOT_FAILED);
}

static void order_all(struct slots *slots, enum channel_type type, uint32_t arg)
{
	slots->is_stopping = true;
	for (unsigned int i = 0; i < slots->config.n_slots; i++) {
		struct slot *slot = &slots->list[i];

		if (has_process(slot)) {
			channel_send(slot->channel, type, arg);
		} else {
			ev_timer_stop(slots->config.loop, &slot->timer);
			slot->state = SLOT_EMPTY;
		}
	}
}

void slots_stop(struct slots *slots, uint32_t limit_ms)
{
	order_all(slots, CHANNEL_STOP, limit_ms);
}

void slots_stop_now(struct slots *slots)
{
	order_all(slots, CHANNEL_STOP_NOW, 0);
}

void slots_kill(struct slots *slots)
{
	for (unsigned int i = 0; i < slots->config.n_slots; i++) {
		struct slot *slot = &slots->list[i];

		if (!has_process(slot))
			continue;
		log_warn("worker %u: pid %d does not end: killed", slot->index, (int)slot->pid);
		kill(slot->pid, SIGKILL);
	}
}

void slots_log_counters(const struct slots *slots)
{
	char text[COUNTERS_TEXT_SIZE];

	for (unsigned int i = 0; i < slots->config.n_slots; i++) {
		counters_format(&slots->list[i].page->counters, text);
		log_info("worker %u: %s", i, text);
	}
}

void slots_forget(struct slots *slots)
{
	struct ev_loop *loop = slots->config.loop;

	for (unsigned int i = 0; i < slots->config.n_slots; i++) {
		struct slot *slot = &slots->list[i];

		close_channel(slot);
		ev_child_stop(loop, &slot->child);
		ev_timer_stop(loop, &slot->timer);
	}
}

void slots_destroy(struct slots **slotsp)
{
	struct slots *slots = *slotsp;

	for (unsigned int i = 0; i < slots->config.n_slots; i++)
		munmap(slots->pages[i], sizeof(*slots->pages[i]));
	free(slots->pages);
	free(slots->list);
	free(slots);
	*slotsp = NULL;
}
