/*
 * drain: another worker takes the place of one, and clients do not notice.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/client.h"
#include "system/ctl.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/process.h"
#include "system/run.h"

#define N_CLIENTS 64

/* A probe whose workers start as long as there is a file "slow" in the folder. */
static struct daemon *start_probe(
    unsigned n_workers, const char *options, const char *listen_options)
{
	struct daemon *daemon = daemon_new(n_workers,
	    "listen main { address = \"127.0.0.1:0\" modules = { probe } %s }\n",
	    listen_options);
	char text[600], sock[CTL_PATH_SIZE], slow[CTL_PATH_SIZE];

	snprintf(text, sizeof(text),
	    "control-socket = \"%s\"\ndrain-timeout = 10s\n"
	    "module probe { path = \"" PROBE_PATH "\" on-start = \"%s\" %s }\n",
	    ctl_path(daemon, "sock", sock), ctl_path(daemon, "slow", slow), options);
	ctl_append(daemon, text);
	daemon_start(daemon);
	return daemon;
}

static void set_slow(struct daemon *daemon, bool is_slow)
{
	char path[CTL_PATH_SIZE];

	ctl_path(daemon, "slow", path);
	if (is_slow)
		close(open(path, O_WRONLY | O_CREAT, 0600));
	else
		unlink(path);
}

/* "drain 0" by a process of its own, whose exit status await() has. */
static pid_t begin_drain(struct daemon *daemon)
{
	char said[CTL_PATH_SIZE];
	pid_t pid;

	ctl_path(daemon, "drained", said);
	unlink(said);
	pid = fork();
	if (pid == 0)
		_exit(process_run(
		    CTL_PROGRAM, said, "runnelctl", "-c", daemon->conf, "drain", "0", NULL));
	return pid;
}

static void await_drain(struct daemon *daemon, pid_t pid, int expected, const char *text)
{
	char said[CTL_PATH_SIZE];
	const char *all;
	int status;

	WAIT_FOR(waitpid(pid, &status, WNOHANG) == pid);
	all = daemon_read(daemon, ctl_path(daemon, "drained", said));
	ck_assert_msg(strstr(all, text) != NULL, "no '%s' in: %s", text, all);
	ck_assert_int_eq(WEXITSTATUS(status), expected);
}

