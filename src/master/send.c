#include "config.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "call/call.h"
#include "call/ending.h"
#include "call/holder.h"
#include "master/pid_file.h"
#include "master/send.h"
#include "master/show.h"
#include "settings/peek.h"

#define SECOND_MS INT64_C(1000)
#define NO_LIMIT INT64_MAX

/* The conf's drain-timeout, and then some for workers that have to be killed. */
#define DRAIN_LIMIT INT64_C(-1)
#define DRAIN_EXTRA_MS (10 * SECOND_MS)

static const struct verb {
	const char *name;
	int signal; /* that does the same; 0: none does */
	const char *signal_name;
	int64_t limit_ms; /* of the wait */
	bool is_end;      /* the daemon ends of it */
} verbs[] = {
	{ "stop", SIGTERM, "TERM", DRAIN_LIMIT, true },
	{ "fast-stop", SIGINT, "INT", 15 * SECOND_MS, true },
	{ "quit", SIGQUIT, "QUIT", NO_LIMIT, true },
	{ "reload", SIGHUP, "HUP", 120 * SECOND_MS, false },
	{ "reopen", SIGUSR1, "USR1", 30 * SECOND_MS, false },
	{ "upgrade", SIGUSR2, "USR2", 120 * SECOND_MS, false },
	{ "status", 0, NULL, 10 * SECOND_MS, false },
};

/* What is to be done, and where. */
struct errand {
	const struct verb *verb;
	struct peek where;
	int64_t limit_ms;
};

static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	}
	return NULL;
}

bool send_knows(const char *verb)
{
	return find_verb(verb) != NULL;
}

static bool is_status(const struct errand *errand)
{
	return errand->verb->signal == 0;
}

static uint64_t deadline(int64_t limit_ms)
{
	return limit_ms == NO_LIMIT ? UINT64_MAX : clock_ms() + (uint64_t)limit_ms;
}

static int say_not_running(const char *detail)
{
	log_error("not running: %s", detail);
	return SEND_EXIT_NOT_RUNNING;
}

static int await_end(const struct errand *errand, const struct holder *holder, int64_t limit_ms)
{
	if (holder_await_end(holder, deadline(limit_ms)))
		return EXIT_SUCCESS;
	log_error("%s: pid %d has not ended in %lld s", errand->verb->name, (int)holder->pid,
	    (long long)(limit_ms / SECOND_MS));
	return EXIT_FAILURE;
}

static int say_failed(const struct errand *errand, const struct reason *why)
{
	log_error("%s: %s", errand->verb->name, why->text);
	return is_status(errand) ? SEND_EXIT_UNKNOWN : EXIT_FAILURE;
}

static int ask(const struct errand *errand, struct call *call, uint64_t deadline_ms)
{
	struct reason why = { "" };
	json_t *answer;

	if (call_ask(call, errand->verb->name, deadline_ms, &answer, &why) != CALL_ANSWERED)
		return say_failed(errand, &why);
	if (is_status(errand))
		show_status(answer, stdout);
	show_warnings(answer, stdout);
	json_decref(answer);
	return EXIT_SUCCESS;
}

static int ask_for_end(const struct errand *errand, struct call *call, uint64_t deadline_ms)
{
	struct reason why = { "" };

	if (ending_ask(call, errand->verb->name, deadline_ms, &why) != CALL_ANSWERED)
		return say_failed(errand, &why);
	return EXIT_SUCCESS;
}

/* The holder of the pid file's lock, opened. */
static enum status find_holder(
    const char *path, struct holder *holder, bool *is_held, struct reason *why)
{
	pid_t pid, again = 0;

	*is_held = false;
	if (pid_file_holder(path, &pid, why) != STATUS_OK)
		return STATUS_INVALID;
	if (pid == 0 || !holder_open(pid, holder))
		return STATUS_OK;
	/* Still the holder after it was opened: so it was the holder then. */
	if (pid_file_holder(path, &again, why) == STATUS_OK && again == pid) {
		*is_held = true;
		return STATUS_OK;
	}
	holder_close(holder);
	return again == 0 ? STATUS_OK : reason_set(why, "pid file %s: it changes hands", path);
}

