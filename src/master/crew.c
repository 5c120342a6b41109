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
#include "master/crew.h"
#include "master/process.h"

/* A worker that is not ready after so long hangs in a module. */
#define START_LIMIT_S 60.

/* Back-off: at once, then 0.1 s, 0.2 s, 0.4 s ... 10 s. Who lived this long starts afresh. */
#define FIRST_DELAY_S 0.1
#define LAST_DELAY_S 10.
#define STEADY_MS 60000

/* While no other worker serves, clients wait for this one. */
#define LONE_DELAY_S 0.2

/* A slot whose first workers die this often before one was ready is given up. */
#define FIRST_TRIES 3

/* A slot whose workers crash this often in so long is left alone for as long. */
#define BREAKER_CRASHES 5
#define BREAKER_MS 60000

/* How often the watchdog looks, and what a worker gets between SIGABRT and SIGKILL. */
#define WATCH_S 0.2
#define ABORT_MS 2000

enum slot_state {
	SLOT_EMPTY,    /* nothing runs and nothing is planned */
	SLOT_STARTING, /* a process that is not ready yet */
	SLOT_READY,
	SLOT_WAITING, /* for the back-off */
	SLOT_FAILED,  /* given up */
};

/* What a generation has in a slot. */
struct slot {
	struct crew *crew;
	enum slot_state state;
	struct process process;
	ev_timer timer; /* WAITING: the end of the back-off; STARTING: of the time to start */
	unsigned int n_failures; /* in a row */
	bool was_ready;          /* some worker was */
	bool is_broken;          /* it crashed too often, and has not run for long since */
	uint64_t crashed_ms[BREAKER_CRASHES]; /* the last ones, in a ring */
	unsigned int n_crashes;
	struct slot *adopter; /* whose worker accepts for this slot meanwhile; NULL: none */

	/* The watchdog's. */
	uint64_t turned_ms; /* what the worker's stamp was at the last look */
	uint32_t stale_ms;  /* it has stood still for */
	bool is_aborted;    /* SIGABRT was sent */
	bool is_leaving;    /* its worker accepts no more */
};

struct crew {
	struct crew_config config;
	struct slot *slots;
	unsigned int n_slots;
	ev_timer watch;
	uint64_t watched_ms; /* the last look */
	bool is_serving;
	bool is_stopping;
};

static void spawn(struct slot *slot);

static unsigned int index_of(const struct slot *slot)
{
	return slot->process.slot;
}

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

static bool is_stale(const struct slot *slot)
{
	uint32_t limit_ms = slot->crew->config.settings->watchdog_adopt_ms;

	return limit_ms != 0 && slot->stale_ms >= limit_ms;
}

/* Does its worker accept? */
static bool is_serving(const struct slot *slot)
{
	return slot->crew->is_serving && slot->state == SLOT_READY && !slot->is_leaving &&
	       !is_stale(slot);
}

static bool is_lone(const struct slot *slot)
{
	const struct crew *crew = slot->crew;

	for (unsigned int i = 0; i < crew->n_slots; i++) {
		if (&crew->slots[i] != slot && is_serving(&crew->slots[i]))
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

	(void)loop;
	(void)revents;
	if (slot->state == SLOT_WAITING) {
		spawn(slot);
		return;
	}
	log_error("worker %u: pid %d is not ready after %.0f s and is killed: does a module's "
		  "start hook hang?",
	    index_of(slot), (int)slot->process.pid, START_LIMIT_S);
	/* One try of that length is enough. */
	if (!slot->was_ready)
		slot->n_failures = FIRST_TRIES;
	kill(slot->process.pid, SIGKILL);
}

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
		struct slot *other = &crew->slots[(index_of(slot) + i) % crew->n_slots];

		if (is_serving(other)) {
			process_order(&other->process, CHANNEL_ADOPT, index_of(slot));
			slot->adopter = other;
			return;
		}
	}
}

static void release(struct slot *slot)
{
	if (slot->adopter == NULL)
		return;
	process_order(&slot->adopter->process, CHANNEL_RELEASE, index_of(slot));
	slot->adopter = NULL;
}

/* A slot's worker came or went: see that every slot is accepted for. */
static void arrange_adoption(struct crew *crew)
{
	if (!crew->is_serving || crew->is_stopping)
		return;
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		struct slot *slot = &crew->slots[i];

		if (slot->adopter != NULL && slot->adopter->state != SLOT_READY)
			slot->adopter = NULL;
		else if (slot->adopter != NULL && !is_serving(slot->adopter))
			release(slot);
	}
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		struct slot *slot = &crew->slots[i];

		if (is_serving(slot))
			release(slot);
		else
			adopt(slot);
	}
}

