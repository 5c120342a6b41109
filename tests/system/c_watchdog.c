/*
 * The watchdog: what happens when a worker's loop does not come round.
 */
#include "config.h"

#include <signal.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/process.h"
#include "system/run.h"

#define N_CLIENTS 64

#define LISTEN PROBE_SECTION "listen main { address = \"127.0.0.1:0\" modules = { probe } }\n"

static struct daemon *start(unsigned n_workers, const char *options)
{
	struct daemon *daemon = daemon_new(n_workers, "%s%s", options, LISTEN);

	daemon_start(daemon);
	return daemon;
}

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

START_TEST(clients_of_a_stopped_worker_are_served_by_another)
{
	struct daemon *daemon = start(4, "watchdog-timeout = 10m\nwatchdog-adopt = 300ms\n");
	uint16_t port = daemon_port(daemon, "main");
	int fd = probe_connect_to_worker(port, 2), other;
	pid_t stopped = daemon_worker(daemon, 2);

	process_stop(stopped);
	for (int round = 0; round < 3; round++)
		expect_all_served(port);
	daemon_signal(daemon, SIGRTMIN);
	WAIT_FOR(daemon_has_logged(daemon, "worker 2: stale"));
	/* It goes on: its clients are its own again. */
	ck_assert_int_eq(kill(stopped, SIGCONT), 0);
	client_ping(fd, "back");
	other = probe_connect_to_worker(port, 2);
	close(other);
	close(fd);
	ck_assert_uint_eq(daemon_n_started(daemon, 2), 1);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(stopped_worker_is_killed_and_replaced)
{
	struct daemon *daemon =
	    start(run_workers(_i), "watchdog-timeout = 500ms\nwatchdog-adopt = 300ms\n");
	pid_t stopped = daemon_worker(daemon, 0);

	ck_assert_int_eq(kill(stopped, SIGSTOP), 0);
	WAIT_FOR(daemon_has_logged(daemon, "has not come round for "));
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	expect_all_served(daemon_port(daemon, "main"));
	ck_assert_int_eq(process_state(stopped), '\0');
	daemon_stop(&daemon);
}
END_TEST

/* What it was at stands in the log. */
START_TEST(worker_in_a_handler_that_does_not_return_is_aborted)
{
	struct daemon *daemon = start(2, "watchdog-timeout = 500ms\n");
	int fd = probe_connect_to_worker(daemon_port(daemon, "main"), 1);

	probe_send(fd, PROBE_BUSY, 1, 600000000);
	/* The id begins with the slot, 1 << 48: decimal, as conns and kick have it. */
	WAIT_FOR(daemon_has_logged(daemon, "worker 1: it died with module 'probe' handling a "
					   "message (message id 8, connection 2814749767106"));
	ck_assert(daemon_has_logged(daemon, "signal 6"));
	WAIT_FOR(daemon_n_started(daemon, 1) == 2);
	close(fd);
	expect_all_served(daemon_port(daemon, "main"));
	daemon_stop(&daemon);
}
END_TEST

START_TEST(watchdog_of_0_kills_nobody)
{
	struct daemon *daemon = start(1, "watchdog-timeout = 0\nwatchdog-adopt = 0\n");
	int fd = client_connect(daemon_port(daemon, "main"));

	probe_send(fd, PROBE_BUSY, 1, 3000000);
	client_await_read(fd);
	client_receive(fd, (char[12]){ 0 }, 12);
	close(fd);
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 1);
	daemon_stop(&daemon);
}
END_TEST

/* A whole daemon that was stopped, as by Ctrl-Z, goes on as if nothing had been. */
START_TEST(time_in_which_the_master_stood_still_does_not_count)
{
	struct daemon *daemon = start(2, "watchdog-timeout = 1500ms\n");
	uint64_t start_ms;
	int fd = client_connect(daemon_port(daemon, "main"));

	client_ping(fd, "before");
	ck_assert_int_eq(kill(daemon->pid, SIGSTOP), 0);
	for (unsigned slot = 0; slot < 2; slot++)
		ck_assert_int_eq(kill(daemon_worker(daemon, slot), SIGSTOP), 0);
	start_ms = wait_now_ms();
	WAIT_FOR(wait_now_ms() > start_ms + 2000);
	ck_assert_int_eq(kill(daemon->pid, SIGCONT), 0);
	for (unsigned slot = 0; slot < 2; slot++)
		ck_assert_int_eq(kill(daemon_worker(daemon, slot), SIGCONT), 0);
	client_ping(fd, "after");
	close(fd);
	daemon_end(daemon);
	ck_assert(!daemon_has_logged(daemon, "has not come round"));
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(slow_handler_is_logged_and_stands_in_the_status)
{
	struct daemon *daemon = start(1, "slow-handler = 500ms\n");
	int fd = client_connect(daemon_port(daemon, "main"));

	client_ping(fd, "fast");
	ck_assert(!daemon_has_logged(daemon, "slow handler"));
	probe_send(fd, PROBE_BUSY, 1, 700000);
	client_receive(fd, (char[12]){ 0 }, 12);
	WAIT_FOR(daemon_has_logged(daemon, "slow handler: module 'probe': message id 8 took "));
	daemon_signal(daemon, SIGRTMIN);
	WAIT_FOR(daemon_has_logged(daemon, "slowest handler "));
	ck_assert(daemon_has_logged(daemon, "(module 'probe', id 8)"));
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_watchdog");
	TCase *tcase = run_case(suite, "watchdog");

	tcase_add_test(tcase, clients_of_a_stopped_worker_are_served_by_another);
	run_add_workers(tcase, stopped_worker_is_killed_and_replaced);
	tcase_add_test(tcase, worker_in_a_handler_that_does_not_return_is_aborted);
	tcase_add_test(tcase, watchdog_of_0_kills_nobody);
	tcase_add_test(tcase, time_in_which_the_master_stood_still_does_not_count);
	tcase_add_test(tcase, slow_handler_is_logged_and_stands_in_the_status);
	return run_suite(suite);
}
