/*
 * What signals and requests can ask of the master.
 */
#include "config.h"

#include <unistd.h>

#include "base/journal.h"
#include "base/log.h"
#include "master/log_file.h"
#include "master/notify.h"
#include "master/pid_file.h"
#include "master/state.h"
#include "worker/channel.h"

/* What a master has left that is still draining when the one after it is upgraded, too. */
#define HURRY_MS 1000

/*
 * Whoever waits for the end of this master waits for that of the one before, too. And in an upgrade
 * who asks for metrics must not notice: the helper has its answers until it has ended.
 */
void master_end_if_empty(struct master *master)
{
	bool has_old = master->has_served && master->old.channel >= 0;
	bool has_helper = master->phase == PHASE_LEAVING && !http_is_over(master->http);

	if (succession_is_empty(master->succession) && !has_old && !has_helper)
		ev_break(master->loop, EVBREAK_ALL);
}

/* One that still drains after an upgrade. */
static void tell_old(struct master *master, enum channel_type type, uint32_t arg)
{
	if (master->old.channel >= 0 && master->has_served)
		channel_send(master->old.channel, type, arg);
}

static void stop(struct master *master, uint32_t limit_ms)
{
	master->phase = PHASE_STOPPING;
	notify_stopping();
	upgrade_cancel(&master->upgrade);
	tell_old(master, CHANNEL_STOP, limit_ms);
	succession_stop(master->succession, limit_ms);
	master_end_if_empty(master);
}

void order_fast_stop(struct master *master)
{
	if (master->phase == PHASE_STOPPING_NOW)
		return;
	master->phase = PHASE_STOPPING_NOW;
	notify_stopping();
	upgrade_cancel(&master->upgrade);
	tell_old(master, CHANNEL_STOP_NOW, 0);
	succession_stop_now(master->succession);
	master_end_if_empty(master);
}

void order_stop(struct master *master)
{
	const struct generation *current = succession_current(master->succession);

	if (master->phase >= PHASE_LEAVING || current == NULL)
		order_fast_stop(master);
	else
		stop(master, current->settings->drain_timeout_ms);
}

void order_quit(struct master *master)
{
	if (master->phase < PHASE_STOPPING)
		stop(master, 0);
}

void order_reload(struct master *master, waiter_done_f *done, void *arg)
{
	static const struct reason busy = { "no reload now: another change is not done yet" };

	if (master->phase == PHASE_SERVING && master->upgrade == NULL) {
		notify_reloading();
		succession_reload(master->succession, done, arg);
	} else if (done != NULL) {
		done(&busy, arg);
	} else {
		log_warn("%s", busy.text);
	}
}

