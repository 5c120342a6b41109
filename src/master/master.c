#include "config.h"

#include <errno.h>
#include <ev.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/streams.h"
#include "master/checker.h"
#include "master/control.h"
#include "master/detach.h"
#include "master/inheritance.h"
#include "master/master.h"
#include "master/pages.h"
#include "master/pid_file.h"
#include "master/sockets.h"
#include "master/succession.h"
#include "master/summary.h"
#include "master/upgrade.h"
#include "settings/settings.h"
#include "worker/channel.h"

enum phase {
	PHASE_STARTING,
	PHASE_SERVING,
	PHASE_LEAVING, /* another master serves; the workers drain */
	PHASE_STOPPING,
	PHASE_STOPPING_NOW,
};

#define MAX_SIGNALS 16

struct master {
	const struct master_options *options;
	char *conf_path; /* absolute; owned, like the program's */
	char *program;   /* absolute */
	struct ev_loop *loop;
	struct pages pages;
	struct sockets *sockets;
	struct succession *succession;
	struct upgrade *upgrade; /* another binary is being started; NULL: none */
	struct inheritance old;  /* this is the other binary; old.channel -1: it is not */
	ev_io old_io;            /* on its channel */
	char *pid_file;          /* of the first conf; NULL: none; owned */
	int pid_fd;              /* -1: none is held */
	char *control_socket;    /* of the first conf; NULL: none; owned, like the group */
	char *control_group;
	struct control *control;           /* NULL: there is none, or not yet */
	struct control_request *upgrading; /* asked for the upgrade; NULL: a signal did */
	uint64_t started_ms;
	char *log; /* where the log goes; owned */
	enum log_level log_level;
	enum log_format log_format;
	ev_signal signals[MAX_SIGNALS];
	enum phase phase;
	int exit_status;
};

/* Say it in the log and, while somebody waits for the start, on standard error. */
static void complain(const struct master *master, const char *text)
{
	log_error("%s", text);
	if (master->phase == PHASE_STARTING && !log_is_on_stderr())
		fprintf(stderr, "runneld: %s\n", text);
}

static void end_if_empty(struct master *master)
{
	if (succession_is_empty(master->succession))
		ev_break(master->loop, EVBREAK_ALL);
}

static void stop(struct master *master, uint32_t limit_ms)
{
	master->phase = PHASE_STOPPING;
	upgrade_cancel(&master->upgrade);
	succession_stop(master->succession, limit_ms);
	end_if_empty(master);
}

static void stop_now(struct master *master)
{
	if (master->phase == PHASE_STOPPING_NOW)
		return;
	master->phase = PHASE_STOPPING_NOW;
	upgrade_cancel(&master->upgrade);
	succession_stop_now(master->succession);
	end_if_empty(master);
}

static void fail(struct master *master, const char *text)
{
	complain(master, text);
	master->exit_status = 1;
	stop_now(master);
}

/* -v overrules the conf; in the background there is no standard error. */
static enum status open_log(struct master *master, const char *target, enum log_level level,
    enum log_format format, struct reason *why)
{
	bool is_gone = !master->options->is_foreground && strcmp(target, "stderr") == 0;

	return log_open(is_gone ? "syslog" : target,
	    master->options->is_verbose ? LOG_LEVEL_DEBUG : level, format, why);
}

/* The log goes where the next generation's conf says, before its workers inherit it. */
static enum status move_log(
    struct master *master, const struct settings *settings, struct reason *why)
{
	bool is_first = master->log == NULL;