/* Many clients, some of which connect anew all the time; each reply is checked. */
static pid_t start_load(struct daemon *daemon)
{
	char server[32];
	pid_t pid;
	int fd;

	snprintf(server, sizeof(server), "127.0.0.1:%u", daemon_port(daemon, "main"));
	pid = fork();
	if (pid == 0) {
		fd = open(daemon->out, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execl(BUILD_DIR "/runnel-bench", "runnel-bench", "--no-progress", "-D", "50s",
		    "-c", "500", "-d", "4s", "-e", "64", "-p", "4", "-r", "1%", server,
		    (char *)NULL);
		_exit(127);
	}
	return pid;
}

START_TEST(under_load_no_connect_fails_and_no_reply_is_lost)
{
	struct daemon *daemon = ctl_daemon(2);
	unsigned n = 0;
	int status;
	pid_t load;

	daemon_start(daemon);
	load = start_load(daemon);
	while (waitpid(load, &status, WNOHANG) == 0) {
		ctl_expect(daemon, n % 2 == 0 ? "drain 0" : "drain 1", 0);
		ctl_expect_said(daemon, " 0 closed\n");
		n++;
	}
	ck_assert_msg(status == 0, "runnel-bench: %s", daemon_read(daemon, daemon->out));
	ck_assert_uint_ge(n, 2);
	daemon_end(daemon);
	ck_assert_uint_gt(daemon_counter(daemon, "moved_out"), 0);
	daemon_expect_counter(daemon, "moved_in", daemon_counter(daemon, "moved_out"));
	daemon_expect_counter(daemon, "closed_shutdown", 0);
	daemon_expect_counter(daemon, "closed_drain_timeout", 0);
	daemon_expect_counter(daemon, "closed_worker_died", 0);
	daemon_expect_counter(daemon, "frames_in", daemon_counter(daemon, "frames_out"));
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(connections_go_to_the_new_worker_of_their_slot)
{
	struct daemon *daemon = start_probe(run_workers(_i), "moves = true", "");
	uint16_t port = daemon_port(daemon, "main");
	struct identity before[N_CLIENTS];
	unsigned n_moved = 0;
	char text[64];
	int fds[N_CLIENTS];
	pid_t worker = daemon_worker(daemon, 0);

	for (int i = 0; i < N_CLIENTS; i++) {
		fds[i] = client_connect(port);
		before[i] = probe_who(fds[i]);
		n_moved += before[i].worker == 0;
	}
	ctl_expect(daemon, "drain 0", 0);
	ck_assert_int_ne(daemon_worker(daemon, 0), worker);
	ck_assert_int_eq(process_state(worker), 0);
	snprintf(text, sizeof(text), "pid %d serves; %u connection%s moved to it, 0 closed\n",
	    (int)daemon_worker(daemon, 0), n_moved, n_moved == 1 ? "" : "s");
	ctl_expect_said(daemon, text);
	for (int i = 0; i < N_CLIENTS; i++) {
		struct identity after = probe_who(fds[i]);

		ck_assert(after.id == before[i].id);
		ck_assert_uint_eq(after.worker, before[i].worker);
		close(fds[i]);
	}
	for (unsigned slot = 1; slot < daemon->n_workers; slot++)
		ck_assert_uint_eq(daemon_n_started(daemon, slot), 1);
	ctl_expect(daemon, "status --json", 0);
	ctl_expect_said(daemon, "\"leaving\":null");
	ctl_expect_said(daemon, "\"generation\":1,");
	/* Connections that come later are accepted by it. */
	close(probe_connect_to_worker(port, 0));
	daemon_stop(&daemon);
}
END_TEST

START_TEST(those_that_cannot_move_are_closed_in_order)
{
	struct daemon *daemon = start_probe(1, "", "");
	int fd = client_connect(daemon_port(daemon, "main"));
	pid_t drain;

	probe_who(fd);
	drain = begin_drain(daemon);
	client_expect_eof(fd);
	close(fd);
	await_drain(daemon, drain, 0, " 0 connections moved to it, 1 closed\n");
	daemon_stop(&daemon);
}
END_TEST

START_TEST(connections_to_upstreams_are_not_counted)
{
	struct daemon *backend = ctl_daemon(1), *daemon;
	char text[CTL_PATH_SIZE + 30], sock[CTL_PATH_SIZE];

	daemon_start(backend);
	daemon = daemon_new(1,
	    "module relay { upstream = game ids = 1 }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { relay } max-message = 512 }\n"
	    "connect game { address = \"127.0.0.1:%u\" modules = { relay } }\n",
	    daemon_port(backend, "main"));
	snprintf(
	    text, sizeof(text), "control-socket = \"%s\"\n", ctl_path(daemon, "sock", sock));
	ctl_append(daemon, text);
	daemon_start(daemon);
	WAIT_FOR(daemon_has_logged(daemon, ": connected"));
	ctl_expect(daemon, "drain 0", 0);
	ctl_expect_said(daemon, " 0 connections moved to it, 0 closed\n");
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_shutdown", 2);
	daemon_destroy(&daemon);
	daemon_stop(&backend);
}
END_TEST

#define LATE_OPTIONS "send-queue-bytes = 64M send-queue-messages = 10000 send-timeout = 0"
#define LATE_BYTES (9000 * 1008 + 12)

/* A connection to slot 0 that keeps its worker until what was sent to it is read. */
static int connect_late(struct daemon *daemon)
{
	int fd = client_connect_small(daemon_port(daemon, "main"));

	while (probe_who(fd).worker != 0) {
		close(fd);
		fd = client_connect_small(daemon_port(daemon, "main"));
	}
	probe_send(fd, PROBE_FLOOD, 2, 9000, 1000);
	client_await_read(fd);
	return fd;
}

static void read_late(int fd)
{
	uint8_t *all = malloc(LATE_BYTES);

	ck_assert_ptr_nonnull(all);
	client_receive(fd, all, LATE_BYTES);
	free(all);
}

START_TEST(one_at_a_time_in_a_slot)
{
	struct daemon *daemon = start_probe(2, "moves = true", LATE_OPTIONS);
	int fd = connect_late(daemon);
	pid_t drain = begin_drain(daemon);

	WAIT_FOR(daemon_has_logged(daemon, ", which drains"));
	ctl_expect(daemon, "drain 0", 1);
	ctl_expect_said(daemon, "worker 0: the worker before it still drains");
	ctl_expect(daemon, "status --json", 0);
	ctl_expect_said(daemon, "\"leaving\":{\"pid\":");
	ctl_expect_said(daemon, ",\"connections\":1}");
	ctl_expect(daemon, "status -i0", 0);
	ctl_expect_said(daemon, "\n   0  draining  ");
	ctl_expect(daemon, "conns --json", 0);
	ctl_expect_said(daemon, "\"found\":1,");
	ctl_expect(daemon, "drain 1", 0);
	read_late(fd);
	await_drain(daemon, drain, 0, " 1 connection moved to it, 0 closed\n");
	ck_assert_uint_eq(probe_who(fd).worker, 0);
	ctl_expect(daemon, "drain 0", 0);
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(what_is_no_worker_is_refused)
{
	struct daemon *daemon = start_probe(2, "", "");

	ctl_expect(daemon, "drain 2", 1);
	ctl_expect_said(daemon, "there is no worker 2; the last one is 1");
	ctl_expect(daemon, "drain 256", 1);
	ctl_expect_said(daemon, "give the number of a slot");
	ctl_expect(daemon, "drain all", 1);
	ctl_expect_said(daemon, "'all' is no number of a worker");
	ctl_expect(daemon, "drain", 2);
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 1);
	daemon_stop(&daemon);
}
END_TEST

/* A copy of the module, which can be taken away. */
START_TEST(one_that_cannot_be_replaced_goes_on)
{
	struct daemon *daemon = daemon_new(1, "%s", "");
	char text[600], sock[CTL_PATH_SIZE], module[CTL_PATH_SIZE];
	pid_t worker;
	int fd;

	snprintf(text, sizeof(text),
	    "control-socket = \"%s\"\nmodule echo { path = \"%s\" }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { echo } }\n",
	    ctl_path(daemon, "sock", sock), ctl_path(daemon, "echo.so", module));
	ctl_append(daemon, text);
	ck_assert_int_eq(process_run("/bin/cp", "/dev/null", "cp", OUR_MODULES "/echo.so",
			     daemon->folder, NULL),
	    0);
	daemon_start(daemon);
	worker = daemon_worker(daemon, 0);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "before");
	ck_assert_int_eq(unlink(module), 0);
	ctl_expect(daemon, "drain 0", 1);
	snprintf(text, sizeof(text), "its replacement could not start, so pid %d goes on",
	    (int)worker);
	ctl_expect_said(daemon, text);
	client_ping(fd, "after");
	close(fd);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "a new one");
	close(fd);
	ck_assert_int_eq(process_run("/bin/cp", "/dev/null", "cp", OUR_MODULES "/echo.so",
			     daemon->folder, NULL),
	    0);
	ctl_expect(daemon, "drain 0", 0);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(one_that_dies_is_replaced_by_what_was_started)
{
	struct daemon *daemon = start_probe(1, "", "");
	pid_t drain;
	int fd;

	set_slow(daemon, true);
	drain = begin_drain(daemon);
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	ctl_expect(daemon, "status --json", 0);
	ck_assert_int_eq(
	    kill(atoi(strstr(ctl_said(daemon), "\"ready\",\"pid\":") + 14), SIGKILL), 0);
	await_drain(daemon, drain, 1, "it died before its replacement");
	set_slow(daemon, false);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "served");
	close(fd);
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 2);
	daemon_stop(&daemon);
}
END_TEST