static int signal_holder(const struct errand *errand, const struct holder *holder)
{
	const struct verb *verb = errand->verb;

	if (is_status(errand)) {
		printf("runneld is running: pid %d\n", (int)holder->pid);
		return EXIT_SUCCESS;
	}
	if (holder_signal(holder, verb->signal) < 0) {
		log_error("%s: cannot send %s to pid %d: %s", verb->name, verb->signal_name,
		    (int)holder->pid, strerror(errno));
		return EXIT_FAILURE;
	}
	if (verb->is_end)
		return await_end(errand, holder, errand->limit_ms);
	printf("%s sent to pid %d, which does not answer signals: its log says whether %s is "
	       "done; with control-socket, this command does\n",
	    verb->signal_name, (int)holder->pid, verb->name);
	return EXIT_SUCCESS;
}

static int go_by_pid_file(const struct errand *errand, const char *path)
{
	struct holder holder = { .fd = -1 };
	struct reason why = { "" };
	char text[300];
	bool is_held;
	int status;

	if (find_holder(path, &holder, &is_held, &why) != STATUS_OK)
		return say_failed(errand, &why);
	if (!is_held) {
		snprintf(text, sizeof(text), "nobody holds pid file %s", path);
		return say_not_running(text);
	}
	status = signal_holder(errand, &holder);
	holder_close(&holder);
	return status;
}

/* A daemon that was started without the control socket still has its pid file. */
static int go(const struct errand *errand)
{
	uint64_t deadline_ms = deadline(errand->limit_ms);
	struct reason why = { "" };
	struct call call;
	int status;

	if (errand->where.control_socket == NULL)
		return go_by_pid_file(errand, errand->where.pid_file);
	switch (call_open(&call, errand->where.control_socket, deadline_ms, &why)) {
	case CALL_ANSWERED:
		status = errand->verb->is_end ? ask_for_end(errand, &call, deadline_ms)
					      : ask(errand, &call, deadline_ms);
		break;
	case CALL_NOBODY:
		status = errand->where.pid_file != NULL
			     ? go_by_pid_file(errand, errand->where.pid_file)
			     : say_not_running(why.text);
		break;
	default:
		status = say_failed(errand, &why);
	}
	call_close(&call);
	return status;
}

/* The conf is not asked, so how long a stop may take is not known. */
static void take_target(struct errand *errand, const char *target)
{
	struct stat st;

	if (stat(target, &st) == 0 && S_ISSOCK(st.st_mode))
		errand->where.control_socket = must_strdup(target);
	else
		errand->where.pid_file = must_strdup(target);
	if (errand->limit_ms == DRAIN_LIMIT)
		errand->limit_ms = NO_LIMIT;
}

static enum status find_target(struct errand *errand, const char *conf_path, struct reason *why)
{
	enum status is_good = peek_read(conf_path, NULL, &errand->where, why);
	bool is_found = errand->where.control_socket != NULL || errand->where.pid_file != NULL;
	struct reason what = *why;

	if (errand->limit_ms == DRAIN_LIMIT)
		errand->limit_ms = (int64_t)errand->where.drain_timeout_ms + DRAIN_EXTRA_MS;
	if (is_good != STATUS_OK && is_found)
		log_warn("%s; going on with what else %s says", what.text, conf_path);
	if (is_found)
		return STATUS_OK;
	if (is_good != STATUS_OK)
		return reason_set(
		    why, "%s; name the control socket or pid file with -P", what.text);
	return reason_set(why,
	    "%s names neither control-socket nor pid-file; name one that is there with -P",
	    conf_path);
}

int send_run(const struct send_options *options)
{
	const struct verb *verb = find_verb(options->verb);
	struct errand errand = { .verb = verb, .limit_ms = verb->limit_ms };
	struct reason why = { "" };
	int status;

	if (options->target != NULL)
		take_target(&errand, options->target);
	else if (find_target(&errand, options->conf_path, &why) != STATUS_OK)
		return say_failed(&errand, &why);
	status = go(&errand);
	peek_free(&errand.where);
	return status;
}
