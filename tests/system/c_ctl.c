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
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/client.h"
#include "system/ctl.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

START_TEST(status_is_a_table)
{
	struct daemon *daemon = ctl_daemon(2);
	char row[128];
	int client;

	ctl_expect(daemon, "status", 3);
	ctl_expect_said(daemon, "runnelctl: not running: control socket ");
	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "count me");
	ctl_expect(daemon, "status -i10ms", 0);
	ctl_expect_said(daemon, "runneld " PACKAGE_VERSION " is serving: pid ");
	ctl_expect_said(daemon, "\n1 connection, balance 2.00\n\nSLOT  STATE  ");
	for (unsigned slot = 0; slot < 2; slot++) {
		snprintf(row, sizeof(row), "\n   %u  ready  %d  ", slot,
		    (int)daemon_worker(daemon, slot));
		ctl_expect_said(daemon, row);
	}
	ctl_expect_said(daemon, "\n all  ");
	/* Rates are known, and no reply was written meanwhile. */
	ctl_expect_said(daemon, "      0      0    -        0  -\n");
	ctl_expect(daemon, "status -i0", 0);
	ctl_expect_said(daemon, "      -      -    -        0  -\n");
	ctl_expect(daemon, "status -j", 0);
	ctl_expect_said(daemon, "{\"ok\":true,\"version\":\"" PACKAGE_VERSION "\",");
	ctl_expect_said(daemon, "\"slowest\":null,\"counters\":{");
	close(client);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(socket_is_found_or_named)
{
	struct daemon *daemon = ctl_daemon(1);
	char path[CTL_PATH_SIZE], out[CTL_PATH_SIZE];

	daemon_start(daemon);
	ctl_path(daemon, "sock", path);
	ctl_path(daemon, "said", out);
	ck_assert_int_eq(
	    process_run(CTL_PROGRAM, out, "runnelctl", "version", "-s", path, NULL), 0);
	ck_assert_str_eq(ctl_said(daemon), "runneld " PACKAGE_VERSION "\n");
	ck_assert_int_eq(process_run(CTL_PROGRAM, ctl_path(daemon, "file", out), "runnelctl",
			     "version", "-s", daemon->conf, NULL),
	    1);
	ck_assert_ptr_nonnull(
	    strstr(daemon_read(daemon, out), ": it is there and is no socket\n"));
	/* A conf that is no longer good is good enough. */
	ctl_append(daemon, "colour = red\n");
	ctl_expect(daemon, "version", 0);
	daemon_set_conf(daemon, "workers = 1\n");
	ctl_expect(daemon, "version", 1);
	ctl_expect_said(daemon, "names no control-socket; set one, or give its path with -s");
	ctl_expect(daemon, "status", 4);
	ctl_expect(daemon, "versoin", 2);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(conf_shows_what_is_in_force)
{
	struct daemon *daemon = ctl_daemon(2);

	ctl_append(daemon, "drain-timeout = 5s\n");
	daemon_start(daemon);
	ctl_append(daemon, "slow-handler = 1s\n");
	ctl_expect(daemon, "conf", 0);
	ctl_expect_said(daemon, ", generation 1\n");
	ctl_expect_said(daemon, "\ndrain-timeout = 5s # default: 30s\n");
	ctl_expect_said(daemon, "\nslow-handler = 100ms\n");
	ctl_expect(daemon, "reload", 0);
	ck_assert_str_eq(ctl_said(daemon), "generation 2 serves\n");
	ctl_expect(daemon, "conf", 0);
	ctl_expect_said(daemon, ", generation 2\n");
	ctl_expect_said(daemon, "\nslow-handler = 1s # default: 100ms\n");
	ctl_append(daemon, "colour = red\n");
	ctl_expect(daemon, "reload", 1);
	ctl_expect_said(daemon, "runnelctl: reload: ");
	ctl_expect_said(daemon, "colour: no such option");
	ctl_expect(daemon, "reload --json", 1);
	ctl_expect_said(daemon, "{\"ok\":false,\"error\":\"");
	ctl_expect(daemon, "status -i0", 0);
	ctl_expect_said(daemon, "\nlast change: reload failed, generation 2 goes on: ");
	ctl_expect(daemon, "status -j", 0);
	ctl_expect_said(daemon, "\"last_change_successful\":false,");
	daemon_signal(daemon, SIGTTOU);
	WAIT_FOR(daemon_has_logged(daemon, "generation 3 serves"));
	ctl_expect(daemon, "status -i0", 0);
	ck_assert_ptr_null(strstr(ctl_said(daemon), "last change"));
	daemon_stop(&daemon);
}
END_TEST

/* What is taken once stays as it is, and nobody is left to believe otherwise. */
START_TEST(reload_says_what_it_does_not_change)
{
	static const char line[] = "control-group: it changes at the next start or upgrade\n";
	struct daemon *daemon = ctl_daemon(1);
	char out[CTL_PATH_SIZE];

	daemon_start(daemon);
	ctl_append(daemon, "control-group = \"root\"\n");
	ctl_expect(daemon, "reload", 0);
	ck_assert_str_eq(ctl_said(daemon) + strlen("generation 2 serves\n"), line);
	ck_assert(daemon_has_logged(daemon, "]: control-group: it changes at"));
	ctl_expect(daemon, "conf", 0);
	ctl_expect_said(
	    daemon, ", generation 2\n# control-group: it changes at the next start");
	ctl_expect(daemon, "reload --json", 0);
	ctl_expect_said(daemon,
	    "\"generation\":3,\"warnings\":[\"control-group: it changes at the next start or "
	    "upgrade\"]}");
	ck_assert_int_eq(process_run(BUILD_DIR "/runneld", ctl_path(daemon, "told", out),
			     "runneld", "-c", daemon->conf, "-s", "reload", NULL),
	    0);
	ck_assert_str_eq(daemon_read(daemon, out), line);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(routes_are_told)
{
	struct daemon *daemon = ctl_daemon(1);

	daemon_start(daemon);
	ctl_expect(daemon, "routes", 0);
	ctl_expect_said(daemon, "Routes: message ids, and the modules that see them");
	ctl_expect_said(daemon, "\n\nlisten main\n    ");
	ctl_expect_said(daemon, " echo");
	daemon_stop(&daemon);
}
END_TEST

START_TEST(log_is_opened_anew)
{
	struct daemon *daemon = ctl_daemon(1);
	char moved[CTL_PATH_SIZE];

	daemon_start(daemon);
	ck_assert_int_eq(rename(daemon->log, ctl_path(daemon, "moved", moved)), 0);
	ctl_expect(daemon, "reopen", 0);
	ck_assert_str_eq(ctl_said(daemon), "the log is opened anew\n");
	ck_assert_int_eq(access(daemon->log, F_OK), 0);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(upgrade_is_told)
{
	struct daemon *daemon = ctl_daemon(1);
	char path[CTL_PATH_SIZE], option[CTL_PATH_SIZE + 20];

	snprintf(option, sizeof(option), "pid-file = \"%s\"\n", ctl_path(daemon, "pid", path));
	ctl_append(daemon, option);
	daemon_start(daemon);
	ctl_expect(daemon, "upgrade", 0);
	ck_assert_str_eq(ctl_said(daemon), "the new master serves\n");
	WAIT_FOR(daemon_has_ended(daemon));
	daemon_attach(daemon, path);
	daemon_stop(&daemon);
}
END_TEST

static bool has_no_connection(struct daemon *daemon)
{
	ctl_expect(daemon, "conns --json", 0);
	return strstr(ctl_said(daemon), "\"found\":0,\"silent\":[],") != NULL;
}

/* A worker logs the end of each connection, at level debug only. */
static bool logs_connections(struct daemon *daemon)
{
	unsigned n = daemon_n_logged(daemon, " debug worker 0[");
	int client = client_connect(daemon_port(daemon, "main"));

	client_ping(client, "hello");
	close(client);
	WAIT_FOR(has_no_connection(daemon));
	return daemon_n_logged(daemon, " debug worker 0[") > n;
}

START_TEST(log_level_lasts_till_the_next_reload)
{
	struct daemon *daemon = ctl_daemon(1);
	unsigned n_started;

	daemon_start(daemon);
	ck_assert(!logs_connections(daemon));
	ctl_expect(daemon, "log-level debug", 0);
	ck_assert_str_eq(ctl_said(daemon), "log-level is debug till the next reload\n");
	ck_assert(logs_connections(daemon));
	/* A reload that fails changes nothing. */
	ctl_append(daemon, "colour = red\n");
	ctl_expect(daemon, "reload", 1);
	ck_assert(logs_connections(daemon));
	/* A worker that is started later logs as the others, after that too. */
	n_started = daemon_n_started(daemon, 0);
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGKILL), 0);
	WAIT_FOR(daemon_n_started(daemon, 0) == n_started + 1);
	ck_assert(logs_connections(daemon));
	ctl_expect(daemon, "log-level loud", 1);
	ctl_expect_said(daemon, "level: there is no 'loud': give error, warn, info or debug");
	ck_assert(logs_connections(daemon));
	ctl_expect(daemon, "log-level info", 0);
	ck_assert(!logs_connections(daemon));
	daemon_stop(&daemon);
}
END_TEST

START_TEST(reload_brings_the_level_of_the_conf_back)
{
	struct daemon *daemon = ctl_daemon(1);

	daemon_start(daemon);
	ctl_expect(daemon, "log-level debug", 0);
	ctl_expect(daemon, "reload", 0);
	/* The worker before, which is to end, logs and accepts as it did. */
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	ck_assert(!logs_connections(daemon));
	ctl_expect(daemon, "log-level debug", 0);
	ck_assert(logs_connections(daemon));
	daemon_stop(&daemon);
}
END_TEST

START_TEST(ends_are_waited_for)
{
	static const char *const ends[] = { "stop", "quit", "fast-stop" };
	struct daemon *daemon = ctl_daemon(2);
	char state;
	int client;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "hello");
	ctl_expect(daemon, ends[_i], 0);
	state = process_state(daemon->pid);
	ck_assert(state == '\0' || state == 'Z');
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	ctl_expect(daemon, ends[_i], 3);
	close(client);
	daemon_destroy(&daemon);
}
END_TEST

