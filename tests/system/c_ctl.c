/*
 * runnelctl: each command with a daemon and without, on a terminal and not.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

#define ECHO "module echo { }\n"
#define LISTEN "listen main { address = \"127.0.0.1:%u\" modules = { echo } }\n"
#define PATH_SIZE 160

#define RUNNELCTL BUILD_DIR "/runnelctl"

static const char *path_in(const struct daemon *daemon, const char *name, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/%s", daemon->folder, name);
	return path;
}

static void append(const struct daemon *daemon, const char *text)
{
	FILE *file = fopen(daemon->conf, "ae");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static struct daemon *new_with_socket(unsigned n_workers)
{
	struct daemon *daemon = daemon_new(n_workers, ECHO LISTEN, 0);
	char text[256], path[PATH_SIZE];

	snprintf(
	    text, sizeof(text), "control-socket = \"%s\"\n", path_in(daemon, "sock", path));
	append(daemon, text);
	return daemon;
}

/* runnelctl -c CONF COMMAND WORD; what it says is in the file said. */
static int ctl(const struct daemon *daemon, const char *command, const char *word)
{
	char said[PATH_SIZE];

	path_in(daemon, "said", said);
	unlink(said);
	return process_run(
	    RUNNELCTL, said, "runnelctl", "-c", daemon->conf, command, word, NULL);
}

/* What was said, until the next call. */
static const char *said(struct daemon *daemon)
{
	char path[PATH_SIZE];

	return daemon_read(daemon, path_in(daemon, "said", path));
}

static void expect_said(struct daemon *daemon, const char *text)
{
	const char *all = said(daemon);

	ck_assert_msg(strstr(all, text) != NULL, "no '%s' in: %s", text, all);
}

#define expect_ctl(daemon, command, word, status)                                      \
	do {                                                                           \
		int ctl_status = ctl((daemon), (command), (word));                     \
		ck_assert_msg(ctl_status == (status), "%s: %d, not %d: %s", (command), \
		    ctl_status, (status), said(daemon));                               \
	} while (0)