static void on_ready(struct process *process)
{
	struct slot *slot = container_of(process, struct slot, process);
	struct crew *crew = slot->crew;

	if (slot->state != SLOT_STARTING)
		return;
	slot->state = SLOT_READY;
	slot->was_ready = true;
	ev_timer_stop(crew->config.loop, &slot->timer);
	if (crew->is_serving)
		process_order(process, CHANNEL_SERVE, 0);
	arrange_adoption(crew);
	changed(crew);
}

static void on_leaving(struct process *process)
{
	struct slot *slot = container_of(process, struct slot, process);

	slot->is_leaving = true;
	arrange_adoption(slot->crew);
}

/* Did it crash so often that it is better left alone? */
static void note_crash(struct slot *slot)
{
	uint64_t now_ms = clock_ms(), *oldest = &slot->crashed_ms[slot->n_crashes];

	*oldest = now_ms;
	slot->n_crashes = (slot->n_crashes + 1) % BREAKER_CRASHES;
	oldest = &slot->crashed_ms[slot->n_crashes];
	if (slot->is_broken || *oldest == 0 || now_ms - *oldest > BREAKER_MS)
		return;
	slot->is_broken = true;
	log_error("worker %u: %d crashes within %d s: degraded; others serve its clients",
	    index_of(slot), BREAKER_CRASHES, BREAKER_MS / 1000);
}

/* Decide what becomes of a slot whose process is gone. */
static void decide(struct slot *slot, int status)
{
	bool is_hopeless = WIFEXITED(status) && WEXITSTATUS(status) == WORKER_EXIT_HOPELESS;

	if (slot->crew->is_stopping) {
		slot->state = SLOT_EMPTY;
	} else if (is_hopeless || (!slot->was_ready && slot->n_failures + 1 >= FIRST_TRIES)) {
		slot->state = SLOT_FAILED;
		log_error("worker %u: not started again: %s", index_of(slot),
		    is_hopeless ? "it would fail in the same way" : "it was never ready");
	} else {
		if (clock_ms() - slot->process.started_ms >= STEADY_MS)
			slot->n_failures = 0;
		if (status != 0)
			note_crash(slot);
		spawn_later(slot);
	}
}

static void on_end(struct process *process, int status)
{
	struct slot *slot = container_of(process, struct slot, process);

	ev_timer_stop(slot->crew->config.loop, &slot->timer);
	decide(slot, status);
	arrange_adoption(slot->crew);
	changed(slot->crew);
}

static const struct process_events process_events = {
	.ready = on_ready, .leaving = on_leaving, .end = on_end
};

static _Noreturn void become_worker(struct slot *slot, int channel)
{
	const struct crew *crew = slot->crew;
	const struct crew_config *config = &crew->config;
	struct worker_plan plan = {
		.slot = index_of(slot),
		.n_slots = crew->n_slots,
		.conf_path = config->conf_path,
		.conf_text = config->conf_text,
		.pages = config->pages->list,
		.seat = slot->process.seat,
		.sockets = config->sockets,
		.n_sockets = config->n_sockets,
		.channel = channel,
		.is_detached = config->is_detached,
	};

	config->in_child(config->sockets, config->n_sockets, config->arg);
	privileges_must_drop(config->privileges);
	worker_run(&plan);
}

static void spawn(struct slot *slot)
{
	int channel;
	pid_t pid = process_fork(&slot->process, slot->crew->config.generation, &channel);

	if (pid == 0)
		become_worker(slot, channel);
	if (pid < 0 && !slot->was_ready && slot->n_failures + 1 >= FIRST_TRIES) {
		slot->state = SLOT_FAILED;
		changed(slot->crew);
		return;
	}
	if (pid < 0) {
		spawn_later(slot);
		return;
	}
	slot->state = SLOT_STARTING;
	slot->turned_ms = 0;
	slot->stale_ms = 0;
	slot->is_aborted = false;
	slot->is_leaving = false;
	set_timer(slot, START_LIMIT_S);
}

