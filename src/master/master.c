#include "config.h"

#include <errno.h>
#include <ev.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "master/checker.h"
#include "master/detach.h"
#include "master/master.h"
#include "master/pid_file.h"
#include "master/slots.h"
#include "master/sockets.h"
#include "settings/settings.h"
#include "worker/limits.h"

/*
 * What workers get beyond the time to drain, or after the order to stop at once, before
 * SIGKILL.
 */
#define KILL_DELAY_S 2.

enum phase { PHASE_STARTING, PHASE_SERVING, PHASE_STOPPING, PHASE_STOPPING_NOW };

#define N_SIGNALS 3

struct master {
	const struct master_options *options;
	char *conf_text; /* normalised */
	struct settings *settings;
	struct sockets sockets;
	struct slots *slots;
	int pid_fd; /* -1: no pid file */
	struct ev_loop *loop;
	ev_signal signals[N_SIGNALS];
	ev_timer limit; /* of the end */
	enum phase phase;
	int exit_status;
};

static void stop(struct master *master, uint32_t limit_ms)
{
	master->phase = PHASE_STOPPING;
	slots_stop(master->slots, limit_ms);
	ev_timer_stop(master->loop, &master->limit);
	if (limit_ms != 0) {
		ev_timer_set(&master->limit, limit_ms / 1000. + KILL_DELAY_S, 0.);
		ev_timer_start(master->loop, &master->limit);
	}
}

static void stop_now(struct master *master)
{
	if (master->phase == PHASE_STOPPING_NOW)
		return;
	master->phase = PHASE_STOPPING_NOW;
	slots_stop_now(master->slots);
	ev_timer_stop(master->loop, &master->limit);
	ev_timer_set(&master->limit, KILL_DELAY_S, 0.);
	ev_timer_start(master->loop, &master->limit);
}

/* Say it in the log and, while somebody waits for the start, on standard error. */
static void complain(const struct master *master, const char *text)
{
	log_error("%s", text);
	if (master->phase == PHASE_STARTING && !log_is_on_stderr())
		fprintf(stderr, "runneld: %s\n", text);
}

static void fail(struct master *master, const char *text)
{
	complain(master, text);
	master->exit_status = 1;
	stop_now(master);
}

static void be_ready(struct master *master)
{
	master->phase = PHASE_SERVING;
	log_info("ready: %u workers", slots_n_ready(master->slots));
	detach_ready();
}

static void on_change(void *arg)
{
	struct master *master = arg;
	unsigned int n_failed = slots_n_failed(master->slots);

	if (master->phase == PHASE_STARTING) {
		if (n_failed > 0)
			fail(master, "the start failed: a worker cannot run; its reason is "
				     "above or in the log");
		else if (slots_n_ready(master->slots) == master->settings->workers)
			be_ready(master);
	} else if (master->phase == PHASE_SERVING && n_failed == master->settings->workers) {
		fail(master, "no worker can run: stopped");
	}
	if (master->phase >= PHASE_STOPPING && slots_n_running(master->slots) == 0)
		ev_break(master->loop, EVBREAK_ALL);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)revents;
	slots_kill(container_of(timer, struct master, limit)->slots);
}

static void on_stop(struct master *master)
{
	if (master->phase >= PHASE_STOPPING)
		stop_now(master);
	else
		stop(master, master->settings->drain_timeout_ms);
}

static void on_quit(struct master *master)
{
	if (master->phase < PHASE_STOPPING)
		stop(master, 0);
}

static const struct {
	int number;
	const char *name;
	void (*act)(struct master *master);
} signals[N_SIGNALS] = {
	{ SIGTERM, "TERM: stop", on_stop },
	{ SIGINT, "INT: stop at once", stop_now },
	{ SIGQUIT, "QUIT: stop when all connections are closed", on_quit },
};

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int revents)
{
	struct master *master = watcher->data;

	(void)loop;
	(void)revents;
	for (int i = 0; i < N_SIGNALS; i++) {
		if (signals[i].number != watcher->signum)
			continue;
		log_info("signal %s", signals[i].name);
		signals[i].act(master);
		on_change(master);
	}
}

static void watch_signals(struct master *master)
{
	static const int ignored[] = { SIGPIPE, SIGHUP, SIGUSR1, SIGUSR2 };

	for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], SIG_IGN);
	for (int i = 0; i < N_SIGNALS; i++) {
		ev_signal_init(&master->signals[i], on_signal, signals[i].number);
		master->signals[i].data = master;
		ev_signal_start(master->loop, &master->signals[i]);
	}
}

