#include "config.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "master/slot.h"

/* A worker that is not ready after so long hangs in a module. */
#define START_LIMIT_S 60.

/* Back-off: at once, then 0.1 s, 0.2 s, 0.4 s ... 10 s. Who lived for STEADY_MS starts afresh. */
#define FIRST_DELAY_S 0.1
#define LAST_DELAY_S 10.

/* While no other worker serves, clients wait for this one. */
#define LONE_DELAY_S 0.2

/* A slot whose first workers die this often before one was ready is given up. */
#define FIRST_TRIES 3

/* A slot whose workers crash BREAKER_CRASHES times in so long is left alone for as long. */
#define BREAKER_MS 60000

static void spawn(struct slot *slot);

static void changed(struct crew *crew)
{
	crew->config.on_change(crew->config.arg);
}

static void set_timer(struct slot *slot, double seconds)
{
	struct ev_loop *loop = slot->crew->config.loop;

	ev_timer_stop(loop, &slot->timer);
	ev_timer_set(&slot->timer, seconds, 0.);
	ev_timer_start(loop, &slot->timer);
}

static bool is_lone(const struct slot *slot)
{
	const struct crew *crew = slot->crew;

	for (unsigned int i = 0; i < crew->n_slots; i++) {
		if (&crew->slots[i] != slot && slot_is_serving(&crew->slots[i]))
			return false;
	}
	return true;
}

/* The pause grows with failures in a row. */
static double delay_of(const struct slot *slot)
{
	double delay_s = slot->n_failures == 0 ? 0. : FIRST_DELAY_S;

	if (slot->is_broken)
		delay_s = BREAKER_MS / 1000.;
	for (unsigned int i = 1; i < slot->n_failures && delay_s < LAST_DELAY_S; i++)
		delay_s *= 2;
	if (!slot->is_broken && delay_s > LAST_DELAY_S)
		delay_s = LAST_DELAY_S;
	if (slot->was_ready && delay_s > LONE_DELAY_S && is_lone(slot))
		delay_s = LONE_DELAY_S;
	return delay_s;
}

/* Start the next worker, at once or after a while. */
static void spawn_later(struct slot *slot)
{
	double delay_s = delay_of(slot);

	slot->state = SLOT_WAITING;
	slot->n_failures++;
	set_timer(slot, delay_s);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct slot *slot = container_of(timer, struct slot, timer);
	const struct process *process;
	struct panic_page panic;

	(void)loop;
	(void)revents;
	if (slot->state == SLOT_WAITING) {
		spawn(slot);
		return;
	}
	process = slot->relief.phase == RELIEF_STARTING ? slot->other : slot->process;
	panic_read(&process->seat->panic, &panic);
	log_error("worker %u: pid %d is not ready after %.0f s and is killed: does %s hang?",
	    slot_index(slot), (int)process->pid, START_LIMIT_S,
	    panic.stage[0] != '\0' ? panic.stage : "a module");
	/* One try of that length is enough. */
	if (!slot->was_ready)
		slot->n_failures = FIRST_TRIES;
	kill(process->pid, SIGKILL);
}

static void on_ready(struct process *process)
{
	struct slot *slot = process->owner;
	struct crew *crew = slot->crew;

	if (process == slot->other) {
		relief_on_ready(slot);
		return;
	}
	if (slot->state != SLOT_STARTING)
		return;
	slot->state = SLOT_READY;
	slot->was_ready = true;
	ev_timer_stop(crew->config.loop, &slot->timer);
	if (crew->is_serving) {
		process_order(process, CHANNEL_SERVE, 0);
		crew->config.on_replaced(process->slot, crew->config.arg);
		relief_go_on(slot);
	}
	adoption_arrange(crew);
	changed(crew);
}

static void on_leaving(struct process *process)
{
	struct slot *slot = process->owner;

	if (process == slot->other)
		return;
	slot->is_leaving = true;
	adoption_arrange(slot->crew);
}

/* Did it crash so often that it is better left alone? */
static void note_crash(struct slot *slot)
{
	uint64_t now_ms = clock_ms(), oldest_ms;

	slot->crashed_ms[slot->n_crashes++ % BREAKER_CRASHES] = now_ms;
	oldest_ms = slot->crashed_ms[slot->n_crashes % BREAKER_CRASHES];
	if (slot->is_broken || oldest_ms == 0 || now_ms - oldest_ms > BREAKER_MS)
		return;
	slot->is_broken = true;
	log_error("worker %u: %d crashes within %d s: degraded; others serve its clients",
	    slot_index(slot), BREAKER_CRASHES, BREAKER_MS / 1000);
}