/* It is stopped, so it cannot leave. */
START_TEST(one_that_does_not_leave_is_killed)
{
	struct daemon *daemon = daemon_new(1,
	    "drain-timeout = 100ms\nwatchdog-timeout = 0\n"
	    "module echo { }\nlisten main { address = \"127.0.0.1:0\" modules = { echo } }\n");
	char text[256], sock[CTL_PATH_SIZE];
	int fd;

	snprintf(
	    text, sizeof(text), "control-socket = \"%s\"\n", ctl_path(daemon, "sock", sock));
	ctl_append(daemon, text);
	daemon_start(daemon);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "before");
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGSTOP), 0);
	ctl_expect(daemon, "drain 0", 0);
	ctl_expect_said(daemon, " 0 closed, 1 lost\n");
	ck_assert(daemon_has_logged(daemon, " does not end: killed"));
	close(fd);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "after");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

static void expect_all_served(uint16_t port)
{
	int fds[N_CLIENTS];

	for (int i = 0; i < N_CLIENTS; i++)
		fds[i] = client_connect(port);
	for (int i = 0; i < N_CLIENTS; i++) {
		client_ping(fds[i], "served");
		close(fds[i]);
	}
}

/* What the one before accepted for, its replacement does. */
START_TEST(replacement_accepts_for_a_slot_that_hangs)
{
	struct daemon *daemon = daemon_new(2,
	    "watchdog-adopt = 100ms\nwatchdog-timeout = 0\n"
	    "module echo { }\nlisten main { address = \"127.0.0.1:0\" modules = { echo } }\n");
	char text[256], sock[CTL_PATH_SIZE];

	snprintf(
	    text, sizeof(text), "control-socket = \"%s\"\n", ctl_path(daemon, "sock", sock));
	ctl_append(daemon, text);
	daemon_start(daemon);
	ck_assert_int_eq(kill(daemon_worker(daemon, 1), SIGSTOP), 0);
	expect_all_served(daemon_port(daemon, "main"));
	ctl_expect(daemon, "drain 0", 0);
	ctl_expect(daemon, "status --json", 0);
	ctl_expect_said(daemon, "\"state\":\"stale\"");
	expect_all_served(daemon_port(daemon, "main"));
	ck_assert_int_eq(kill(daemon_worker(daemon, 1), SIGCONT), 0);
	daemon_stop(&daemon);
}
END_TEST