/* A daemon that stands still is not waited for longer than is said. */
START_TEST(wait_has_the_limit_that_is_given)
{
	struct daemon *daemon = ctl_daemon(1);

	daemon_start(daemon);
	process_stop(daemon->pid);
	ctl_expect(daemon, "status -w10ms", 4);
	ctl_expect_said(daemon, "runnelctl: status: no answer");
	ctl_expect(daemon, "reload -w10ms", 1);
	daemon_signal(daemon, SIGCONT);
	daemon_stop(&daemon);
}
END_TEST

/* Nor when so many wait that it would have to accept one of them first. */
START_TEST(wait_has_its_limit_before_the_connection_is_there)
{
	struct daemon *daemon = ctl_daemon(1);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char path[CTL_PATH_SIZE];
	int fds[300];
	size_t n = 0;

	daemon_start(daemon);
	process_stop(daemon->pid);
	ctl_path(daemon, "sock", path);
	ck_assert_uint_lt(strlen(path), sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path) + 1);
	do {
		ck_assert_uint_lt(n, sizeof(fds) / sizeof(fds[0]));
		fds[n] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		ck_assert_int_ge(fds[n], 0);
	} while (connect(fds[n++], (struct sockaddr *)&address, sizeof(address)) == 0);
	ctl_expect(daemon, "version -w10ms", 1);
	/* The limit of the connect alone would be 10 s. */
	ctl_expect_said(daemon, "runnelctl: version: no answer in 0 s\n");
	while (n > 0)
		close(fds[--n]);
	daemon_signal(daemon, SIGCONT);
	daemon_stop(&daemon);
}
END_TEST