START_TEST(status_is_a_table)
{
	struct daemon *daemon = new_with_socket(2);
	char row[128];
	int client;

	expect_ctl(daemon, "status", NULL, 3);
	expect_said(daemon, "runnelctl: not running: control socket ");
	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "count me");
	expect_ctl(daemon, "status", "-i10ms", 0);
	expect_said(daemon, "runneld " PACKAGE_VERSION " is serving: pid ");
	expect_said(daemon, "\n1 connections, balance 2.00\n\nSLOT  STATE  ");
	for (unsigned slot = 0; slot < 2; slot++) {
		snprintf(row, sizeof(row), "\n   %u  ready  %d  ", slot,
		    (int)daemon_worker(daemon, slot));
		expect_said(daemon, row);
	}
	expect_said(daemon, "\n all  ");
	ck_assert_ptr_null(strstr(said(daemon), "-  "));
	expect_ctl(daemon, "status", "-i0", 0);
	expect_said(daemon, "      -      -        0  -\n");
	expect_ctl(daemon, "status", "-j", 0);
	expect_said(daemon, "{\"ok\":true,\"version\":\"" PACKAGE_VERSION "\",");
	expect_said(daemon, "\"slowest\":null,\"counters\":{");
	close(client);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(socket_is_found_or_named)
{
	struct daemon *daemon = new_with_socket(1);
	char path[PATH_SIZE], out[PATH_SIZE];

	daemon_start(daemon);
	path_in(daemon, "sock", path);
	path_in(daemon, "said", out);
	ck_assert_int_eq(
	    process_run(RUNNELCTL, out, "runnelctl", "version", "-s", path, NULL), 0);
	ck_assert_str_eq(said(daemon), "runneld " PACKAGE_VERSION "\n");
	/* A conf that is no longer good is good enough. */
	append(daemon, "colour = red\n");
	expect_ctl(daemon, "version", NULL, 0);
	daemon_set_conf(daemon, "workers = 1\n");
	expect_ctl(daemon, "version", NULL, 1);
	expect_said(daemon, "names no control-socket; set one, or give its path with -s");
	expect_ctl(daemon, "status", NULL, 4);
	expect_ctl(daemon, "versoin", NULL, 2);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(conf_shows_what_is_in_force)
{
	struct daemon *daemon = new_with_socket(2);

	append(daemon, "drain-timeout = 5s\n");
	daemon_start(daemon);
	append(daemon, "slow-handler = 1s\n");
	expect_ctl(daemon, "conf", NULL, 0);
	expect_said(daemon, ", generation 1\n");
	expect_said(daemon, "\ndrain-timeout = 5s # default: 30s\n");
	expect_said(daemon, "\nslow-handler = 100ms\n");
	expect_ctl(daemon, "reload", NULL, 0);
	ck_assert_str_eq(said(daemon), "generation 2 serves\n");
	expect_ctl(daemon, "conf", NULL, 0);
	expect_said(daemon, ", generation 2\n");
	expect_said(daemon, "\nslow-handler = 1s # default: 100ms\n");
	append(daemon, "colour = red\n");
	expect_ctl(daemon, "reload", NULL, 1);
	expect_said(daemon, "runnelctl: reload: ");
	expect_said(daemon, "colour: no such option");
	expect_ctl(daemon, "reload", "--json", 1);
	expect_said(daemon, "{\"ok\":false,\"error\":\"");
	daemon_stop(&daemon);
}
END_TEST

START_TEST(log_is_opened_anew)
{
	struct daemon *daemon = new_with_socket(1);
	char moved[PATH_SIZE];

	daemon_start(daemon);
	ck_assert_int_eq(rename(daemon->log, path_in(daemon, "moved", moved)), 0);
	expect_ctl(daemon, "reopen", NULL, 0);
	ck_assert_int_eq(access(daemon->log, F_OK), 0);
	daemon_stop(&daemon);
}
END_TEST

/* A worker logs each connection at level debug only. */
static bool logs_connections(struct daemon *daemon)
{
	unsigned n = daemon_n_logged(daemon, " debug worker 0[");
	int client = client_connect(daemon_port(daemon, "main"));
	bool is_more = false;

	client_ping(client, "hello");
	close(client);
	for (int i = 0; i < 50 && !is_more; i++) {
		is_more = daemon_n_logged(daemon, " debug worker 0[") > n;
		wait_tick();
	}
	return is_more;
}

START_TEST(log_level_lasts_till_the_next_reload)
{
	struct daemon *daemon = new_with_socket(1);
	unsigned n_started;

	daemon_start(daemon);
	ck_assert(!logs_connections(daemon));
	expect_ctl(daemon, "log-level", "debug", 0);
	ck_assert(logs_connections(daemon));
	/* A worker that is started later logs as the others. */
	n_started = daemon_n_started(daemon, 0);
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGKILL), 0);
	WAIT_FOR(daemon_n_started(daemon, 0) == n_started + 1);
	ck_assert(logs_connections(daemon));
	/* A reload that fails changes nothing. */
	append(daemon, "colour = red\n");
	expect_ctl(daemon, "reload", NULL, 1);
	ck_assert(logs_connections(daemon));
	expect_ctl(daemon, "log-level", "loud", 1);
	expect_said(daemon, "level: give error, warn, info or debug");
	ck_assert(logs_connections(daemon));
	expect_ctl(daemon, "log-level", "info", 0);
	ck_assert(!logs_connections(daemon));
	daemon_stop(&daemon);
}
END_TEST

START_TEST(reload_brings_the_level_of_the_conf_back)
{
	struct daemon *daemon = new_with_socket(1);

	daemon_start(daemon);
	expect_ctl(daemon, "log-level", "debug", 0);
	expect_ctl(daemon, "reload", NULL, 0);
	ck_assert(!logs_connections(daemon));
	expect_ctl(daemon, "log-level", "debug", 0);
	ck_assert(logs_connections(daemon));
	daemon_stop(&daemon);
}
END_TEST

START_TEST(ends_are_waited_for)
{
	static const char *const ends[] = { "stop", "quit", "fast-stop" };
	struct daemon *daemon = new_with_socket(2);
	char state;
	int client;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "hello");
	expect_ctl(daemon, ends[_i], NULL, 0);
	state = process_state(daemon->pid);
	ck_assert(state == '\0' || state == 'Z');
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	expect_ctl(daemon, ends[_i], NULL, 3);
	close(client);
	daemon_destroy(&daemon);
}
END_TEST

/* A daemon that stands still is not waited for longer than is said. */
START_TEST(wait_has_the_limit_that_is_given)
{
	struct daemon *daemon = new_with_socket(1);

	daemon_start(daemon);
	daemon_signal(daemon, SIGSTOP);
	expect_ctl(daemon, "status", "-w10ms", 4);
	expect_said(daemon, "runnelctl: status: no answer");
	expect_ctl(daemon, "reload", "-w10ms", 1);
	daemon_signal(daemon, SIGCONT);
	daemon_stop(&daemon);
}
END_TEST