	if (!is_first && strcmp(master->log, settings->log) == 0 &&
	    master->log_level == settings->log_level &&
	    master->log_format == settings->log_format)
		return STATUS_OK;
	if (open_log(master, settings->log, settings->log_level, settings->log_format, why) !=
	    STATUS_OK)
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

static enum status take_pid_file(struct master *master, struct reason *why)
{
	if (master->pid_file == NULL)
		return STATUS_OK;
	return pid_file_open(master->pid_file, &master->pid_fd, why);
}

static enum status open_control(struct master *master, struct reason *why);

/* What only one daemon can have. */
static enum status take_all(struct master *master, struct reason *why)
{
	if (take_pid_file(master, why) != STATUS_OK)
		return STATUS_INVALID;
	return open_control(master, why);
}

/* What only one daemon can have is taken once; the new master of an upgrade has to wait for it. */
static enum status prepare_first(
    struct master *master, const struct settings *settings, struct reason *why)
{
	master->pid_file = must_strdup(settings->pid_file);
	master->control_socket = must_strdup(settings->control_socket);
	master->control_group = must_strdup(settings->control_group);
	return master->old.channel >= 0 ? STATUS_OK : take_all(master, why);
}

static bool is_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static enum status prepare(const struct settings *settings, struct reason *why, void *arg)
{
	struct master *master = arg;
	bool is_first = master->log == NULL;

	if (move_log(master, settings, why) != STATUS_OK)
		return STATUS_INVALID;
	if (is_first)
		return prepare_first(master, settings, why);
	if (!is_same(master->pid_file, settings->pid_file))
		log_warn("pid-file: another one is used from the next start on");
	if (!is_same(master->control_socket, settings->control_socket) ||
	    !is_same(master->control_group, settings->control_group))
		log_warn("control-socket, control-group: they change with the next start");
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
	log_error("reload failed, generation %u goes on: %s", current->number, why->text);
	if (move_log(master, current->settings, &log_why) != STATUS_OK)
		log_error("the log stays where it is: %s", log_why.text);
}

/* Another binary is ready: it may not serve before the old one has let go of the pid file. */
static void on_ready(void *arg)
{
	struct master *master = arg;

	if (master->phase == PHASE_STARTING && master->old.channel >= 0)
		channel_send(master->old.channel, CHANNEL_NEW_READY, 0);
	else
		succession_commit(master->succession);
}

/* Let each worker of the old master hand its connections over. */
static void relieve_old(struct master *master)
{
	int channel = master->old.channel;

	for (uint32_t slot = 0; slot < master->old.n_slots; slot++) {
		int pair[2];

		if (channel_open(pair) != STATUS_OK) {
			log_warn("old worker %u: its connections are closed: %s", slot,
			    strerror(errno));
			continue;
		}
		succession_receive(master->succession, slot, pair[1]);
		channel_send_fd(channel, CHANNEL_HAND_OVER, slot, pair[0]);
		close(pair[0]);
		close(pair[1]);
	}
	channel_send(channel, CHANNEL_NEW_SERVES, 0);
	ev_io_stop(master->loop, &master->old_io);
	close(channel);
	master->old.channel = -1;
}

static void on_serving(void *arg)
{
	struct master *master = arg;
	const struct generation *current = succession_current(master->succession);
	unsigned int n = current->settings->workers;

	if (master->phase != PHASE_STARTING) {
		log_info("reload: generation %u serves with %u worker%s", current->number, n,
		    n == 1 ? "" : "s");
		return;
	}
	master->phase = PHASE_SERVING;
	if (master->old.channel >= 0)
		relieve_old(master);
	log_info("ready: %u worker%s", n, n == 1 ? "" : "s");
	detach_ready();
}

/*
 * The old master has let go of what only one can have, or it has died: then that
 * is free, too. Its pid file is there, and it may have come back to life with it.
 */
static void on_old(struct ev_loop *loop, ev_io *io, int revents)
{
	struct master *master = container_of(io, struct master, old_io);
	struct channel_message message;
	struct reason why = { "" };
	int passed;

	(void)revents;
	if (channel_receive(io->fd, &message, &passed) == CHANNEL_NOTHING)
		return;
	ev_io_stop(loop, io);
	if (take_all(master, &why) != STATUS_OK)
		fail(master, why.text);
	else if (succession_is_busy(master->succession))
		succession_commit(master->succession);
}

static void on_dead(void *arg)
{
	fail(arg, "no worker can run: stopped");
}

static void on_empty(void *arg)
{
	end_if_empty(arg);
}

static void leave(void *arg)
{
	struct master *master = arg;

	if (master->pid_fd >= 0)
		close(master->pid_fd);
	master->pid_fd = -1;
}

static void on_upgraded(const int ends[], unsigned int n, void *arg)
{
	struct master *master = arg;

	master->upgrade = NULL;
	master->phase = PHASE_LEAVING;
	if (master->upgrading != NULL)
		control_answer(master->upgrading, NULL);
	master->upgrading = NULL;
	succession_drain(master->succession, ends, n);
	sockets_destroy(&master->sockets);
	end_if_empty(master);
}

static void on_not_upgraded(const struct reason *why, void *arg)
{
	struct master *master = arg;
	struct reason pid_why = { "" };

	master->upgrade = NULL;
	log_error("upgrade failed, pid %d goes on: %s", (int)getpid(), why->text);
	if (master->pid_fd < 0 && take_pid_file(master, &pid_why) != STATUS_OK)
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
		.failed = on_not_upgraded,
		.arg = master,
	};