/* A terminal does what a path says, if it is shown raw. */
START_TEST(path_of_the_conf_is_shown_escaped)
{
	static const char shown[] = "/x\\x0ay\\x1b[31m\\x9b2J";
	struct daemon *daemon = ctl_daemon(1);
	char path[sizeof(daemon->conf)], told[CTL_PATH_SIZE];

	ck_assert_int_lt(snprintf(path, sizeof(path),
			     "%s/x\ny\033[31m\xc2\x9b"
			     "2J",
			     daemon->folder),
	    (int)sizeof(path));
	ck_assert_int_eq(rename(daemon->conf, path), 0);
	strcpy(daemon->conf, path);
	daemon_start(daemon);
	ctl_expect(daemon, "conf", 0);
	ctl_expect_said(daemon, shown);
	ctl_expect(daemon, "status -i0", 0);
	ctl_expect_said(daemon, shown);
	ck_assert_int_eq(process_run(BUILD_DIR "/runneld", ctl_path(daemon, "told", told),
			     "runneld", "-s", "status", "-c", path, NULL),
	    0);
	ck_assert_ptr_nonnull(strstr(daemon_read(daemon, told), shown));
	daemon_stop(&daemon);
}
END_TEST

START_TEST(output_that_is_lost_is_told)
{
	static const char *const words[] = { "-h", "-V", "conf", "stop" };
	struct daemon *daemon = ctl_daemon(1);
	char path[CTL_PATH_SIZE];

	daemon_start(daemon);
	ctl_path(daemon, "sock", path);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		ck_assert_int_eq(process_run(CTL_PROGRAM, "/dev/full", "runnelctl", "-j", "-s",
				     path, words[i], NULL),
		    1);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	daemon_destroy(&daemon);
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
	ctl_expect(daemon, "metrics", 0);
	return sum_of(ctl_said(daemon), metric);
}