/* --- metrics --- */

static uint64_t sum_of(const char *text, const char *metric)
{
	size_t len = strlen(metric);
	uint64_t sum = 0;

	for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n') {
		if (strncmp(text, metric, len) == 0 && (text[len] == '{' || text[len] == ' '))
			sum += strtoull(text + strcspn(text, " "), NULL, 10);
	}
	return sum;
}

static uint64_t metric_of(struct daemon *daemon, const char *metric)
{
	expect_ctl(daemon, "metrics", NULL, 0);
	return sum_of(said(daemon), metric);
}

/* What a worker that was killed had counted stays, and so does what was before a reload. */
START_TEST(metrics_never_go_back)
{
	struct daemon *daemon = new_with_socket(2);
	unsigned n_started;
	int client;

	daemon_start(daemon);
	for (unsigned round = 1; round <= 3; round++) {
		client = client_connect(daemon_port(daemon, "main"));
		client_ping(client, "hello");
		ck_assert_uint_eq(metric_of(daemon, "runnel_received_frames_total"), round);
		ck_assert_uint_eq(
		    metric_of(daemon, "runnel_connections_accepted_total"), round);
		ck_assert_uint_eq(metric_of(daemon, "runnel_connections"), 1);
		if (round == 2) {
			expect_ctl(daemon, "reload", NULL, 0);
			ck_assert_uint_eq(metric_of(daemon, "runnel_generation"), 2);
		}
		for (unsigned slot = 0; round == 1 && slot < 2; slot++) {
			n_started = daemon_n_started(daemon, slot);
			kill(daemon_worker(daemon, slot), SIGKILL);
			WAIT_FOR(daemon_n_started(daemon, slot) == n_started + 1);
		}
		close(client);
		WAIT_FOR(metric_of(daemon, "runnel_connections") == 0);
		WAIT_FOR(metric_of(daemon, "runnel_workers_ready") == 2);
		ck_assert_uint_eq(metric_of(daemon, "runnel_connections_closed_total"), round);
	}
	daemon_stop(&daemon);
}
END_TEST

/* Debian's package prometheus has it; PROMTOOL names another. */
START_TEST(promtool_has_nothing_to_say)
{
	struct daemon *daemon = new_with_socket(2);
	const char *promtool = getenv("PROMTOOL");
	char command[512], path[PATH_SIZE], out[PATH_SIZE];
	int status;

	daemon_start(daemon);
	expect_ctl(daemon, "metrics", NULL, 0);
	snprintf(command, sizeof(command), "%s check metrics <%s",
	    promtool != NULL ? promtool : "promtool", path_in(daemon, "said", path));
	path_in(daemon, "checked", out);
	status = process_run("/bin/sh", out, "sh", "-c", command, NULL);
	if (status == 127)
		printf("skipped: promtool is not here (Debian: prometheus)\n");
	else
		ck_assert_msg(status == 0, "promtool: %s", daemon_read(daemon, out));
	daemon_stop(&daemon);
}
END_TEST

/* --- watching --- */

struct terminal {
	int fd; /* the side that sees */
	pid_t pid;
	char text[65536];
	size_t len;
};

static bool has_shown(struct terminal *terminal, const char *text)
{
	size_t room = sizeof(terminal->text) - 1 - terminal->len;
	ssize_t n = read(terminal->fd, terminal->text + terminal->len, room);

	if (n > 0)
		terminal->len += (size_t)n;
	terminal->text[terminal->len] = '\0';
	return strstr(terminal->text, text) != NULL;
}

/* runnelctl status --watch on a terminal of its own with so many rows. */
static void watch(struct terminal *terminal, const struct daemon *daemon, unsigned short rows)
{
	const struct winsize size = { .ws_row = rows, .ws_col = 80 };
	int other;

	*terminal = (struct terminal){ .fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC) };
	ck_assert_int_ge(terminal->fd, 0);
	ck_assert_int_eq(grantpt(terminal->fd), 0);
	ck_assert_int_eq(unlockpt(terminal->fd), 0);
	ck_assert_int_eq(ioctl(terminal->fd, TIOCSWINSZ, &size), 0);
	other = open(ptsname(terminal->fd), O_RDWR | O_NOCTTY | O_CLOEXEC);
	ck_assert_int_ge(other, 0);
	terminal->pid = fork();
	if (terminal->pid == 0) {
		setsid();
		ioctl(other, TIOCSCTTY, 0);
		dup2(other, STDIN_FILENO);
		dup2(other, STDOUT_FILENO);
		dup2(other, STDERR_FILENO);
		execl(RUNNELCTL, "runnelctl", "-c", daemon->conf, "status", "-W", "-i", "20ms",
		    (char *)NULL);
		_exit(127);
	}
	close(other);
	fcntl(terminal->fd, F_SETFL, O_NONBLOCK);
}