/* It has stood still for too long: have a picture of it taken, then end it. */
static void end_stale(struct slot *slot, uint32_t limit_ms)
{
	if (!slot->is_aborted) {
		log_error("worker %u: pid %d has not come round for %" PRIu32
			  " ms: aborted; a handler blocks, or it was stopped",
		    index_of(slot), (int)slot->process.pid, slot->stale_ms);
		kill(slot->process.pid, SIGABRT);
		/* One that was stopped hears nothing else. */
		kill(slot->process.pid, SIGCONT);
		slot->is_aborted = true;
	} else if (slot->stale_ms >= limit_ms + ABORT_MS) {
		kill(slot->process.pid, SIGKILL);
	}
}

static void watch_slot(struct slot *slot, uint32_t elapsed_ms)
{
	uint32_t limit_ms = slot->crew->config.settings->watchdog_timeout_ms;
	uint64_t turned_ms;

	if (slot->state != SLOT_READY)
		return;
	turned_ms = counter_read(slot->process.seat->turned_ms);
	slot->stale_ms = turned_ms == slot->turned_ms ? slot->stale_ms + elapsed_ms : 0;
	slot->turned_ms = turned_ms;
	if (limit_ms != 0 && slot->stale_ms >= limit_ms)
		end_stale(slot, limit_ms);
	if (slot->is_broken && clock_ms() - slot->process.started_ms >= STEADY_MS) {
		slot->is_broken = false;
		log_info("worker %u: it has run for %d s: no longer degraded", index_of(slot),
		    STEADY_MS / 1000);
	}
}

/*
 * Time that the master itself was stopped, or did not get to run, is not held
 * against the workers, which may have been stopped with it.
 */
static void on_watch(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct crew *crew = container_of(timer, struct crew, watch);
	uint64_t now_ms = clock_ms(), elapsed_ms = now_ms - crew->watched_ms;

	(void)loop;
	(void)revents;
	crew->watched_ms = now_ms;
	if (elapsed_ms > (uint64_t)(2000 * WATCH_S))
		elapsed_ms = (uint64_t)(2000 * WATCH_S);
	for (unsigned int i = 0; i < crew->n_slots; i++)
		watch_slot(&crew->slots[i], (uint32_t)elapsed_ms);
	arrange_adoption(crew);
}

static void slot_init(struct slot *slot, struct crew *crew, unsigned int index)
{
	const struct crew_config *config = &crew->config;

	slot->crew = crew;
	process_init(&slot->process, config->loop, config->pages, config->settings,
	    &process_events, index);
	ev_init(&slot->timer, on_timer);
}

struct crew *crew_new(const struct crew_config *config)
{
	struct crew *crew = must_alloc(1, sizeof(*crew));

	crew->config = *config;
	crew->n_slots = config->settings->workers;
	crew->slots = must_alloc(crew->n_slots, sizeof(*crew->slots));
	for (unsigned int i = 0; i < crew->n_slots; i++)
		slot_init(&crew->slots[i], crew, i);
	ev_timer_init(&crew->watch, on_watch, WATCH_S, WATCH_S);
	return crew;
}

void crew_start(struct crew *crew)
{
	for (unsigned int i = 0; i < crew->n_slots; i++)
		spawn(&crew->slots[i]);
}

static void order_all(struct crew *crew, enum channel_type type, uint32_t arg)
{
	for (unsigned int i = 0; i < crew->n_slots; i++)
		process_order(&crew->slots[i].process, type, arg);
}

void crew_serve(struct crew *crew)
{
	crew->is_serving = true;
	order_all(crew, CHANNEL_SERVE, 0);
	crew->watched_ms = clock_ms();
	ev_timer_start(crew->config.loop, &crew->watch);
	arrange_adoption(crew);
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
	return count(crew, SLOT_STARTING) + count(crew, SLOT_READY);
}

unsigned int crew_n_failed(const struct crew *crew)
{
	return count(crew, SLOT_FAILED);
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
	struct process *process = &crew->slots[slot % crew->n_slots].process;

	if (process_is_running(process))
		channel_send_fd(process->channel, CHANNEL_RECEIVE, 0, fd);
}

/* Nothing is started or adopted any more. What still runs is watched. */
static void begin_end(struct crew *crew)
{
	crew->is_stopping = true;
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		struct slot *slot = &crew->slots[i];

		if (process_is_running(&slot->process))
			continue;
		ev_timer_stop(crew->config.loop, &slot->timer);
		slot->state = SLOT_EMPTY;
	}
}

void crew_hand_over(struct crew *crew, unsigned int slot, int fd)
{
	struct process *process = &crew->slots[slot].process;

	if (process_is_running(process))
		channel_send_fd(process->channel, CHANNEL_HAND_OVER, 0, fd);
}

