#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/list.h"
#include "base/memory.h"
#include "base/panic.h"
#include "base/parent.h"
#include "master/checker.h"
#include "master/privileges.h"
#include "module/listeners.h"
#include "module/metrics.h"
#include "module/modules.h"
#include "settings/settings.h"

/* A module that takes longer to be configured hangs. */
#define LIMIT_S 30.

/* Far more than a conf of the permitted size and the routes of its modules become. */
#define MAX_ANSWER (64 * 1024 * 1024)

/* What the checker writes: one of these bytes, then the conf or the reason. */
#define ANSWER_GOOD '+'
#define ANSWER_BAD '-'

#define READ_SIZE 65536

struct checker {
	struct checker_config config;
	pid_t pid;
	ev_io io;       /* on the answer */
	ev_child child; /* its end */
	ev_timer limit;
	char *answer; /* owned */
	size_t len;
	bool is_read; /* to its end */
	bool is_over; /* the process is gone */
	bool is_late; /* it was killed for that */
	int wait_status;
	struct panic_page *page; /* the child's last words; NULL: no memory for that */
	const char *fault;       /* why the answer does not count; NULL: it does */
};

/* What a conf becomes, in a child of parent; each part refers to those above it. */
struct check {
	pid_t parent;
	struct modules *modules;
	struct settings *settings;
	struct listeners *listeners;
};

