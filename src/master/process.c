#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "master/process.h"

static void close_channel(struct process *process)
{
	if (process->channel < 0)
		return;
	ev_io_stop(process->loop, &process->channel_io);
	outbox_clear(&process->outbox);
	close(process->channel);
	process->channel = -1;
}

static void on_channel(struct ev_loop *loop, ev_io *io, int revents)
{
	struct process *process = container_of(io, struct process, channel_io);
	struct channel_message message;
	int passed;

	(void)revents;
	switch (channel_receive(io->fd, &message, &passed)) {
	case CHANNEL_NOTHING:
		break;
	case CHANNEL_END:
		ev_io_stop(loop, io);
		break;
	case CHANNEL_MESSAGE:
		if (passed >= 0)
			close(passed);
		if (message.type == CHANNEL_READY)
			process->events->ready(process);
		else if (message.type == CHANNEL_LEAVING)
			process->events->leaving(process);
		break;
	}
}

/* Returns how many connections it still had. */
static uint64_t give_up_seat(struct process *process)
{
	struct seat *seat = process->seat;

	process->seat = NULL;
	return pages_leave_seat(process->pages, process->slot, seat);
}

/* A worker that died abruptly cannot tell what it was at. how: "died", "exited" */
static void log_doing(const struct process *process, const char *how)
{
	static const char *const whats[] = {
		[DOING_MESSAGE] = "handling a message",
		[DOING_OPEN] = "in its open hook",
		[DOING_WRITABLE] = "in its writable hook",
		[DOING_HEARTBEAT] = "in its heartbeat hook",
		[DOING_SILENT] = "in its silent hook",
		[DOING_TIMER] = "in a timer of it",
		[DOING_CLOSE] = "in its close hook",
		[DOING_MOVING] = "in its save, moved or restore hook",
		[DOING_DONE] = "in the done function of a job",
	};
	const struct doing *doing = &process->seat->doing;
	const struct settings *settings = process->settings;
	/* Read once: other workers can still write there. */
	uint16_t what = __atomic_load_n(&doing->what, __ATOMIC_RELAXED);
	uint16_t module = __atomic_load_n(&doing->module, __ATOMIC_RELAXED);

	if (what == DOING_NOTHING || what > DOING_DONE || module >= settings->n_modules)
		return;
	log_error("worker %u: it %s with module '%s' %s (message id %" PRIu32
		  ", connection %" PRIu64 ")",
	    process->slot, how, settings->modules[module].name, whats[what], doing->id,
	    doing->conn);
}

/* What of a module's runs beside connections and messages. */
static void note_fault(struct process *process, int status)
{
	struct panic_page panic;

	panic_read(&process->seat->panic, &panic);
	process->fault[0] = '\0';
	if (status != 0 && panic.stage[0] != '\0')
		snprintf(process->fault, sizeof(process->fault), "it died in %s", panic.stage);
}

static void log_death(struct process *process, int status)
{
	unsigned int slot = process->slot;
	int pid = (int)process->pid;
	struct panic_page panic;

	if (WIFSIGNALED(status))
		log_error("worker %u: pid %d was killed by signal %d (%s)", slot, pid,
		    WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) != 0)
		log_error(
		    "worker %u: pid %d exited with status %d", slot, pid, WEXITSTATUS(status));
	else
		log_info("worker %u: pid %d ended", slot, pid);
	note_fault(process, status);
	if (process->fault[0] != '\0')
		log_error("worker %u: %s", slot, process->fault);
	panic_read(&process->seat->panic, &panic);
	if (panic.text[0] != '\0')
		log_error("worker %u: its last words: %s", slot, panic.text);
	/* What the loop was at is not to blame for a job that crashes meanwhile. */
	if (process->fault[0] == '\0')
		log_doing(process, WIFSIGNALED(status) ? "died" : "exited");
}

static void on_death(struct ev_loop *loop, ev_child *child, int revents)
{
	struct process *process = container_of(child, struct process, child);
	uint64_t n_lost;

	(void)revents;
	ev_child_stop(loop, child);
	log_death(process, child->rstatus);
	if (child->rstatus != 0)
		pages_count_crash(process->pages, process->slot);
	close_channel(process);
	process->final = process->seat->counters;
	process->n_upstreams_left = counter_read(process->seat->n_upstreams_left);
	n_lost = give_up_seat(process);
	if (n_lost > 0)
		log_warn("worker %u: %llu %s lost with it", process->slot,
		    (unsigned long long)n_lost,
		    n_lost == 1 ? "connection was" : "connections were");
	process->events->end(process, child->rstatus);
}

void process_init(struct process *process, struct ev_loop *loop, struct pages *pages,
    const struct settings *settings, const struct process_events *events, unsigned int slot)
{
	process->loop = loop;
	process->pages = pages;
	process->settings = settings;
	process->events = events;
	process->slot = slot;
	process->channel = -1;
	outbox_init(&process->outbox, loop);
	ev_init(&process->channel_io, on_channel);
	ev_init(&process->child, on_death);
}

static void watch(struct process *process)
{
	process->started_ms = clock_ms();
	ev_io_set(&process->channel_io, process->channel, EV_READ);
	ev_io_start(process->loop, &process->channel_io);
	outbox_open(&process->outbox, process->channel);
	ev_child_set(&process->child, process->pid, 0);
	ev_child_start(process->loop, &process->child);
	log_info("worker %u: started, pid %d", process->slot, (int)process->pid);
}

/* What the fork needs: a seat and a channel. False after a line in the log. */
static bool equip(struct process *process, uint32_t generation, int ends[2])
{
	process->seat = pages_take_seat(process->pages, process->slot, generation);
	if (process->seat == NULL) {
		log_error("worker %u: too many generations are still ending", process->slot);
		return false;
	}
	if (channel_open(ends) == STATUS_OK)
		return true;
	log_error("worker %u: no channel: %s", process->slot, strerror(errno));
	give_up_seat(process);
	return false;
}

pid_t process_fork(struct process *process, uint32_t generation, int *channel)
{
	int ends[2];
	pid_t pid;

	if (!equip(process, generation, ends))
		return -1;
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		*channel = ends[1];
		return 0;
	}
	close(ends[1]);
	if (pid < 0) {
		log_error("worker %u: fork: %s", process->slot, strerror(errno));
		close(ends[0]);
		give_up_seat(process);
		return -1;
	}
	process->pid = pid;
	__atomic_store_n(&process->seat->pid, (int32_t)pid, __ATOMIC_RELAXED);
	process->channel = ends[0];
	watch(process);
	return pid;
}

void process_order(struct process *process, enum channel_type type, uint32_t arg)
{
	process_pass(process, type, arg, -1);
}

bool process_pass(struct process *process, enum channel_type type, uint32_t arg, int passed)
{
	if (!process_is_running(process))
		return true;
	if (outbox_send(&process->outbox, type, arg, passed))
		return true;
	log_debug("worker %u: pid %d does not hear of order %d", process->slot,
	    (int)process->pid, (int)type);
	return false;
}

bool process_hears(const struct process *process)
{
	return process_is_running(process) && outbox_is_empty(&process->outbox);
}

void process_forget(struct process *process)
{
	struct ev_loop *loop = process->loop;

	close_channel(process);
	ev_child_stop(loop, &process->child);
}