void crew_survey(struct crew *crew, crew_open_f *open, void *arg)
{
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		const struct process *process = &crew->slots[i].process;
		int fd = process_is_running(process) ? open(i, arg) : -1;

		if (fd < 0)
			continue;
		/* Whoever waits at the other end sees that it is closed. */
		if (!channel_send_fd(process->channel, CHANNEL_SURVEY, 0, fd))
			log_debug("worker %u does not hear of a survey", i);
		close(fd);
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

void crew_pass_log(struct crew *crew)
{
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		const struct process *process = &crew->slots[i].process;

		if (process_is_running(process) &&
		    !channel_send_fd(process->channel, CHANNEL_LOG, 0, log_fd()))
			log_warn("worker %u: pid %d does not hear of the new log file: it goes "
				 "on with the old one",
			    i, (int)process->pid);
	}
}

void crew_kill(struct crew *crew)
{
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		const struct process *process = &crew->slots[i].process;

		if (!process_is_running(process))
			continue;
		log_warn("worker %u: pid %d does not end: killed", i, (int)process->pid);
		kill(process->pid, SIGKILL);
	}
}

static const char *state_name(const struct slot *slot)
{
	static const char *const names[] = {
		[SLOT_EMPTY] = "ended",
		[SLOT_STARTING] = "starting",
		[SLOT_READY] = "ready",
		[SLOT_WAITING] = "waiting",
		[SLOT_FAILED] = "failed",
	};

	if (slot->crew->is_stopping && process_is_running(&slot->process))
		return "draining";
	return is_stale(slot) ? "stale" : names[slot->state];
}

static void view_slowest(const struct slot *slot, struct crew_view *view)
{
	const struct settings *settings = slot->crew->config.settings;
	const struct slowest *slowest = &slot->process.seat->slowest;

	if (slowest->ms == 0 || slowest->module >= settings->n_modules)
		return;
	view->slowest_ms = slowest->ms;
	view->slowest_id = slowest->id;
	view->slowest_module = settings->modules[slowest->module].name;
}

void crew_view(const struct crew *crew, unsigned int index, struct crew_view *view)
{
	const struct slot *slot = &crew->slots[index];
	const struct process *process = &slot->process;

	*view = (struct crew_view){ .state = state_name(slot), .is_broken = slot->is_broken };
	if (!process_is_running(process))
		return;
	view->pid = process->pid;
	view->up_ms = clock_ms() - process->started_ms;
	view->n_open = counters_open(&process->seat->counters);
	view_slowest(slot, view);
}

static void log_slowest(const struct slot *slot, char *text, size_t size)
{
	const struct settings *settings = slot->crew->config.settings;
	const struct slowest *slowest = &slot->process.seat->slowest;

	if (slowest->ms > 0 && slowest->module < settings->n_modules)
		snprintf(text, size,
		    ", slowest handler %" PRIu32 " ms (module '%s', id %" PRIu32 ")",
		    slowest->ms, settings->modules[slowest->module].name, slowest->id);
}

static void log_slot(const struct slot *slot)
{
	const struct process *process = &slot->process;
	const struct counters *counters;
	char slowest[160] = "";

	if (!process_is_running(process)) {
		log_info("status: worker %u: %s%s, generation %" PRIu32, index_of(slot),
		    state_name(slot), slot->is_broken ? " (degraded)" : "",
		    slot->crew->config.generation);
		return;
	}
	counters = &process->seat->counters;
	log_slowest(slot, slowest, sizeof(slowest));
	log_info("status: worker %u: %s%s, pid %d, generation %" PRIu32 ", connections %" PRIu64
		 ", frames in %" PRIu64 ", out %" PRIu64 ", sends refused %" PRIu64 "%s",
	    index_of(slot), state_name(slot), slot->is_broken ? " (degraded)" : "",
	    (int)process->pid, slot->crew->config.generation, counters_open(counters),
	    counter_read(counters->frames_in), counter_read(counters->frames_out),
	    counter_read(counters->sends_refused), slowest);
}

void crew_log_status(const struct crew *crew)
{
	for (unsigned int i = 0; i < crew->n_slots; i++)
		log_slot(&crew->slots[i]);
}

void crew_forget(struct crew *crew)
{
	ev_timer_stop(crew->config.loop, &crew->watch);
	for (unsigned int i = 0; i < crew->n_slots; i++) {
		process_forget(&crew->slots[i].process);
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