/* Decide what becomes of a slot whose process is gone. */
static void decide(struct slot *slot, int status)
{
	/* In one that was ready a module called exit(2), which says nothing of the next one. */
	bool is_hopeless = slot->state == SLOT_STARTING && WIFEXITED(status) &&
			   WEXITSTATUS(status) == WORKER_EXIT_HOPELESS;

	if (slot->crew->is_stopping) {
		slot->state = SLOT_EMPTY;
	} else if (is_hopeless || (!slot->was_ready && slot->n_failures + 1 >= FIRST_TRIES)) {
		slot->state = SLOT_FAILED;
		log_error("worker %u: not started again: %s", slot_index(slot),
		    is_hopeless ? "it would fail in the same way" : "it was never ready");
	} else {
		if (clock_ms() - slot->process->started_ms >= STEADY_MS)
			slot->n_failures = 0;
		if (status != 0)
			note_crash(slot);
		spawn_later(slot);
	}
}

static void on_end(struct process *process, int status)
{
	struct slot *slot = process->owner;

	if (process == slot->other) {
		relief_on_end(slot);
	} else if (relief_on_loss(slot)) {
		slot->state = SLOT_STARTING;
		if (status != 0)
			note_crash(slot);
	} else {
		ev_timer_stop(slot->crew->config.loop, &slot->timer);
		decide(slot, status);
	}
	adoption_arrange(slot->crew);
	changed(slot->crew);
}

static const struct process_events process_events = {
	.ready = on_ready, .leaving = on_leaving, .end = on_end
};

static _Noreturn void become_worker(
    const struct slot *slot, const struct process *process, int channel)
{
	const struct crew *crew = slot->crew;
	const struct crew_config *config = &crew->config;
	struct worker_plan plan = {
		.master = crew->master,
		.slot = slot_index(slot),
		.n_slots = crew->n_slots,
		.conf_path = config->conf_path,
		.conf_text = config->conf_text,
		.pages = config->pages->list,
		.directory = config->pages->directory,
		.seat = process->seat,
		.sockets = config->sockets,
		.n_sockets = config->n_sockets,
		.channel = channel,
		.is_detached = config->is_detached,
	};

	config->in_child(config->sockets, config->n_sockets, config->arg);
	privileges_must_drop(config->privileges);
	worker_run(&plan);
}

bool slot_fork(struct slot *slot, struct process *process)
{
	int channel;
	pid_t pid = process_fork(process, slot->crew->config.generation, &channel);

	if (pid == 0)
		become_worker(slot, process, channel);
	if (pid < 0)
		return false;
	set_timer(slot, START_LIMIT_S);
	return true;
}

void slot_renew(struct slot *slot)
{
	slot->turned_ms = 0;
	slot->stale_ms = 0;
	slot->is_aborted = false;
	slot->is_leaving = false;
}

static void spawn(struct slot *slot)
{
	if (slot_fork(slot, slot->process)) {
		slot->state = SLOT_STARTING;
		slot_renew(slot);
	} else if (!slot->was_ready && slot->n_failures + 1 >= FIRST_TRIES) {
		slot->state = SLOT_FAILED;
		changed(slot->crew);
	} else {
		spawn_later(slot);
	}
}

static void slot_init(struct slot *slot, struct crew *crew, unsigned int index)
{
	const struct crew_config *config = &crew->config;

	slot->crew = crew;
	for (int i = 0; i < 2; i++) {
		process_init(&slot->places[i], config->loop, config->pages, config->settings,
		    &process_events, index);
		slot->places[i].owner = slot;
	}
	slot->process = &slot->places[0];
	slot->other = &slot->places[1];
	relief_init(slot);
	ev_init(&slot->timer, on_timer);
}

struct crew *crew_new(const struct crew_config *config)
{
	struct crew *crew = must_alloc(1, sizeof(*crew));

	crew->config = *config;
	crew->master = getpid();
	crew->n_slots = config->settings->workers;
	crew->slots = must_alloc(crew->n_slots, sizeof(*crew->slots));
	for (unsigned int i = 0; i < crew->n_slots; i++)
		slot_init(&crew->slots[i], crew, i);
	watchdog_init(crew);
	return crew;
}

void crew_start(struct crew *crew)
{
	for (unsigned int i = 0; i < crew->n_slots; i++)
		spawn(&crew->slots[i]);
}

static void order(struct slot *slot, enum channel_type type, uint32_t arg)
{
	process_order(slot->process, type, arg);
	process_order(slot->other, type, arg);
}

static void order_all(struct crew *crew, enum channel_type type, uint32_t arg)
{
	for (unsigned int i = 0; i < crew->n_slots; i++)
		order(&crew->slots[i], type, arg);
}

