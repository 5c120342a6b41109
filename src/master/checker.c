#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "master/checker.h"
#include "module/listeners.h"
#include "module/modules.h"
#include "settings/settings.h"

/* A module that takes longer to be configured hangs. */
#define LIMIT_MS 30000

/* Far more than a conf of the permitted size can become. */
#define MAX_ANSWER (16 * 1024 * 1024)

/* What the checker writes: one of these bytes, then the conf or the reason. */
#define ANSWER_GOOD '+'
#define ANSWER_BAD '-'

/* Both are the caller's to destroy, also on failure; settings refer to options of modules. */
static enum status check(
    const char *path, struct modules **modules, struct settings **settings, struct reason *why)
{
	struct listeners *listeners = NULL;
	enum status status = STATUS_NOMEM;

	*modules = modules_new();
	*settings = NULL;
	if (*modules != NULL)
		status = settings_load(path, NULL, modules_find, *modules, settings, why);
	if (status == STATUS_OK)
		status = modules_configure(*modules, *settings, why);
	if (status == STATUS_OK)
		status = listeners_new(*settings, *modules, &listeners, why);
	if (status == STATUS_NOMEM)
		status = reason_set(why, "out of memory");
	listeners_destroy(&listeners);
	return status;
}

/* In the child. */
static _Noreturn void answer(const char *path, int fd)
{
	struct modules *modules;
	struct settings *settings;
	struct reason why = { "" };
	FILE *out = fdopen(fd, "w");

	if (out == NULL)
		_exit(1);
	if (check(path, &modules, &settings, &why) == STATUS_OK) {
		fputc(ANSWER_GOOD, out);
		if (settings_dump(settings, out) != STATUS_OK)
			_exit(1);
	} else {
		fprintf(out, "%c%s", ANSWER_BAD, why.text);
	}
	settings_destroy(&settings);
	modules_destroy(&modules);
	_exit(fclose(out) == 0 ? 0 : 1);
}

struct answer {
	char *text; /* owned */
	size_t len;
};

static enum status grow(struct answer *answer)
{
	char *text = realloc(answer->text, answer->len + 65536);

	if (text == NULL)
		return STATUS_NOMEM;
	answer->text = text;
	return STATUS_OK;
}

/* Read until the checker closes its end. */
static enum status collect(int fd, struct answer *answer, struct reason *why)
{
	uint64_t deadline_ms = clock_ms() + LIMIT_MS;
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	for (;;) {
		uint64_t now_ms = clock_ms();
		ssize_t n;

		if (now_ms >= deadline_ms || answer->len > MAX_ANSWER)
			return reason_set(why,
			    "the check of the conf did not end within %d s: does a module "
			    "hang?",
			    LIMIT_MS / 1000);
		if (poll(&poll_fd, 1, (int)(deadline_ms - now_ms)) <= 0)
			continue;
		if (grow(answer) != STATUS_OK)
			return reason_set(why, "out of memory");
		n = read(fd, answer->text + answer->len, 65535);
		if (n > 0)
			answer->len += (size_t)n;
		else if (n == 0)
			break;
	}
	answer->text[answer->len] = '\0';
	return STATUS_OK;
}

static enum status judge(
    struct answer *answer, int wait_status, char **text, struct reason *why)
{
	if (WIFSIGNALED(wait_status))
		return reason_set(why,
		    "the check of the conf was killed by signal %d (%s): does a module crash?",
		    WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
	if (WEXITSTATUS(wait_status) != 0 || answer->len == 0)
		return reason_set(why, "the check of the conf ended with status %d",
		    WEXITSTATUS(wait_status));
	if (answer->text[0] == ANSWER_BAD)
		return reason_set(why, "%s", answer->text + 1);
	memmove(answer->text, answer->text + 1, answer->len);
	*text = answer->text;
	answer->text = NULL;
	return STATUS_OK;
}

enum status checker_run(const char *path, char **text, struct reason *why)
{
	struct answer result = { 0 };
	enum status status;
	int ends[2], wait_status;
	pid_t pid;

	if (pipe(ends) < 0)
		return reason_set(why, "cannot check the conf: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		answer(path, ends[1]);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return reason_set(why, "cannot check the conf: fork: %s", strerror(errno));
	}
	status = collect(ends[0], &result, why);
	close(ends[0]);
	if (status != STATUS_OK)
		kill(pid, SIGKILL);
	while (waitpid(pid, &wait_status, 0) < 0 && errno == EINTR)
		continue;
	if (status == STATUS_OK)
		status = judge(&result, wait_status, text, why);
	free(result.text);
	return status;
}