/* A module is loaded here for the first time: before that, root becomes the conf's user. */
static enum status find_module(const struct module_settings *module,
    const struct rnl_option **options, size_t *n_options, struct reason *why, void *arg)
{
	const struct check *check = arg;
	struct privileges privileges;

	if (privileges_find(check->settings, &privileges, why) != STATUS_OK ||
	    privileges_drop(&privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	/* What hangs in a module does not outlive the master; a change of user forgets this. */
	parent_follow(check->parent);
	return modules_find(module, options, n_options, why, check->modules);
}

/* What was made is in *check, also on failure. */
static enum status run_check(const char *path, struct check *check, struct reason *why)
{
	enum status status = STATUS_NOMEM;

	check->modules = modules_new();
	if (check->modules != NULL)
		status = settings_load(path, NULL, find_module, check, &check->settings, why);
	if (status == STATUS_OK)
		status = modules_configure(check->modules, check->settings, why);
	if (status == STATUS_OK)
		status = listeners_new(check->settings, check->modules, &check->listeners, why);
	if (status == STATUS_OK)
		listeners_warn(check->listeners, check->modules);
	if (status == STATUS_NOMEM)
		status = reason_set(why, "out of memory");
	return status;
}

static void check_free(struct check *check)
{
	listeners_destroy(&check->listeners);
	settings_destroy(&check->settings);
	modules_destroy(&check->modules);
}

static void print_routes_of(const struct listener *list, size_t n, FILE *out)
{
	for (size_t i = 0; i < n; i++) {
		fprintf(out, "#\n# %s %s\n", listener_kind(&list[i]), list[i].name);
		router_print(list[i].router, "#     ", out);
	}
}

/* As comments, for the text is a conf. */
static void print_routes(const struct listeners *listeners, FILE *out)
{
	fputs("\n# Routes: message ids, and the modules that see them, in the order of their "
	      "turn.\n",
	    out);
	print_routes_of(listeners->list, listeners->n, out);
	print_routes_of(listeners->upstreams, listeners->n_upstreams, out);
}

/* In the child. */
static _Noreturn void answer(const char *path, pid_t parent, int fd)
{
	struct check check = { .parent = parent };
	struct reason why = { "" };
	FILE *out = fdopen(fd, "w");

	if (out == NULL)
		_exit(1);
	if (run_check(path, &check, &why) == STATUS_OK) {
		fputc(ANSWER_GOOD, out);
		if (settings_dump(check.settings, out) != STATUS_OK)
			_exit(1);
		print_routes(check.listeners, out);
		module_metrics_write(out);
	} else {
		fprintf(out, "%c%s", ANSWER_BAD, why.text);
	}
	check_free(&check);
	_exit(fclose(out) == 0 ? 0 : 1);
}

static void stop_watching(struct checker *checker)
{
	struct ev_loop *loop = checker->config.loop;

	ev_io_stop(loop, &checker->io);
	ev_child_stop(loop, &checker->child);
	ev_timer_stop(loop, &checker->limit);
}

static void checker_free(struct checker *checker)
{
	if (checker->page != NULL)
		munmap(checker->page, sizeof(*checker->page));
	free(checker->answer);
	free(checker);
}

static void checker_destroy(struct checker *checker)
{
	stop_watching(checker);
	close(checker->io.fd);
	checker_free(checker);
}

/* Where its child is or was: foreign code, or "". */
static const char *stage_of(const struct checker *checker)
{
	return checker->page != NULL ? checker->page->stage : "";
}

static void explain_death(const struct checker *checker, int signal, struct reason *why)
{
	const char *stage = stage_of(checker);

	reason_set(why, "the check of the conf was killed by signal %d (%s)%s%s", signal,
	    strsignal(signal), stage[0] != '\0' ? " in " : ": does a module crash?", stage);
}

static void explain_lateness(const struct checker *checker, struct reason *why)
{
	const char *stage = stage_of(checker);

	reason_set(why, "the check of the conf did not end within %.0f s: does %s hang?",
	    LIMIT_S, stage[0] != '\0' ? stage : "a module");
}

static void explain_exit(const struct checker *checker, int status, struct reason *why)
{
	const char *stage = stage_of(checker);

	reason_set(why, "the check of the conf ended with status %d%s%s", status,
	    stage[0] != '\0' ? " in " : "", stage);
}

/* What the answer comes to: the conf's text, or NULL and *why. */
static char *judge(struct checker *checker, struct reason *why)
{
	int status = checker->wait_status;
	char *text;

	if (checker->fault != NULL)
		reason_set(why, "%s", checker->fault);
	else if (checker->is_late)
		explain_lateness(checker, why);
	else if (WIFSIGNALED(status))
		explain_death(checker, WTERMSIG(status), why);
	else if (WEXITSTATUS(status) != 0 || checker->len == 0)
		explain_exit(checker, WEXITSTATUS(status), why);
	else if (checker->answer[0] == ANSWER_BAD)
		reason_set(why, "%s", checker->answer + 1);
	if (why->text[0] != '\0')
		return NULL;
	text = checker->answer;
	memmove(text, text + 1, checker->len);
	checker->answer = NULL;
	return text;
}

static void finish_if_over(struct checker *checker)
{
	struct checker_config config = checker->config;
	struct reason why = { "" };
	char *text;

	if (!checker->is_over || !checker->is_read)
		return;
	text = judge(checker, &why);
	checker_destroy(checker);
	config.done(text, &why, config.arg);
}

static void give_up(struct checker *checker, const char *fault)
{
	checker->fault = fault;
	checker->is_read = true;
	ev_io_stop(checker->config.loop, &checker->io);
	/* Gone, its number may be somebody else's. */
	if (!checker->is_over)
		kill(checker->pid, SIGKILL);
	finish_if_over(checker);
}

static void on_answer(struct ev_loop *loop, ev_io *io, int revents)
{
	struct checker *checker = container_of(io, struct checker, io);
	char *larger = realloc(checker->answer, checker->len + READ_SIZE + 1);
	ssize_t n;

	(void)revents;
	if (larger == NULL || checker->len > MAX_ANSWER) {
		give_up(checker, "no memory for the check of the conf");
		return;
	}
	checker->answer = larger;
	n = read(io->fd, larger + checker->len, READ_SIZE);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		checker->len += (size_t)n;
		return;
	}
	larger[checker->len] = '\0';
	checker->is_read = true;
	ev_io_stop(loop, io);
	finish_if_over(checker);
}

static void on_end(struct ev_loop *loop, ev_child *child, int revents)
{
	struct checker *checker = container_of(child, struct checker, child);

	(void)revents;
	ev_child_stop(loop, child);
	checker->wait_status = child->rstatus;
	checker->is_over = true;
	finish_if_over(checker);
}

/* Also when the process is gone and something that it started keeps the answer open. */
static void on_limit(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct checker *checker = container_of(timer, struct checker, limit);

	(void)loop;
	(void)revents;
	checker->is_late = true;
	give_up(checker, NULL);
}

static void watch(struct checker *checker, int fd)
{
	struct ev_loop *loop = checker->config.loop;

	ev_io_init(&checker->io, on_answer, fd, EV_READ);
	ev_io_start(loop, &checker->io);
	ev_child_init(&checker->child, on_end, checker->pid, 0);
	ev_child_start(loop, &checker->child);
	ev_timer_init(&checker->limit, on_limit, LIMIT_S, 0.);
	ev_timer_start(loop, &checker->limit);
}

/* Shared with the child. */
static struct panic_page *page_new(void)
{
	void *page = mmap(NULL, sizeof(struct panic_page), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED ? page : NULL;
}

struct checker *checker_start(const struct checker_config *config, struct reason *why)
{
	struct checker *checker = must_alloc(1, sizeof(*checker));
	pid_t parent;
	int ends[2];

	checker->config = *config;
	checker->page = page_new();
	if (pipe2(ends, O_CLOEXEC) < 0) {
		reason_set(why, "cannot check the conf: %s", strerror(errno));
		checker_free(checker);
		return NULL;
	}
	parent = getpid();
	checker->pid = fork();
	if (checker->pid == 0) {
		close(ends[0]);
		config->in_child(config->arg);
		panic_set_page(checker->page);
		answer(config->conf_path, parent, ends[1]);
	}
	close(ends[1]);
	if (checker->pid < 0) {
		reason_set(why, "cannot check the conf: fork: %s", strerror(errno));
		close(ends[0]);
		checker_free(checker);
		return NULL;
	}
	watch(checker, ends[0]);
	return checker;
}

void checker_cancel(struct checker **checker)
{
	if (*checker == NULL)
		return;
	kill((*checker)->pid, SIGKILL);
	checker_destroy(*checker);
	*checker = NULL;
}

void checker_forget(struct checker *checker)
{
	if (checker == NULL)
		return;
	stop_watching(checker);
	close(checker->io.fd);
}