void crew_serve(struct crew *crew)
{
	crew->is_serving = true;
	order_all(crew, CHANNEL_SERVE, 0);
	watchdog_start(crew);
	adoption_arrange(crew);
}

static unsigned int count(const struct crew *crew, enum slot_state state)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < crew->n_slots; i++)
		n += crew->slots[i].state == state;
	return n;
}

unsigned int crew_n_ready(const struct crew *crew)
{
	return count(crew, SLOT_READY);
}

unsigned int crew_n_running(const struct crew *crew)
{
	unsigned int n = count(crew, SLOT_STARTING) + count(crew, SLOT_READY);

	for (unsigned int i = 0; i < crew->n_slots; i++)
		n += process_is_running(crew->slots[i].other);
	return n;
}

unsigned int crew_n_failed(const struct crew *crew)
{
	return count(crew, SLOT_FAILED);
}

const char *crew_fault(const struct crew *crew)
{
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		if (crew->slots[i].state == SLOT_FAILED)
			return crew->slots[i].process->fault;
	}
	return "";
}

unsigned int crew_n_broken(const struct crew *crew)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < crew->n_slots; i++)
		n += crew->slots[i].is_broken;
	return n;
}

void crew_receive(struct crew *crew, unsigned int slot, int fd)
{
	process_pass(crew->slots[slot % crew->n_slots].process, CHANNEL_RECEIVE, 0, fd);
}

/* Nothing is started or adopted any more. What still runs is watched. */
static void begin_end(struct crew *crew)
{
	crew->is_stopping = true;
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		struct slot *slot = &crew->slots[i];

		relief_cancel(slot);
		if (process_is_running(slot->process))
			continue;
		ev_timer_stop(crew->config.loop, &slot->timer);
		slot->state = SLOT_EMPTY;
	}
}

void crew_hand_over(struct crew *crew, unsigned int slot, int fd)
{
	process_pass(crew->slots[slot].process, CHANNEL_HAND_OVER, 0, fd);
}

static void survey(struct process *process, crew_open_f *open, void *arg)
{
	int fd = process_is_running(process) ? open(process->slot, arg) : -1;

	if (fd < 0)
		return;
	/*
	 * Nobody waits for it as long as a worker may need that does not read. Whoever asks sees
	 * that the other end is closed.
	 */
	if (process_hears(process))
		process_pass(process, CHANNEL_SURVEY, 0, fd);
	close(fd);
}

void crew_survey(struct crew *crew, crew_open_f *open, void *arg)
{
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		survey(crew->slots[i].process, open, arg);
		survey(crew->slots[i].other, open, arg);
	}
}

void crew_set_log_level(struct crew *crew, enum log_level level)
{
	order_all(crew, CHANNEL_LOG_LEVEL, level);
}

void crew_drain(struct crew *crew, uint32_t limit_ms)
{
	begin_end(crew);
	order_all(crew, CHANNEL_DRAIN, limit_ms);
}

void crew_stop(struct crew *crew, uint32_t limit_ms)
{
	begin_end(crew);
	order_all(crew, CHANNEL_STOP, limit_ms);
}

void crew_stop_now(struct crew *crew)
{
	begin_end(crew);
	order_all(crew, CHANNEL_STOP_NOW, 0);
}

static void pass_log(struct process *process, enum channel_type type, int fd)
{
	if (!process_pass(process, type, 0, fd))
		log_warn("worker %u: pid %d does not hear of the new log file: it goes on with "
			 "the old one",
		    process->slot, (int)process->pid);
}

void crew_pass_log(struct crew *crew, enum channel_type type, int fd)
{
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		pass_log(crew->slots[i].process, type, fd);
		pass_log(crew->slots[i].other, type, fd);
	}
}

static void end_by_force(const struct process *process)
{
	if (!process_is_running(process))
		return;
	log_warn("worker %u: pid %d does not end: killed", process->slot, (int)process->pid);
	kill(process->pid, SIGKILL);
}

void crew_kill(struct crew *crew)
{
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		end_by_force(crew->slots[i].process);
		end_by_force(crew->slots[i].other);
	}
}

void crew_forget(struct crew *crew)
{
	watchdog_stop(crew);
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		process_forget(crew->slots[i].process);
		process_forget(crew->slots[i].other);
		relief_forget(&crew->slots[i]);
		ev_timer_stop(crew->config.loop, &crew->slots[i].timer);
	}
}

void crew_destroy(struct crew **crewp)
{
	struct crew *crew = *crewp;

	if (crew == NULL)
		return;
	crew_forget(crew);
	free(crew->slots);
	free(crew);
	*crewp = NULL;
}
