#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "master/fork.h"
#include "master/inheritance.h"
#include "master/notify.h"
#include "master/upgrade.h"
#include "worker/channel.h"

/* For the check of the conf and the start of the workers, which have limits of their own. */
#define LIMIT_S 120.

/* Serials that old workers may still give to connections while the new ones count on. */
#define SERIAL_GAP (UINT64_C(1) << 24)

struct upgrade {
	struct upgrade_config config;
	pid_t pid;
	ev_io channel;
	ev_io voice; /* its standard error */
	ev_child child;
	ev_timer limit;
	int *ends;              /* by slot; -1: none */
	char said[256];         /* its last line */
	struct log_cap sayings; /* lines of it in our log */
	bool is_late;
	bool is_done; /* it serves */
};

static void stop_watching(struct upgrade *upgrade)
{
	struct ev_loop *loop = upgrade->config.loop;

	ev_io_stop(loop, &upgrade->channel);
	ev_io_stop(loop, &upgrade->voice);
	ev_child_stop(loop, &upgrade->child);
	ev_timer_stop(loop, &upgrade->limit);
}

static void let_go(struct upgrade *upgrade)
{
	stop_watching(upgrade);
	close(upgrade->channel.fd);
	close(upgrade->voice.fd);
	for (uint32_t slot = 0; slot < upgrade->config.n_slots; slot++) {
		if (upgrade->ends[slot] >= 0)
			close(upgrade->ends[slot]);
	}
}

static void upgrade_destroy(struct upgrade *upgrade)
{
	let_go(upgrade);
	free(upgrade->ends);
	free(upgrade);
}

static void keep_end(struct upgrade *upgrade, uint32_t slot, int fd)
{
	if (fd < 0)
		return;
	if (slot >= upgrade->config.n_slots || upgrade->ends[slot] >= 0)
		close(fd);
	else
		upgrade->ends[slot] = fd;
}

/* What it says on the channel is all that matters now. */
static void finish(struct upgrade *upgrade)
{
	const struct upgrade_config *config = &upgrade->config;

	log_info("upgrade: pid %d serves", (int)upgrade->pid);
	notify_hand_over(upgrade->pid);
	upgrade->is_done = true;
	ev_io_stop(config->loop, &upgrade->voice);
	ev_child_stop(config->loop, &upgrade->child);
	ev_timer_stop(config->loop, &upgrade->limit);
	config->done(upgrade->ends, config->n_slots, config->arg);
}

static void obey(struct upgrade *upgrade, const struct channel_message *message, int passed)
{
	const struct upgrade_config *config = &upgrade->config;

	if (message->type == CHANNEL_HAND_OVER && upgrade->is_done) {
		if (passed < 0)
			return;
		config->hand_over(message->arg, passed, config->arg);
		close(passed);
	} else if (message->type == CHANNEL_HAND_OVER) {
		keep_end(upgrade, message->arg, passed);
	} else if (message->type == CHANNEL_NEW_READY && !upgrade->is_done) {
		config->leave(config->arg);
		channel_send(upgrade->channel.fd, CHANNEL_OLD_LEFT, 0);
	} else if (message->type == CHANNEL_NEW_SERVES && !upgrade->is_done) {
		finish(upgrade);
	} else if (message->type == CHANNEL_DRAIN && upgrade->is_done) {
		config->hurry(message->arg, config->arg);
	} else if (message->type == CHANNEL_STOP && upgrade->is_done) {
		config->stop(message->arg, config->arg);
	} else if (message->type == CHANNEL_STOP_NOW && upgrade->is_done) {
		config->stop_now(config->arg);
	}
}

static void on_channel(struct ev_loop *loop, ev_io *io, int revents)
{
	struct upgrade *upgrade = container_of(io, struct upgrade, channel);
	struct channel_message message;
	int passed;

	(void)revents;
	switch (channel_receive(io->fd, &message, &passed)) {
	case CHANNEL_NOTHING:
		return;
	case CHANNEL_END:
		ev_io_stop(loop, io);
		return;
	case CHANNEL_MESSAGE:
		obey(upgrade, &message, passed);
		return;
	}
}

/* What it says before it has opened its log. */
static void on_voice(struct ev_loop *loop, ev_io *io, int revents)
{
	struct upgrade *upgrade = container_of(io, struct upgrade, voice);
	char text[2048], rest_text[LOG_REST_SIZE], *rest = text, *line;
	ssize_t n = read(io->fd, text, sizeof(text) - 1);

	(void)revents;
	if (n <= 0) {
		ev_io_stop(loop, io);
		return;
	}
	text[n] = '\0';
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (*line == '\0')
			continue;
		if (log_cap_allows(&upgrade->sayings, clock_ms(), rest_text))
			log_warn(
			    "upgrade: pid %d says: %s%s", (int)upgrade->pid, line, rest_text);
		snprintf(upgrade->said, sizeof(upgrade->said), "%.*s",
		    (int)sizeof(upgrade->said) - 1, line);
	}
}

