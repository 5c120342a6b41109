/*
 * Everything is learnt from outside: from the log, the exit status, and /proc.
 * The test that owns the daemon is made a subreaper, so that workers whose
 * master has died are its children: "nobody is left" is waitpid(2) saying ECHILD.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/daemon.h"
#include "system/run.h"

/* How many are running: the last to end may leave no process behind. */
static unsigned n_running;

static void write_text(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

struct daemon *daemon_new(unsigned n_workers, const char *body, ...)
{
	struct daemon *daemon = calloc(1, sizeof(*daemon));
	char text[8192];
	va_list args;
	int len;

	ck_assert_ptr_nonnull(daemon);
	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	snprintf(daemon->folder, sizeof(daemon->folder), "%s/XXXXXX", run_folder());
	ck_assert_ptr_nonnull(mkdtemp(daemon->folder));
	snprintf(daemon->conf, sizeof(daemon->conf), "%s/conf", daemon->folder);
	snprintf(daemon->log, sizeof(daemon->log), "%s/log", daemon->folder);
	snprintf(daemon->out, sizeof(daemon->out), "%s/out", daemon->folder);
	snprintf(daemon->err, sizeof(daemon->err), "%s/err", daemon->folder);
	daemon->n_workers = n_workers;
	len = snprintf(text, sizeof(text), "workers = %u\nmodule-dir = \"%s\"\nlog = \"%s\"\n",
	    n_workers, OUR_MODULES, daemon->log);
	va_start(args, body);
	len += vsnprintf(text + len, sizeof(text) - (size_t)len, body, args);
	va_end(args);
	ck_assert_int_lt(len, (int)sizeof(text));
	write_text(daemon->conf, text);
	return daemon;
}

void daemon_set_conf(struct daemon *daemon, const char *text)
{
	write_text(daemon->conf, text);
}

static void redirect(int fd, const char *path, int flags)
{
	int file = open(path, flags, 0600);

	if (file < 0 || dup2(file, fd) != fd)
		_exit(126);
	close(file);
}

static void add_option(const char *name, const char *option)
{
	const char *given = getenv(name);
	char options[512];

	snprintf(options, sizeof(options), "%s%s%s", given != NULL ? given : "",
	    given != NULL ? ":" : "", option);
	setenv(name, options, 1);
}

/*
 * Memory tests are about what is in use, not about what a sanitizer keeps back. A process with
 * threads that the thread sanitizer ends waits a second for them to report, and then is killed.
 */
static void set_sanitizer_options(void)
{
	add_option("ASAN_OPTIONS", "quarantine_size_mb=1");
	add_option("TSAN_OPTIONS", "atexit_sleep_ms=0");
}

/* As sd_listen_fds(3) says. Returns the first descriptor that is free behind them. */
static int hand_over_sockets(const struct daemon *daemon)
{
	int first = 3, n = (int)daemon->n_sockets;
	char text[16];

	/* Out of the way of each other at first. */
	for (int i = 0; i < n; i++)
		dup2(daemon->sockets[i], 512 + i);
	for (int i = 0; i < n; i++)
		dup2(512 + i, first + i);
	if (n > 0) {
		snprintf(text, sizeof(text), "%d", n);
		setenv("LISTEN_FDS", text, 1);
		snprintf(text, sizeof(text), "%d", (int)getpid());
		setenv("LISTEN_PID", text, 0);
		setenv("LISTEN_FDNAMES", "runnel.socket", 1);
	}
	return first + n;
}

static _Noreturn void exec_daemon(const struct daemon *daemon, const char *const *args)
{
	const char *path = getenv("RUNNELD");
	char *argv[DAEMON_MAX_ARGS];
	struct rlimit limit = { .rlim_cur = daemon->max_fds, .rlim_max = daemon->max_fds };

	if (daemon->has_group)
		setpgid(0, 0);
	redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
	redirect(STDOUT_FILENO, daemon->out, O_WRONLY | O_CREAT | O_APPEND);
	redirect(STDERR_FILENO, daemon->err, O_WRONLY | O_CREAT | O_APPEND);
	if (daemon->max_fds > 0 && setrlimit(RLIMIT_NOFILE, &limit) != 0)
		_exit(126);
	/* Nothing else that the test has open is the daemon's. */
	for (int fd = hand_over_sockets(daemon); fd < 1024; fd++)
		fcntl(fd, F_SETFD, FD_CLOEXEC);
	set_sanitizer_options();
	if (path == NULL)
		path = BUILD_DIR "/runneld";
	/* What execv() takes is not const, for old times' sake. */
	memcpy(argv, args, sizeof(argv));
	execv(path, argv);
	_exit(127);
}

/* args has DAEMON_MAX_ARGS places. */
static void spawn(struct daemon *daemon, const char *const *args)
{
	pid_t pid;

	ck_assert_int_eq(daemon->pid, 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		exec_daemon(daemon, args);
	daemon->pid = pid;
	n_running++;
}

/* How often a daemon with this log has said that it is ready. */
static unsigned count_ready(struct daemon *daemon)
{
	char ready[32];

	snprintf(ready, sizeof(ready), "ready: %u worker", daemon->n_workers);
	return daemon_n_logged(daemon, ready);
}

void daemon_launch(struct daemon *daemon)
{
	const char *args[DAEMON_MAX_ARGS] = { "runneld", "-F", "-c", daemon->conf };

	daemon->n_ready = count_ready(daemon);
	spawn(daemon, args);
}

bool daemon_has_ended(struct daemon *daemon)
{
	pid_t pid;

	if (daemon->pid == 0)
		return true;
	pid = waitpid(daemon->pid, &daemon->exit_status, WNOHANG);
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		return false;
	daemon->pid = 0;
	n_running--;
	return true;
}

void daemon_await_ready(struct daemon *daemon)
{
	WAIT_FOR(count_ready(daemon) > daemon->n_ready || daemon_has_ended(daemon));
	ck_assert_msg(daemon->pid != 0, "the daemon ended instead of getting ready: %s",
	    daemon_read(daemon, daemon->err));
}

void daemon_start(struct daemon *daemon)
{
	daemon_launch(daemon);
	daemon_await_ready(daemon);
}

static int exit_code(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int daemon_run(struct daemon *daemon, ...)
{
	const char *args[DAEMON_MAX_ARGS] = { "runneld" };
	unsigned n_args = 1;
	va_list list;

	va_start(list, daemon);
	while ((args[n_args] = va_arg(list, const char *)) != NULL)
		ck_assert_uint_lt(++n_args, DAEMON_MAX_ARGS);
	va_end(list);
	spawn(daemon, args);
	WAIT_FOR(daemon_has_ended(daemon));
	return exit_code(daemon->exit_status);
}

void daemon_attach(struct daemon *daemon, const char *pid_file)
{
	ck_assert_int_eq(daemon->pid, 0);
	daemon->pid = (pid_t)atoi(daemon_read(daemon, pid_file));
	ck_assert_int_gt(daemon->pid, 0);
	n_running++;
}

const char *daemon_read(struct daemon *daemon, const char *path)
{
	FILE *file = fopen(path, "re");
	size_t len = 0;
	long size;

	free(daemon->text);
	daemon->text = NULL;
	if (file == NULL)
		return "";
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	daemon->text = malloc((size_t)size + 1);
	ck_assert_ptr_nonnull(daemon->text);
	len = fread(daemon->text, 1, (size_t)size, file);
	daemon->text[len] = '\0';
	fclose(file);
	return daemon->text;
}

unsigned daemon_n_logged(struct daemon *daemon, const char *text)
{
	const char *line = daemon_read(daemon, daemon->log);
	unsigned n = 0;

	while ((line = strstr(line, text)) != NULL) {
		n++;
		line += strcspn(line, "\n");
	}
	return n;
}

/* What follows the last text in the log; NULL: it is not there. */
static const char *find_last(struct daemon *daemon, const char *text)
{
	const char *at = daemon_read(daemon, daemon->log), *last = NULL;

	while ((at = strstr(at, text)) != NULL) {
		at += strlen(text);
		last = at;
	}
	return last;
}

uint16_t daemon_port(struct daemon *daemon, const char *listener)
{
	char text[96];
	const char *found;

	snprintf(text, sizeof(text), "listen %s: listening on 127.0.0.1:", listener);
	found = find_last(daemon, text);
	ck_assert_msg(found != NULL, "not in the log: %s", text);
	return (uint16_t)atoi(found);
}

pid_t daemon_worker(struct daemon *daemon, unsigned slot)
{
	char text[48];
	const char *found;

	snprintf(text, sizeof(text), "worker %u: started, pid ", slot);
	found = find_last(daemon, text);
	ck_assert_msg(found != NULL, "not in the log: %s", text);
	return (pid_t)atoi(found);
}

unsigned daemon_n_started(struct daemon *daemon, unsigned slot)
{
	char text[48];

	snprintf(text, sizeof(text), "worker %u: started, pid ", slot);
	return daemon_n_logged(daemon, text);
}

void daemon_signal(struct daemon *daemon, int number)
{
	ck_assert_int_gt(daemon->pid, 0);
	ck_assert_int_eq(kill(daemon->pid, number), 0);
}

/* Reaps what is left of workers, too. */
static bool has_no_children(void)
{
	pid_t pid;

	do
		pid = waitpid(-1, NULL, WNOHANG);
	while (pid > 0);
	return pid < 0 && errno == ECHILD;
}

int daemon_await_end(struct daemon *daemon)
{
	WAIT_FOR(daemon_has_ended(daemon));
	if (n_running == 0)
		WAIT_FOR(has_no_children());
	return exit_code(daemon->exit_status);
}

void daemon_end(struct daemon *daemon)
{
	daemon_signal(daemon, SIGTERM);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
}

static int remove_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

/* What sanitizers and CHECK() say goes to stderr, also a worker's. */
static void expect_no_bug(struct daemon *daemon)
{
	static const char *const signs[] = { "Sanitizer", "runtime error:", "bug: " };

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		ck_assert_msg(strstr(daemon_read(daemon, daemon->err), signs[i]) == NULL,
		    "there is a bug:\n%s", daemon->text);
}

void daemon_destroy(struct daemon **daemon)
{
	ck_assert_int_eq((*daemon)->pid, 0);
	expect_no_bug(*daemon);
	nftw((*daemon)->folder, remove_file, 8, FTW_DEPTH | FTW_PHYS);
	free((*daemon)->text);
	free(*daemon);
	*daemon = NULL;
}

void daemon_stop(struct daemon **daemon)
{
	daemon_end(*daemon);
	daemon_destroy(daemon);
}

uint64_t daemon_counter(struct daemon *daemon, const char *name)
{
	char head[48], field[48];
	uint64_t sum = 0;

	snprintf(field, sizeof(field), " %s=", name);
	for (unsigned slot = 0; slot < daemon->n_workers; slot++) {
		const char *line, *value;

		snprintf(head, sizeof(head), "worker %u: accepted=", slot);
		line = find_last(daemon, head);
		ck_assert_msg(line != NULL, "no summary in the log: %s", head);
		line -= strlen("accepted=") + 1;
		value = strstr(line, field);
		ck_assert_msg(value != NULL && value < line + strcspn(line, "\n"),
		    "no counter %s in the summary of worker %u", name, slot);
		sum += strtoull(value + strlen(field), NULL, 10);
	}
	return sum;
}