	if (master->phase != PHASE_SERVING || master->upgrade != NULL ||
	    succession_is_busy(master->succession))
		return reason_set(why, "no upgrade now: another change is not done yet");
	config.generation = current->number;
	config.n_slots = current->settings->workers;
	master->upgrade = upgrade_start(&config, why);
	return master->upgrade != NULL ? STATUS_OK : STATUS_INVALID;
}

static void upgrade(struct master *master)
{
	struct reason why = { "" };

	if (begin_upgrade(master, &why) != STATUS_OK)
		log_error("%s", why.text);
}

static void on_stop(struct master *master)
{
	const struct generation *current = succession_current(master->succession);

	if (master->phase >= PHASE_LEAVING || current == NULL)
		stop_now(master);
	else
		stop(master, current->settings->drain_timeout_ms);
}

static void on_quit(struct master *master)
{
	if (master->phase < PHASE_STOPPING)
		stop(master, 0);
}

static void reload(struct master *master, succession_done_f *done, void *arg)
{
	static const struct reason busy = { "no reload now: another change is not done yet" };

	if (master->phase == PHASE_SERVING && master->upgrade == NULL)
		succession_reload(master->succession, done, arg);
	else if (done != NULL)
		done(&busy, arg);
	else
		log_warn("%s", busy.text);
}

static void on_reload(struct master *master)
{
	reload(master, NULL, NULL);
}

static void on_more(struct master *master)
{
	succession_resize(master->succession, 1);
}

static void on_less(struct master *master)
{
	succession_resize(master->succession, -1);
}

static void on_status(struct master *master)
{
	succession_log_status(master->succession);
}

/* SIGRTMIN is not a constant. */
struct signal_row {
	int number;
	const char *verb; /* of the control socket that does the same and ends the daemon */
	const char *name;
	void (*act)(struct master *master);
};

static const struct signal_row *signal_rows(size_t *n)
{
	static struct signal_row rows[] = {
		{ SIGTERM, "stop", "TERM: stop", on_stop },
		{ SIGINT, "fast-stop", "INT: stop at once", stop_now },
		{ SIGQUIT, "quit", "QUIT: stop when all connections are closed", on_quit },
		{ SIGHUP, NULL, "HUP: reload", on_reload },
		{ SIGUSR2, NULL, "USR2: upgrade", upgrade },
		{ SIGTTIN, NULL, "TTIN: a worker more", on_more },
		{ SIGTTOU, NULL, "TTOU: a worker less", on_less },
		{ 0, NULL, "RTMIN: status", on_status },
	};

	*n = sizeof(rows) / sizeof(rows[0]);
	rows[*n - 1].number = SIGRTMIN;
	return rows;
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int revents)
{
	struct master *master = watcher->data;
	size_t n;
	const struct signal_row *rows = signal_rows(&n);

	(void)loop;
	(void)revents;
	for (size_t i = 0; i < n; i++) {
		if (rows[i].number != watcher->signum)
			continue;
		log_info("signal %s", rows[i].name);
		rows[i].act(master);
	}
}