#define ENTER "\033[?1049h\033[?7l\033[?25l"
#define LEAVE "\033[?25h\033[?7h\033[?1049l"

/* Ctrl-C comes as on any terminal, and the screen is as it was before. */
START_TEST(watch_gives_the_screen_back)
{
	struct daemon *daemon = new_with_socket(2);
	struct terminal terminal;
	int status;

	daemon_start(daemon);
	watch(&terminal, daemon, 24);
	WAIT_FOR(has_shown(&terminal, "\n all  "));
	WAIT_FOR(has_shown(&terminal, "\033[J\033[H"));
	ck_assert(strncmp(terminal.text, ENTER "\033[Hrunneld ", strlen(ENTER) + 11) == 0);
	ck_assert_ptr_null(strstr(terminal.text, LEAVE));
	ck_assert_int_eq(write(terminal.fd, "\003", 1), 1);
	WAIT_FOR(has_shown(&terminal, LEAVE));
	ck_assert_int_eq(waitpid(terminal.pid, &status, 0), terminal.pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGINT);
	close(terminal.fd);
	daemon_stop(&daemon);
}
END_TEST

/* Ctrl-Z gives it back too, and takes it again afterwards; a small one shows the top. */
START_TEST(watch_can_be_stopped_and_goes_on)
{
	struct daemon *daemon = new_with_socket(2);
	struct terminal terminal;
	int status;

	daemon_start(daemon);
	watch(&terminal, daemon, 4);
	WAIT_FOR(has_shown(&terminal, "\033[J\033[H"));
	ck_assert_ptr_null(strstr(terminal.text, "SLOT"));
	ck_assert_int_eq(kill(terminal.pid, SIGTSTP), 0);
	WAIT_FOR(has_shown(&terminal, LEAVE));
	ck_assert_int_eq(waitpid(terminal.pid, &status, WUNTRACED), terminal.pid);
	ck_assert(WIFSTOPPED(status));
	ck_assert_int_eq(kill(terminal.pid, SIGCONT), 0);
	WAIT_FOR(has_shown(&terminal, LEAVE ENTER));
	ck_assert_int_eq(kill(terminal.pid, SIGTERM), 0);
	ck_assert_int_eq(waitpid(terminal.pid, &status, 0), terminal.pid);
	ck_assert(WIFSIGNALED(status));
	close(terminal.fd);
	daemon_stop(&daemon);
}
END_TEST

/* It sees the daemon go and another come. */
START_TEST(watch_goes_on_without_a_daemon)
{
	struct daemon *daemon = new_with_socket(1);
	struct terminal terminal;

	watch(&terminal, daemon, 24);
	WAIT_FOR(has_shown(&terminal, "\033[Hnot running: control socket "));
	daemon_start(daemon);
	WAIT_FOR(has_shown(&terminal, " is serving: "));
	daemon_signal(daemon, SIGTERM);
	terminal.len = 0;
	WAIT_FOR(has_shown(&terminal, "\033[Hnot running: control socket "));
	kill(terminal.pid, SIGTERM);
	waitpid(terminal.pid, NULL, 0);
	close(terminal.fd);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_ctl");
	TCase *commands = run_case(suite, "commands");
	TCase *metrics = run_case(suite, "metrics");
	TCase *watching = run_case(suite, "watching");

	tcase_add_test(commands, status_is_a_table);
	tcase_add_test(commands, socket_is_found_or_named);
	tcase_add_test(commands, conf_shows_what_is_in_force);
	tcase_add_test(commands, log_is_opened_anew);
	tcase_add_test(commands, log_level_lasts_till_the_next_reload);
	tcase_add_test(commands, reload_brings_the_level_of_the_conf_back);
	tcase_add_loop_test(commands, ends_are_waited_for, 0, 3);
	tcase_add_test(commands, wait_has_the_limit_that_is_given);
	tcase_add_test(metrics, metrics_never_go_back);
	tcase_add_test(metrics, promtool_has_nothing_to_say);
	tcase_add_test(watching, watch_gives_the_screen_back);
	tcase_add_test(watching, watch_can_be_stopped_and_goes_on);
	tcase_add_test(watching, watch_goes_on_without_a_daemon);
	return run_suite(suite);
}