/*
 * A worker process has no use for anything of the master's loop, and must not have its signals.
 */
static void forget(void *arg)
{
	struct master *master = arg;

	for (int i = 0; i < N_SIGNALS; i++)
		ev_signal_stop(master->loop, &master->signals[i]);
	ev_timer_stop(master->loop, &master->limit);
	slots_forget(master->slots);
	detach_forget();
	if (master->pid_fd >= 0)
		close(master->pid_fd);
	ev_loop_destroy(master->loop);
}

static enum status read_conf(struct master *master, struct reason *why)
{
	enum status status = checker_run(master->options->conf_path, &master->conf_text, why);

	if (status == STATUS_OK)
		status = settings_load(master->options->conf_path, master->conf_text, NULL,
		    NULL, &master->settings, why);
	if (status == STATUS_OK)
		status = limits_apply(master->settings, why);
	if (status == STATUS_NOMEM)
		status = reason_set(why, "out of memory");
	return status;
}

static enum status open_log(const struct master *master, struct reason *why)
{
	const struct settings *settings = master->settings;
	const char *target = settings->log;
	enum log_level level =
	    master->options->is_verbose ? LOG_LEVEL_DEBUG : settings->log_level;

	if (!master->options->is_foreground && strcmp(target, "stderr") == 0)
		target = "syslog";
	return log_open(target, level, settings->log_format, why);
}

/* Take what only one daemon can have. */
static enum status acquire(struct master *master, struct reason *why)
{
	const char *pid_file = master->settings->pid_file;

	if (!master->options->is_foreground && detach(why) != STATUS_OK)
		return STATUS_INVALID;
	if (open_log(master, why) != STATUS_OK)
		return STATUS_INVALID;
	log_set_process("master");
	log_info("runneld " PACKAGE_VERSION ", conf %s", master->options->conf_path);
	if (pid_file != NULL && pid_file_open(pid_file, &master->pid_fd, why) != STATUS_OK)
		return STATUS_INVALID;
	return sockets_open(master->settings, &master->sockets, why);
}

static void serve(struct master *master)
{
	const struct slots_config config = {
		.loop = master->loop,
		.conf_path = master->options->conf_path,
		.conf_text = master->conf_text,
		.sockets = &master->sockets,
		.n_slots = master->settings->workers,
		.is_detached = !master->options->is_foreground,
		.on_change = on_change,
		.in_child = forget,
		.arg = master,
	};

	master->slots = slots_new(&config);
	watch_signals(master);
	ev_init(&master->limit, on_limit);
	slots_start(master->slots);
	ev_run(master->loop, 0);
	slots_log_counters(master->slots);
	slots_destroy(&master->slots);
}

static void release(struct master *master)
{
	sockets_close(&master->sockets);
	if (master->pid_fd >= 0)
		pid_file_remove(master->settings->pid_file, master->pid_fd);
	settings_destroy(&master->settings);
	free(master->conf_text);
	if (master->loop != NULL)
		ev_loop_destroy(master->loop);
}

int master_run(const struct master_options *options)
{
	struct master master = { .options = options, .pid_fd = -1 };
	struct reason why = { "" };

	if (read_conf(&master, &why) != STATUS_OK || acquire(&master, &why) != STATUS_OK) {
		complain(&master, why.text);
		master.exit_status = 1;
		goto out;
	}
	master.loop = ev_default_loop(EVFLAG_AUTO);
	if (master.loop == NULL) {
		complain(&master, "libev has no usable backend: is LIBEV_FLAGS set?");
		master.exit_status = 1;
		goto out;
	}
	serve(&master);
	log_info("stopped");
out:
	release(&master);
	return master.exit_status;
}

int master_check(const struct master_options *options, bool is_printing)
{
	struct master master = { .options = options, .pid_fd = -1 };
	struct reason why = { "" };

	if (read_conf(&master, &why) != STATUS_OK) {
		log_error("%s", why.text);
		master.exit_status = 1;
	} else if (is_printing) {
		fputs(master.conf_text, stdout);
		if (fflush(stdout) != 0) {
			log_error("cannot print the conf: %s", strerror(errno));
			master.exit_status = 1;
		}
	} else {
		log_info("%s: the conf and its modules are good", options->conf_path);
	}
	release(&master);
	return master.exit_status;
}