static void end_by_verb(struct control_request *request, void *arg)
{
	const char *verb = control_request_verb(request);
	size_t n;
	const struct signal_row *rows = signal_rows(&n);

	control_answer_at_end(request);
	for (size_t i = 0; i < n; i++) {
		if (rows[i].verb != NULL && strcmp(rows[i].verb, verb) == 0)
			rows[i].act(arg);
	}
}

struct reload_request {
	struct master *master;
	struct control_request *request;
};

static void on_reload_done(const struct reason *why, void *arg)
{
	struct reload_request *reload = arg;
	const struct generation *current = succession_current(reload->master->succession);

	if (why != NULL)
		control_fail(reload->request, "%s", why->text);
	else
		control_answer(reload->request,
		    json_pack("{sI}", "generation", (json_int_t)current->number));
	free(reload);
}

static void reload_by_verb(struct control_request *request, void *arg)
{
	struct reload_request *waiting = must_alloc(1, sizeof(*waiting));

	waiting->master = arg;
	waiting->request = request;
	reload(arg, on_reload_done, waiting);
}

static void upgrade_by_verb(struct control_request *request, void *arg)
{
	struct master *master = arg;
	struct reason why = { "" };

	if (begin_upgrade(master, &why) == STATUS_OK)
		master->upgrading = request;
	else
		control_fail(request, "%s", why.text);
}

static void tell_status(struct control_request *request, void *arg)
{
	static const char *const phases[] = {
		[PHASE_STARTING] = "starting",
		[PHASE_SERVING] = "serving",
		[PHASE_LEAVING] = "leaving",
		[PHASE_STOPPING] = "stopping",
		[PHASE_STOPPING_NOW] = "stopping",
	};
	const struct master *master = arg;
	const struct summary summary = {
		.phase = phases[master->phase],
		.conf_path = master->conf_path,
		.up_ms = clock_ms() - master->started_ms,
		.generation = succession_current(master->succession),
		.pages = &master->pages,
	};

	control_answer(request, summary_to_json(&summary));
}

static void tell_version(struct control_request *request, void *arg)
{
	(void)arg;
	control_answer(request, json_pack("{ss}", "version", PACKAGE_VERSION));
}

static const struct control_verb verbs[] = {
	{ "status", "what the daemon and its workers do", CONTROL_READ, NULL, tell_status },
	{ "version", "the version that runs", CONTROL_READ, NULL, tell_version },
	{ "reload", "read the conf again", CONTROL_FULL, NULL, reload_by_verb },
	{ "upgrade", "let the binary as it is now take over", CONTROL_FULL, NULL,
	    upgrade_by_verb },
	{ "stop", "stop gracefully, within drain-timeout", CONTROL_FULL, NULL, end_by_verb },
	{ "quit", "stop when all connections are closed", CONTROL_FULL, NULL, end_by_verb },
	{ "fast-stop", "stop at once", CONTROL_FULL, NULL, end_by_verb },
};

/* Of the old master, if there is one, the socket is taken over. */
static enum status open_control(struct master *master, struct reason *why)
{
	const struct control_config config = {
		.loop = master->loop,
		.path = master->control_socket,
		.group = master->control_group,
		.is_taking_over = master->old.channel >= 0,
		.verbs = verbs,
		.n_verbs = sizeof(verbs) / sizeof(verbs[0]),
		.arg = master,
	};

	return config.path == NULL ? STATUS_OK : control_open(&config, &master->control, why);
}

static void watch_signals(struct master *master)
{
	static const int ignored[] = { SIGPIPE, SIGUSR1 };
	size_t n;
	const struct signal_row *rows = signal_rows(&n);

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	for (size_t i = 0; i < n; i++) {
		ev_signal_init(&master->signals[i], on_signal, rows[i].number);
		master->signals[i].data = master;
		ev_signal_start(master->loop, &master->signals[i]);
	}
}

/*
 * A child has no use for anything of the master's loop, and must not have its signals.
 */