/* The replacement is not ready, and will not be: another generation serves. */
START_TEST(reload_comes_before_a_replacement_that_is_not_ready)
{
	struct daemon *daemon = start_probe(1, "", "");
	char conf[2048], *at;
	pid_t drain;
	int fd;

	set_slow(daemon, true);
	drain = begin_drain(daemon);
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	ctl_expect(daemon, "drain 0", 1);
	ctl_expect_said(daemon, "its replacement is being started already");
	/* The next generation starts at once. */
	snprintf(conf, sizeof(conf), "%s", daemon_read(daemon, daemon->conf));
	at = strstr(conf, "/slow\"");
	ck_assert_ptr_nonnull(at);
	memcpy(at, "/swif\"", 6);
	daemon_set_conf(daemon, conf);
	ctl_expect(daemon, "reload", 0);
	await_drain(daemon, drain, 1, "another change came before the replacement was ready");
	set_slow(daemon, false);
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "served");
	close(fd);
	ctl_expect(daemon, "drain 0", 0);
	daemon_stop(&daemon);
}
END_TEST

/* Its reply keeps it; when that is read it goes to the replacement, and on to the next. */
START_TEST(connection_that_is_late_goes_on_to_the_next_generation)
{
	struct daemon *daemon = start_probe(1, "moves = true", LATE_OPTIONS);
	int fd = connect_late(daemon);
	pid_t drain;

	drain = begin_drain(daemon);
	WAIT_FOR(daemon_has_logged(daemon, ", which drains"));
	ctl_expect(daemon, "reload", 0);
	ck_assert(!daemon_has_logged(daemon, "generation 1 has ended"));
	read_late(fd);
	await_drain(daemon, drain, 0, " 1 connection moved to it, 0 closed\n");
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	ck_assert_uint_eq(probe_who(fd).worker, 0);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "moved_out", 2);
	daemon_expect_counter(daemon, "closed_shutdown", 0);
	daemon_destroy(&daemon);
}
END_TEST

/* In either state of the drain. */
START_TEST(daemon_stops_in_order_meanwhile)
{
	struct daemon *daemon = start_probe(2, "", "");
	int fd = probe_connect_to_worker(daemon_port(daemon, "main"), 0);
	pid_t drain;

	set_slow(daemon, _i == 0);
	drain = begin_drain(daemon);
	if (_i == 0)
		WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	else
		WAIT_FOR(daemon_has_logged(daemon, ", which drains"));
	daemon_signal(daemon, SIGTERM);
	client_expect_eof(fd);
	close(fd);
	await_drain(daemon, drain, _i == 0 ? 1 : 0, _i == 0 ? "another change" : " serves; ");
	set_slow(daemon, false);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_drain");
	TCase *load = run_case(suite, "load");
	TCase *one = run_case(suite, "one");
	TCase *others = run_case(suite, "others");

	tcase_add_test(load, under_load_no_connect_fails_and_no_reply_is_lost);
	run_add_workers(one, connections_go_to_the_new_worker_of_their_slot);
	tcase_add_test(one, those_that_cannot_move_are_closed_in_order);
	tcase_add_test(one, connections_to_upstreams_are_not_counted);
	tcase_add_test(one, one_at_a_time_in_a_slot);
	tcase_add_test(one, what_is_no_worker_is_refused);
	tcase_add_test(one, one_that_cannot_be_replaced_goes_on);
	tcase_add_test(one, one_that_dies_is_replaced_by_what_was_started);
	tcase_add_test(one, one_that_does_not_leave_is_killed);
	tcase_add_test(others, replacement_accepts_for_a_slot_that_hangs);
	tcase_add_test(others, reload_comes_before_a_replacement_that_is_not_ready);
	tcase_add_test(others, connection_that_is_late_goes_on_to_the_next_generation);
	tcase_add_loop_test(others, daemon_stops_in_order_meanwhile, 0, 2);
	return run_suite(suite);
}