static enum status reopen_journal(
    struct master *master, const struct generation *current, struct reason *why)
{
	if (journal_file_reopen(master->journal, &current->privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	succession_pass_log(master->succession, CHANNEL_JOURNAL, journal_fd());
	return STATUS_OK;
}

/* Before the first generation serves, the file is new anyway. */
enum status order_reopen(struct master *master, struct reason *why)
{
	const struct generation *current = succession_current(master->succession);
	enum status status = STATUS_OK;
	struct reason journal_why;

	if (current == NULL)
		return STATUS_OK;
	if (log_fd() < 0 && journal_fd() < 0) {
		reason_set(why, "the log is no file: nothing to open anew");
		status = STATUS_INVALID;
	}
	if (log_fd() >= 0)
		status = log_file_reopen(master->log, &current->privileges, why);
	if (log_fd() >= 0 && status == STATUS_OK)
		succession_pass_log(master->succession, CHANNEL_LOG, log_fd());
	if (journal_fd() >= 0 && reopen_journal(master, current, &journal_why) != STATUS_OK) {
		*why = journal_why;
		status = STATUS_INVALID;
	}
	if (status != STATUS_OK)
		log_error("%s; lines go on as before", why->text);
	return status;
}

void order_resize(struct master *master, int by)
{
	succession_resize(master->succession, by);
}

enum status order_log_level(struct master *master, enum log_level level, struct reason *why)
{
	if (master->phase == PHASE_STARTING || succession_is_busy(master->succession))
		return reason_set(
		    why, "no change of log-level now: another change is not done yet");
	master->asked_level = (int)level;
	log_set_level(level);
	succession_set_log_level(master->succession, level);
	return STATUS_OK;
}

static void leave(void *arg)
{
	struct master *master = arg;

	if (master->pid_fd >= 0)
		close(master->pid_fd);
	master->pid_fd = -1;
}

/* The new master's conf may have another pid file, or none: then nobody holds this one. */
static void drop_pid_file(struct master *master)
{
	struct reason why;

	if (master->pid_file != NULL && master_take_pid_file(master, &why) == STATUS_OK)
		pid_file_remove(master->pid_file, master->pid_fd);
	master->pid_fd = -1;
}

static void on_upgraded(const int ends[], unsigned int n, void *arg)
{
	struct master *master = arg;

	master->next = master->upgrade;
	master->upgrade = NULL;
	master->phase = PHASE_LEAVING;
	/* No more than two masters drain. */
	tell_old(master, CHANNEL_DRAIN, HURRY_MS);
	notify_watchdog_stop(master->loop);
	if (master->upgrading != NULL)
		control_answer(master->upgrading, NULL);
	master->upgrading = NULL;
	drop_pid_file(master);
	succession_drain(master->succession, ends, n);
	http_stop(master->http);
	sockets_destroy(&master->sockets);
	master_end_if_empty(master);
}

/* The new master has another generation. */
static void on_hand_over(unsigned int slot, int fd, void *arg)
{
	struct master *master = arg;

	succession_hand_over(master->succession, slot, fd);
}

static void on_hurry(uint32_t limit_ms, void *arg)
{
	struct master *master = arg;

	succession_hurry(master->succession, limit_ms);
}

static void on_stop(uint32_t limit_ms, void *arg)
{
	stop(arg, limit_ms);
}

static void on_stop_now(void *arg)
{
	order_fast_stop(arg);
}

static void on_not_upgraded(const struct reason *why, void *arg)
{
	struct master *master = arg;
	struct reason pid_why = { "" };

	master->upgrade = NULL;
	succession_freeze(master->succession, false);
	log_error("upgrade failed, pid %d goes on: %s", (int)getpid(), why->text);
	if (master->pid_fd < 0 && master_take_pid_file(master, &pid_why) != STATUS_OK)
		log_error("%s", pid_why.text);
	if (master->control != NULL && control_reclaim(master->control, &pid_why) != STATUS_OK)
		log_error("%s", pid_why.text);
	if (master->upgrading != NULL)
		control_fail(master->upgrading, "%s", why->text);
	master->upgrading = NULL;
}

static enum status begin_upgrade(struct master *master, struct reason *why)
{
	const struct generation *current = succession_current(master->succession);
	struct upgrade_config config = {
		.loop = master->loop,
		.program = master->program,
		.conf_path = master->conf_path,
		.is_foreground = master->options->is_foreground,
		.is_verbose = master->options->is_verbose,
		.pages = &master->pages,
		.sockets = master->sockets,
		.leave = leave,
		.done = on_upgraded,
		.hand_over = on_hand_over,
		.hurry = on_hurry,
		.stop = on_stop,
		.stop_now = on_stop_now,
		.failed = on_not_upgraded,
		.arg = master,
	};

	if (master->phase != PHASE_SERVING || master->upgrade != NULL ||
	    succession_is_busy(master->succession))
		return reason_set(why, "no upgrade now: another change is not done yet");
	config.generation = current->number;
	config.n_slots = current->settings->workers;
	master->upgrade = upgrade_start(&config, why);
	succession_freeze(master->succession, master->upgrade != NULL);
	return master->upgrade != NULL ? STATUS_OK : STATUS_INVALID;
}

void order_upgrade(struct master *master, struct control_request *request)
{
	struct reason why = { "" };

	if (begin_upgrade(master, &why) == STATUS_OK)
		master->upgrading = request;
	else if (request != NULL)
		control_fail(request, "%s", why.text);
	else
		log_error("%s", why.text);
}
