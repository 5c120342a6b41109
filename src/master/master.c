#include "config.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/streams.h"
#include "master/activation.h"
#include "master/census.h"
#include "master/detach.h"
#include "master/guard.h"
#include "master/log_file.h"
#include "master/notify.h"
#include "master/pid_file.h"
#include "master/postponed.h"
#include "master/privileges.h"
#include "master/state.h"
#include "worker/channel.h"

/* Say it in the log and, while somebody waits for the start, on standard error. */
static void complain(const struct master *master, const char *text)
{
	log_error("%s", text);
	notify_status("%s", text);
	if (master->phase == PHASE_STARTING && !log_is_on_stderr())
		fprintf(stderr, "runneld: %s\n", text);
}

static void fail(struct master *master, const char *text)
{
	complain(master, text);
	master->exit_status = 1;
	order_fast_stop(master);
}

/* -v overrules the conf; in the background there is no standard error. */
static enum status open_log(const struct master *master, const struct settings *settings,
    const struct privileges *privileges, struct reason *why)
{
	const char *target = settings->log;
	bool is_gone = !master->options->is_foreground && strcmp(target, "stderr") == 0;

	return log_file_open(is_gone ? "syslog" : target,
	    master->options->is_verbose ? LOG_LEVEL_DEBUG : settings->log_level,
	    settings->log_format, privileges, why);
}