static void forget(void *arg)
{
	struct master *master = arg;
	size_t n;

	signal_rows(&n);
	for (size_t i = 0; i < n; i++)
		ev_signal_stop(master->loop, &master->signals[i]);
	ev_io_stop(master->loop, &master->old_io);
	control_forget(master->control);
	upgrade_forget(master->upgrade);
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
	if (inheritance_take(&master->old, master->sockets, &why) != STATUS_OK ||
	    (is_background && master->old.channel < 0 && detach(&why) != STATUS_OK)) {
		complain(master, why.text);
		return false;
	}
	if (inheritance_open_pages(&master->old, &master->pages) != STATUS_OK) {
		complain(master, "no shared memory");
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
		.failed = on_failed,
		.dead = on_dead,
		.empty = on_empty,
		.in_child = forget,
		.arg = master,
	};

	master->succession = succession_new(&config, master->old.generation + 1);
	watch_signals(master);
	ev_io_init(&master->old_io, on_old, master->old.channel, EV_READ);
	if (master->old.channel >= 0)
		ev_io_start(master->loop, &master->old_io);
	succession_reload(master->succession, NULL, NULL);
	ev_run(master->loop, 0);
	/* After an upgrade they are the other master's. */
	if (master->log != NULL && master->sockets != NULL)
		pages_log(&master->pages);
	succession_destroy(&master->succession);
}

static void release(struct master *master)
{
	sockets_destroy(&master->sockets);
	pages_close(&master->pages);
	if (master->pid_fd >= 0)
		pid_file_remove(master->pid_file, master->pid_fd);
	free(master->pid_file);
	/* Who waits for the end is told of it when all else is done. */
	control_close(&master->control);
	free(master->control_socket);
	free(master->control_group);
	free(master->log);
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
	};

	if (set_up(&master)) {
		serve(&master);
		if (master.log != NULL)
			log_info("stopped");
	} else {
		master.exit_status = 1;
	}
	release(&master);
	return master.exit_status;
}

struct check {
	struct ev_loop *loop;
	const char *conf_path;
	bool is_printing;
	int exit_status;
};

static void print_text(struct check *check, const char *text)
{
	fputs(text, stdout);
	if (fflush(stdout) == 0)
		return;
	log_error("cannot print the conf: %s", strerror(errno));
	check->exit_status = 1;
}

static void on_checked(char *text, const struct reason *why, void *arg)
{
	struct check *check = arg;
	struct generation *generation = NULL;
	struct reason limits_why = { "" };

	ev_break(check->loop, EVBREAK_ALL);
	if (text == NULL) {
		log_error("%s", why->text);
		check->exit_status = 1;
		return;
	}
	if (check->is_printing)
		print_text(check, text);
	if (generation_new(1, check->conf_path, text, 0, &generation, &limits_why) !=
	    STATUS_OK) {
		log_error("%s", limits_why.text);
		check->exit_status = 1;
	} else if (!check->is_printing) {
		log_info("%s: the conf and its modules are good", check->conf_path);
	}
	generation_destroy(&generation);
}

static void do_nothing(void *arg)
{
	(void)arg;
}

int master_check(const struct master_options *options, bool is_printing)
{
	struct check check = {
		.loop = ev_default_loop(EVFLAG_AUTO),
		.conf_path = options->conf_path,
		.is_printing = is_printing,
	};
	const struct checker_config config = {
		.loop = check.loop,
		.conf_path = options->conf_path,
		.done = on_checked,
		.in_child = do_nothing,
		.arg = &check,
	};
	struct reason why = { "" };

	if (check.loop == NULL)
		reason_set(&why, "libev has no usable backend: is LIBEV_FLAGS set?");
	else if (checker_start(&config, &why) != NULL)
		ev_run(check.loop, 0);
	if (why.text[0] != '\0') {
		log_error("%s", why.text);
		check.exit_status = 1;
	}
	if (check.loop != NULL)
		ev_loop_destroy(check.loop);
	return check.exit_status;
}