static void explain(const struct upgrade *upgrade, int status, struct reason *why)
{
	const char *said = upgrade->said[0] != '\0' ? upgrade->said : "see the log";

	if (upgrade->is_late)
		reason_set(why, "the new runneld was not ready within %.0f s", LIMIT_S);
	else if (WIFSIGNALED(status))
		reason_set(why, "the new runneld was killed by signal %d (%s): %s",
		    WTERMSIG(status), strsignal(WTERMSIG(status)), said);
	else
		reason_set(why, "the new runneld exited with status %d: %s",
		    WEXITSTATUS(status), said);
}

static void on_death(struct ev_loop *loop, ev_child *child, int revents)
{
	struct upgrade *upgrade = container_of(child, struct upgrade, child);
	const struct upgrade_config config = upgrade->config;
	struct reason why = { "" };

	if (ev_is_active(&upgrade->voice))
		on_voice(loop, &upgrade->voice, revents);
	explain(upgrade, child->rstatus, &why);
	upgrade_destroy(upgrade);
	config.failed(&why, config.arg);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct upgrade *upgrade = container_of(timer, struct upgrade, limit);

	(void)loop;
	(void)revents;
	upgrade->is_late = true;
	kill(upgrade->pid, SIGKILL);
}

static uint64_t last_serial(const struct pages *pages)
{
	uint64_t last = 0;

	for (unsigned int slot = 0; slot < SETTINGS_MAX_WORKERS; slot++) {
		if (pages->list[slot].last_serial > last)
			last = pages->list[slot].last_serial;
	}
	return last;
}

static void execute(const struct upgrade_config *config)
{
	const char *args[6] = { config->program, "-c", config->conf_path };
	char *argv[6];
	int n = 3;

	if (config->is_foreground)
		args[n++] = "-F";
	if (config->is_verbose)
		args[n++] = "-v";
	/* What execv() takes is not const, for old times' sake. */
	memcpy(argv, args, sizeof(argv));
	execv(config->program, argv);
}

static _Noreturn void become_new(const struct upgrade_config *config, int channel, int voice)
{
	const struct inheritance inheritance = {
		.channel = channel,
		.pages = config->pages->fd,
		.legacy = pages_leave(config->pages),
		.generation = config->generation,
		.n_slots = config->n_slots,
		.serial = last_serial(config->pages) + SERIAL_GAP,
	};

	if (inheritance_leave(&inheritance, config->sockets)) {
		if (!config->is_foreground)
			dup2(voice, STDERR_FILENO);
		notify_export();
		execute(config);
	}
	/* The old master hears it, and logs it. */
	dprintf(voice, "cannot execute %s: %s\n", config->program, strerror(errno));
	_exit(127);
}

static void watch(struct upgrade *upgrade, int channel, int voice)
{
	struct ev_loop *loop = upgrade->config.loop;

	ev_io_init(&upgrade->channel, on_channel, channel, EV_READ);
	ev_io_start(loop, &upgrade->channel);
	ev_io_init(&upgrade->voice, on_voice, voice, EV_READ);
	ev_io_start(loop, &upgrade->voice);
	ev_child_init(&upgrade->child, on_death, upgrade->pid, 0);
	ev_child_start(loop, &upgrade->child);
	ev_timer_init(&upgrade->limit, on_limit, LIMIT_S, 0.);
	ev_timer_start(loop, &upgrade->limit);
}

static struct upgrade *upgrade_new(const struct upgrade_config *config)
{
	struct upgrade *upgrade = must_alloc(1, sizeof(*upgrade));

	upgrade->config = *config;
	upgrade->ends = must_alloc(config->n_slots, sizeof(*upgrade->ends));
	for (uint32_t slot = 0; slot < config->n_slots; slot++)
		upgrade->ends[slot] = -1;
	return upgrade;
}

struct upgrade *upgrade_start(const struct upgrade_config *config, struct reason *why)
{
	int channel[2], voice[2];
	struct upgrade *upgrade;
	pid_t pid;

	if (channel_open(channel) != STATUS_OK) {
		reason_set(why, "cannot upgrade: %s", strerror(errno));
		return NULL;
	}
	if (pipe2(voice, O_CLOEXEC | O_NONBLOCK) < 0) {
		reason_set(why, "cannot upgrade: %s", strerror(errno));
		close(channel[0]);
		close(channel[1]);
		return NULL;
	}
	pid = fork_quietly();
	if (pid == 0)
		become_new(config, channel[1], voice[1]);
	close(channel[1]);
	close(voice[1]);
	if (pid < 0) {
		reason_set(why, "cannot upgrade: fork: %s", strerror(errno));
		close(channel[0]);
		close(voice[0]);
		return NULL;
	}
	upgrade = upgrade_new(config);
	upgrade->pid = pid;
	watch(upgrade, channel[0], voice[0]);
	log_info("upgrade: started %s, pid %d", config->program, (int)pid);
	return upgrade;
}

void upgrade_cancel(struct upgrade **upgrade)
{
	if (*upgrade == NULL)
		return;
	if (!(*upgrade)->is_done)
		kill((*upgrade)->pid, SIGKILL);
	upgrade_destroy(*upgrade);
	*upgrade = NULL;
}

void upgrade_forget(struct upgrade *upgrade)
{
	if (upgrade != NULL)
		let_go(upgrade);
}