/* What a worker that was killed had counted stays, and so does what was before a reload. */
START_TEST(metrics_never_go_back)
{
	struct daemon *daemon = ctl_daemon(2);
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
			ctl_expect(daemon, "reload", 0);
			WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
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

/* What the alerts of contrib/prometheus are about. */
START_TEST(metrics_tell_what_alerts_want_to_know)
{
	struct daemon *daemon = ctl_daemon(2);
	int client;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "hello");
	ck_assert_uint_eq(metric_of(daemon, "runnel_listener_connections"), 1);
	ck_assert_uint_gt(metric_of(daemon, "runnel_listener_connections_limit"), 100);
	ck_assert_uint_eq(metric_of(daemon, "runnel_worker_crashes_total"), 0);
	ck_assert_uint_eq(metric_of(daemon, "runnel_last_change_successful"), 1);
	kill(daemon_worker(daemon, 0), SIGKILL);
	WAIT_FOR(metric_of(daemon, "runnel_worker_crashes_total") == 1);
	WAIT_FOR(metric_of(daemon, "runnel_workers_ready") == 2);
	ctl_append(daemon, "nonsense = 1\n");
	ctl_expect(daemon, "reload", 1);
	ck_assert_uint_eq(metric_of(daemon, "runnel_last_change_successful"), 0);
	daemon_signal(daemon, SIGTTIN);
	WAIT_FOR(metric_of(daemon, "runnel_workers_ready") == 3);
	ck_assert_uint_eq(metric_of(daemon, "runnel_last_change_successful"), 1);
	daemon->n_workers = 3;
	close(client);
	WAIT_FOR(metric_of(daemon, "runnel_listener_connections") == 0);
	daemon_stop(&daemon);
}
END_TEST

/* Debian's package prometheus has it; PROMTOOL names another. */
START_TEST(promtool_has_nothing_to_say)
{
	struct daemon *daemon = ctl_daemon(2);
	const char *promtool = getenv("PROMTOOL");
	char command[512], path[CTL_PATH_SIZE], out[CTL_PATH_SIZE];
	int status;

	daemon_start(daemon);
	ctl_expect(daemon, "metrics", 0);
	snprintf(command, sizeof(command), "%s check metrics <%s",
	    promtool != NULL ? promtool : "promtool", ctl_path(daemon, "said", path));
	ctl_path(daemon, "checked", out);
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
		execl(CTL_PROGRAM, "runnelctl", "-c", daemon->conf, "status", "-W", "-i",
		    "20ms", (char *)NULL);
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
	struct daemon *daemon = ctl_daemon(2);
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
	struct daemon *daemon = ctl_daemon(2);
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
	struct daemon *daemon = ctl_daemon(1);
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
	tcase_add_test(commands, reload_says_what_it_does_not_change);
	tcase_add_test(commands, routes_are_told);
	tcase_add_test(commands, log_is_opened_anew);
	tcase_add_test(commands, upgrade_is_told);
	tcase_add_test(commands, log_level_lasts_till_the_next_reload);
	tcase_add_test(commands, reload_brings_the_level_of_the_conf_back);
	tcase_add_loop_test(commands, ends_are_waited_for, 0, 3);
	tcase_add_test(commands, wait_has_the_limit_that_is_given);
	tcase_add_test(commands, wait_has_its_limit_before_the_connection_is_there);
	tcase_add_test(commands, path_of_the_conf_is_shown_escaped);
	tcase_add_test(commands, output_that_is_lost_is_told);
	tcase_add_test(metrics, metrics_never_go_back);
	tcase_add_test(metrics, metrics_tell_what_alerts_want_to_know);
	tcase_add_test(metrics, promtool_has_nothing_to_say);
	tcase_add_test(watching, watch_gives_the_screen_back);
	tcase_add_test(watching, watch_can_be_stopped_and_goes_on);
	tcase_add_test(watching, watch_goes_on_without_a_daemon);
	return run_suite(suite);
}