/* The log goes where the next generation's conf says, before its workers inherit it. */
static enum status move_log(struct master *master, const struct settings *settings,
    const struct privileges *privileges, struct reason *why)
{
	bool is_first = master->log == NULL;

	if (!is_first && master->asked_level < 0 && strcmp(master->log, settings->log) == 0 &&
	    master->log_level == settings->log_level &&
	    master->log_format == settings->log_format)
		return STATUS_OK;
	if (open_log(master, settings, privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	free(master->log);
	master->log = must_strdup(settings->log);
	master->log_level = settings->log_level;
	master->log_format = settings->log_format;
	if (is_first) {
		log_set_process("master");
		log_info("runneld " PACKAGE_VERSION ", conf %s", master->conf_path);
	}
	return STATUS_OK;
}

/* The same of the lines about connections. */
static enum status move_journal(struct master *master, const struct settings *settings,
    const struct privileges *privileges, struct reason *why)
{
	if (master->journal != NULL && strcmp(master->journal, settings->connection_log) == 0 &&
	    master->journal_format == settings->log_format)
		return STATUS_OK;
	if (journal_file_open(
		settings->connection_log, settings->log_format, privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	free(master->journal);
	master->journal = must_strdup(settings->connection_log);
	master->journal_format = settings->log_format;
	return STATUS_OK;
}

enum status master_take_pid_file(struct master *master, struct reason *why)
{
	if (master->pid_file == NULL)
		return STATUS_OK;
	return pid_file_open(master->pid_file, &master->pid_fd, why);
}

/* What only one daemon can have. */
static enum status take_all(struct master *master, struct reason *why)
{
	if (master_take_pid_file(master, why) != STATUS_OK)
		return STATUS_INVALID;
	return verbs_open(master, why);
}

/* What only one daemon can have is taken once; the new master of an upgrade has to wait for it. */
static enum status prepare_first(struct master *master, const struct settings *settings,
    const struct privileges *privileges, struct reason *why)
{
	master->pid_file = must_strdup(settings->pid_file);
	if (master->pid_file != NULL &&
	    guard_path(master->pid_file, "pid file", privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	master->control_socket = must_strdup(settings->control_socket);
	if (master->control_socket != NULL &&
	    guard_path(master->control_socket, "control socket", privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	master->control_group = must_strdup(settings->control_group);
	return master->old.channel >= 0 ? STATUS_OK : take_all(master, why);
}

static enum status prepare(const struct generation *next, struct reason *why, void *arg)
{
	struct master *master = arg;
	const struct settings *settings = next->settings;
	bool is_first = master->log == NULL;

	if (move_log(master, settings, &next->privileges, why) != STATUS_OK ||
	    move_journal(master, settings, &next->privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	privileges_warn(settings);
	if (is_first)
		return prepare_first(master, settings, &next->privileges, why);
	postponed_warn(master, settings);
	return STATUS_OK;
}

static void on_failed(const struct reason *why, void *arg)
{
	struct master *master = arg;
	const struct generation *current = succession_current(master->succession);
	struct reason log_why;

	if (master->phase == PHASE_STARTING) {
		fail(master, why->text);
		return;
	}
	if (master->phase != PHASE_SERVING)
		return;
	/* Who reads the log that is in force has to find the reason there. */
	if (move_log(master, current->settings, &current->privileges, &log_why) != STATUS_OK)
		log_error("the log stays where it is: %s", log_why.text);
	if (move_journal(master, current->settings, &current->privileges, &log_why) !=
	    STATUS_OK)
		log_error("the connection log stays where it is: %s", log_why.text);
	/* The workers that go on log at the level that was asked for. */
	if (master->asked_level >= 0)
		log_set_level((enum log_level)master->asked_level);
	log_error("%s", succession_outcome(master->succession));
	notify_status("%s", succession_outcome(master->succession));
	notify_ready();
}

/* Another binary is ready: it may not serve before the old one has let go of the pid file. */
static void on_ready(void *arg)
{
	struct master *master = arg;
	struct reason why;

	if (master->phase == PHASE_STARTING && activation_check(&why) != STATUS_OK)
		fail(master, why.text);
	else if (master->phase == PHASE_STARTING && master->old.channel >= 0)
		channel_send(master->old.channel, CHANNEL_NEW_READY, 0);
	else
		succession_commit(master->succession);
}

static void serve_metrics(struct master *master, const struct generation *current)
{
	http_apply(master->http, master->control,
	    sockets_metrics(master->sockets, current->settings), current->settings,
	    &current->privileges);
}

/* Let the old master's worker in a slot hand its connections over to this generation. */
static void relieve_slot(struct master *master, uint32_t slot)
{
	int pair[2];

	if (channel_open(pair) != STATUS_OK) {
		log_warn(
		    "old worker %u: its connections are closed: %s", slot, strerror(errno));
		return;
	}
	succession_receive(master->succession, slot, pair[1]);
	channel_send_fd(master->old.channel, CHANNEL_HAND_OVER, slot, pair[0]);
	close(pair[0]);
	close(pair[1]);
}

static void relieve_old(struct master *master)
{
	for (uint32_t slot = 0; slot < master->old.n_slots; slot++)
		relieve_slot(master, slot);
}

static void on_replaced(unsigned int replaced, void *arg)
{
	struct master *master = arg;
	uint32_t n = succession_current(master->succession)->settings->workers;

	if (master->old.channel < 0)
		return;
	for (uint32_t slot = replaced; slot < master->old.n_slots; slot += n)
		relieve_slot(master, slot);
}

static void on_serving(void *arg)
{
	struct master *master = arg;
	const struct generation *current = succession_current(master->succession);
	unsigned int n = current->settings->workers;

	notify_status(
	    "generation %u serves with %u worker%s", current->number, n, n == 1 ? "" : "s");
	notify_ready();
	serve_metrics(master, current);
	if (master->old.channel >= 0)
		relieve_old(master);
	master->asked_level = -1;
	if (master->phase != PHASE_STARTING) {
		log_info("reload: generation %u serves with %u worker%s", current->number, n,
		    n == 1 ? "" : "s");
		return;
	}
	master->phase = PHASE_SERVING;
	master->has_served = true;
	if (master->old.channel >= 0) {
		channel_send(master->old.channel, CHANNEL_NEW_SERVES, 0);
		ev_io_start(master->loop, &master->old_io);
	}
	log_info("ready: %u worker%s", n, n == 1 ? "" : "s");
	detach_ready();
}

static void take_over(struct master *master)
{
	struct reason why = { "" };

	if (take_all(master, &why) != STATUS_OK)
		fail(master, why.text);
	else
		succession_commit(master->succession);
}

/*
 * The old master has let go of what only one can have; or it has died, and this
 * one goes on as at any start.
 */
static void on_old(struct ev_loop *loop, ev_io *io, int revents)
{
	struct master *master = container_of(io, struct master, old_io);
	struct channel_message message;
	struct reason why = { "" };
	int passed;

	(void)revents;
	switch (channel_receive(io->fd, &message, &passed)) {
	case CHANNEL_NOTHING:
		return;
	case CHANNEL_MESSAGE:
		if (passed >= 0)
			close(passed);
		if (message.type != CHANNEL_OLD_LEFT || master->has_served)
			return;
		ev_io_stop(loop, io);
		take_over(master);
		return;
	case CHANNEL_END:
		break;
	}
	ev_io_stop(loop, io);
	close(master->old.channel);
	master->old.channel = -1;
	if (master->has_served) {
		if (master->phase >= PHASE_LEAVING)
			master_end_if_empty(master);
		return;
	}
	if (succession_is_ready(master->succession))
		take_over(master);
	else if (master->log != NULL && take_all(master, &why) != STATUS_OK)
		fail(master, why.text);
}

static void on_dead(void *arg)
{
	fail(arg, "no worker can run: stopped");
}

static void on_empty(void *arg)
{
	master_end_if_empty(arg);
}

/*
 * A child has no use for anything of the master's loop, and must not have its signals.
 */
static void forget(void *arg)
{
	struct master *master = arg;

	signals_forget(master);
	ev_io_stop(master->loop, &master->old_io);
	http_forget(master->http);
	control_forget(master->control);
	censuses_drop(&master->censuses);
	notify_watchdog_stop(master->loop);
	upgrade_forget(master->upgrade);
	upgrade_forget(master->next);
	succession_forget(master->succession);
	detach_forget();
	if (master->old.channel >= 0)
		close(master->old.channel);
	if (master->pid_fd >= 0)
		close(master->pid_fd);
	close(master->pages.fd);
	ev_loop_destroy(master->loop);
}

/* The daemon works in "/", and reads the conf again at times. */
static char *absolute(const char *path)
{
	char *folder, *result;

	if (path[0] == '/')
		return must_strdup(path);
	folder = getcwd(NULL, 0);
	result = must_printf("%s/%s", folder != NULL ? folder : "", path);
	free(folder);
	return result;
}

/*
 * Where an upgrade finds the next binary: as this one was called, so that a
 * symbolic link is followed anew; called by name alone, where it is.
 */
static char *find_program(const char *called)
{
	char path[PATH_MAX];
	ssize_t len;

	if (strchr(called, '/') != NULL)
		return absolute(called);
	len = readlink("/proc/self/exe", path, sizeof(path) - 1);
	path[len > 0 ? len : 0] = '\0';
	return must_strdup(path);
}

/* What is there before the conf is read. False after a complaint. */
static bool set_up(struct master *master)
{
	bool is_background = !master->options->is_foreground;
	struct reason why = { "" };

	master->conf_path = absolute(master->options->conf_path);
	master->program = find_program(master->options->program);
	master->sockets = sockets_new();
	if (activation_init(&why) != STATUS_OK ||
	    inheritance_take(&master->old, master->sockets, &why) != STATUS_OK ||
	    (is_background && master->old.channel < 0 && detach(&why) != STATUS_OK)) {
		complain(master, why.text);
		return false;
	}
	if (inheritance_open_pages(&master->old, &master->pages) != STATUS_OK) {
		reason_set(&why, "no shared memory for the counters: %s%s", strerror(errno),
		    errno == EFBIG ? "; raise the limit of file sizes (ulimit -f)" : "");
		complain(master, why.text);
		return false;
	}
	master->loop = ev_default_loop(EVFLAG_AUTO);
	if (master->loop == NULL) {
		complain(master, "libev has no usable backend: is LIBEV_FLAGS set?");
		return false;
	}
	return true;
}

static void serve(struct master *master)
{
	const struct succession_config config = {
		.loop = master->loop,
		.conf_path = master->conf_path,
		.pages = &master->pages,
		.sockets = master->sockets,
		.is_detached = !master->options->is_foreground,
		.prepare = prepare,
		.ready = on_ready,
		.serving = on_serving,
		.replaced = on_replaced,
		.failed = on_failed,
		.dead = on_dead,
		.empty = on_empty,
		.in_child = forget,
		.arg = master,
	};

	master->http = http_new(master->loop, on_empty, master);
	master->succession = succession_new(&config, master->old.generation + 1);
	signals_watch(master);
	notify_watchdog_start(master->loop);
	ev_io_init(&master->old_io, on_old, master->old.channel, EV_READ);
	if (master->old.channel >= 0)
		ev_io_start(master->loop, &master->old_io);
	succession_reload(master->succession, NULL, NULL);
	ev_run(master->loop, 0);
	http_destroy(&master->http);
	/* After an upgrade they are the other master's. */
	if (master->has_served && master->sockets != NULL)
		pages_log(&master->pages);
	succession_destroy(&master->succession);
}

static void release(struct master *master)
{
	upgrade_cancel(&master->next);
	activation_close();
	sockets_destroy(&master->sockets);
	pages_close(&master->pages);
	if (master->pid_fd >= 0)
		pid_file_remove(master->pid_file, master->pid_fd);
	free(master->pid_file);
	censuses_drop(&master->censuses);
	/* Who waits for the end is told of it when all else is done. */
	control_close(&master->control);
	free(master->control_socket);
	free(master->control_group);
	free(master->log);
	free(master->journal);
	free(master->conf_path);
	free(master->program);
	if (master->loop != NULL)
		ev_loop_destroy(master->loop);
}

int master_run(const struct master_options *options)
{
	struct master master = {
		.options = options,
		.pid_fd = -1,
		.old = { .channel = -1 },
		.started_ms = clock_ms(),
		.started_at = time(NULL),
		.asked_level = -1,
	};

	list_init(&master.censuses);
	notify_init();
	if (set_up(&master)) {
		serve(&master);
		if (master.has_served)
			log_info("stopped");
	} else {
		master.exit_status = 1;
	}
	release(&master);
	return master.exit_status;
}
