/*
 * Processes: what happens when one of them dies or is told to end.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/process.h"
#include "system/run.h"

#define CONF PROBE_SECTION "listen main { address = \"127.0.0.1:%u\" modules = { probe } }\n"

#define N_CLIENTS 64

static struct daemon *start_probe_at(uint16_t port, unsigned n_workers)
{
	struct daemon *daemon = daemon_new(n_workers, CONF, port);

	daemon_start(daemon);
	return daemon;
}

static struct daemon *start_probe(unsigned n_workers)
{
	return start_probe_at(0, n_workers);
}

/* Connect to a daemon whose worker is stopped, kill that, and connect again: all are served. */
static void connect_over_a_kill(uint16_t port, pid_t victim)
{
	int fds[2 * N_CLIENTS];

	process_stop(victim);
	for (int i = 0; i < N_CLIENTS; i++)
		fds[i] = client_connect(port);
	ck_assert_int_eq(kill(victim, SIGKILL), 0);
	for (int i = N_CLIENTS; i < 2 * N_CLIENTS; i++)
		fds[i] = client_connect(port);
	for (int i = 0; i < 2 * N_CLIENTS; i++) {
		client_ping(fds[i], "patient");
		close(fds[i]);
	}
}

/* Nobody but the dead worker's clients notices. */
START_TEST(killed_worker_harms_only_its_own_connections)
{
	struct daemon *daemon = start_probe(4);
	uint16_t port = daemon_port(daemon, "main");
	struct identity identities[N_CLIENTS];
	int fds[N_CLIENTS], n_lost = 0;
	unsigned victim;

	for (int i = 0; i < N_CLIENTS; i++) {
		fds[i] = client_connect(port);
		identities[i] = probe_who(fds[i]);
	}
	victim = identities[0].worker;
	connect_over_a_kill(port, daemon_worker(daemon, victim));
	for (int i = 0; i < N_CLIENTS; i++) {
		bool is_served = client_try_ping(fds[i]);

		ck_assert_int_eq(is_served, identities[i].worker != victim);
		n_lost += !is_served;
		close(fds[i]);
	}
	WAIT_FOR(daemon_n_started(daemon, victim) == 2);
	for (unsigned slot = 0; slot < 4; slot++)
		ck_assert(slot == victim || daemon_n_started(daemon, slot) == 1);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "accepted", 3 * N_CLIENTS);
	daemon_expect_counter(daemon, "closed_worker_died", n_lost);
	daemon_destroy(&daemon);
}
END_TEST

/* The listening socket is the master's: who has connected meanwhile is served by the next. */
START_TEST(queue_of_a_dead_worker_is_served_by_its_replacement)
{
	struct daemon *daemon = start_probe(1);

	connect_over_a_kill(daemon_port(daemon, "main"), daemon_worker(daemon, 0));
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 2);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(ids_and_counters_go_on_over_a_respawn)
{
	struct daemon *daemon = start_probe(1);
	uint64_t last = 0;

	for (unsigned round = 1; round <= 4; round++) {
		for (int i = 0; i < 5; i++) {
			int fd = client_connect(daemon_port(daemon, "main"));
			uint64_t id = probe_who(fd).id;

			ck_assert_uint_gt(id, last);
			last = id;
			close(fd);
		}
		if (round == 4)
			break;
		ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGKILL), 0);
		WAIT_FOR(daemon_n_started(daemon, 0) == round + 1);
	}
	daemon_end(daemon);
	daemon_expect_counter(daemon, "accepted", 20);
	daemon_expect_counter(daemon, "frames_in", 20);
	daemon_expect_counter(daemon, "frames_out", 20);
	daemon_destroy(&daemon);
}
END_TEST

/* 0, then 0.1 s, then 0.2 s, then 0.4 s; never more than 0.2 s where nobody else serves. */
START_TEST(respawn_backs_off)
{
	static const uint64_t at_least_ms[2][4] = { { 0, 100, 200, 200 },
		{ 0, 100, 200, 400 } };
	struct daemon *daemon = start_probe((unsigned)_i + 1);

	for (unsigned n = 0; n < 4; n++) {
		uint64_t killed_ms = wait_now_ms();

		ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGKILL), 0);
		WAIT_FOR(daemon_n_started(daemon, 0) == n + 2);
		ck_assert_uint_ge(wait_now_ms() - killed_ms + 5, at_least_ms[_i][n]);
	}
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

/*
 * Its slot's clients are served by the other worker, and by the one after that.
 * When slot 0 has been filled again, slot 1 would have been, too.
 */
START_TEST(worker_that_cannot_start_is_not_started_again)
{
	char module[128];
	struct daemon *daemon;
	uint16_t port;

	snprintf(module, sizeof(module), "%s/module-%d.so", run_folder(), (int)getpid());
	ck_assert_int_eq(symlink(PROBE_PATH, module), 0);
	daemon = daemon_new(2,
	    "module probe { path = \"%s\" }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { probe } }\n",
	    module);
	daemon_start(daemon);
	port = daemon_port(daemon, "main");
	ck_assert_int_eq(unlink(module), 0);
	ck_assert_int_eq(kill(daemon_worker(daemon, 1), SIGKILL), 0);
	WAIT_FOR(daemon_has_logged(
	    daemon, "worker 1: not started again: it would fail in the same way"));
	expect_all_served(port);
	ck_assert_int_eq(symlink(PROBE_PATH, module), 0);
	connect_over_a_kill(port, daemon_worker(daemon, 0));
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	expect_all_served(port);
	ck_assert_uint_eq(daemon_n_started(daemon, 1), 2);
	daemon_stop(&daemon);
}
END_TEST

/* Whatever a module calls exit(3) with while it serves. _i: the status. */
START_TEST(worker_that_exits_is_replaced)
{
	struct daemon *daemon = start_probe(1);
	int fd = client_connect(daemon_port(daemon, "main"));

	probe_send(fd, PROBE_EXIT, 1, _i);
	client_expect_end(fd);
	close(fd);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "served by the next");
	close(fd);
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 2);
	ck_assert(!daemon_has_logged(daemon, "not started again"));
	ck_assert(daemon_has_logged(
	    daemon, "it exited with module 'probe' handling a message (message id 49, "));
	daemon_stop(&daemon);
}
END_TEST

/* Whoever comes while the slot's worker is stopped is served by it and by nobody else. */
static bool slot_is_its_own(struct daemon *daemon, unsigned slot)
{
	uint16_t port = daemon_port(daemon, "main");
	int fds[N_CLIENTS], other = probe_connect_to_worker(port, 1 - slot), n_own = 0;

	process_stop(daemon_worker(daemon, slot));
	for (int i = 0; i < N_CLIENTS; i++)
		fds[i] = client_connect(port);
	/* Time for the other worker to take what it may. */
	for (int i = 0; i < 10; i++)
		client_ping(other, "take them");
	ck_assert_int_eq(kill(daemon_worker(daemon, slot), SIGCONT), 0);
	for (int i = 0; i < N_CLIENTS; i++) {
		n_own += probe_who(fds[i]).worker == slot;
		close(fds[i]);
	}
	close(other);
	return n_own > 0;
}

static void kill_worker(struct daemon *daemon, unsigned slot, unsigned n_times)
{
	unsigned n_started = daemon_n_started(daemon, slot);

	for (unsigned n = 1; n <= n_times; n++) {
		ck_assert_int_eq(kill(daemon_worker(daemon, slot), SIGKILL), 0);
		WAIT_FOR(daemon_n_started(daemon, slot) == n_started + n);
	}
}

/* Killed three times in a row, slot 1 is filled again: then its clients are its own. */
START_TEST(slot_that_was_filled_again_has_its_own_clients)
{
	struct daemon *daemon = start_probe(2);
	uint16_t port = daemon_port(daemon, "main");

	kill_worker(daemon, 1, 3);
	expect_all_served(port);
	close(probe_connect_to_worker(port, 1));
	/* It serves before the other one hears that it need not any more. */
	WAIT_FOR(slot_is_its_own(daemon, 1));
	daemon_stop(&daemon);
}
END_TEST

/* After five crashes slot 1 is left alone for a minute: slot 0 serves its clients meanwhile. */
START_TEST(slot_that_crashes_too_often_is_served_by_another)
{
	struct daemon *daemon = start_probe(2);
	uint16_t port = daemon_port(daemon, "main");

	kill_worker(daemon, 1, 4);
	ck_assert(!daemon_has_logged(daemon, "degraded"));
	ck_assert_int_eq(kill(daemon_worker(daemon, 1), SIGKILL), 0);
	WAIT_FOR(daemon_has_logged(daemon, "worker 1: 5 crashes within 60 s: degraded"));
	expect_all_served(port);
	ck_assert_uint_eq(daemon_n_started(daemon, 1), 5);
	daemon_signal(daemon, SIGRTMIN);
	WAIT_FOR(daemon_has_logged(daemon, "worker 1: waiting (degraded)"));
	ck_assert(daemon_has_logged(daemon, "1 of 2 workers ready, degraded"));
	daemon_stop(&daemon);
}
END_TEST

/* Nothing runs at that moment, and nothing is started any more. */
START_TEST(stop_while_a_worker_is_to_be_started_again)
{
	struct daemon *daemon = start_probe(2);

	kill_worker(daemon, 0, 4);
	kill_worker(daemon, 1, 4);
	for (unsigned slot = 0; slot < 2; slot++)
		ck_assert_int_eq(kill(daemon_worker(daemon, slot), SIGKILL), 0);
	daemon_signal(daemon, SIGSTOP);
	daemon_signal(daemon, SIGTERM);
	daemon_signal(daemon, SIGCONT);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	daemon_destroy(&daemon);
}
END_TEST

/* All crash too often: where nobody else serves none is left alone. */
START_TEST(last_worker_is_started_again_however_often_it_crashes)
{
	struct daemon *daemon = start_probe(1);

	kill_worker(daemon, 0, 8);
	expect_all_served(daemon_port(daemon, "main"));
	daemon_stop(&daemon);
}
END_TEST

/* An operator's kill of one worker: what was sent is answered, and the slot is filled again. */
START_TEST(worker_told_to_end_ends_in_order_and_is_replaced)
{
	struct daemon *daemon = start_probe(1);
	int fd = client_connect(daemon_port(daemon, "main"));

	client_ping(fd, "before");
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGTERM), 0);
	client_expect_eof(fd);
	close(fd);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "after");
	close(fd);
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 2);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_shutdown", 1);
	daemon_expect_counter(daemon, "closed_worker_died", 0);
	daemon_destroy(&daemon);
}
END_TEST

/* It has a client that does not read, and so takes long: another accepts in its place. */
START_TEST(clients_of_a_worker_told_to_end_are_served_by_another)
{
	struct daemon *daemon = daemon_new(2,
	    PROBE_SECTION "listen main { address = \"127.0.0.1:0\" modules = { probe }\n"
			  "when-full = refuse send-queue-messages = 10000\n"
			  "send-queue-bytes = 64M send-timeout = 0 linger-timeout = 60s }\n");
	unsigned slot;
	uint16_t port;
	int fd;

	daemon_start(daemon);
	port = daemon_port(daemon, "main");
	fd = client_connect_small(port);
	slot = probe_who(fd).worker;
	for (int i = 0; i < 8; i++)
		probe_send(fd, PROBE_FLOOD, 2, 1000, 1000);
	client_await_read(fd);
	ck_assert_int_eq(kill(daemon_worker(daemon, slot), SIGTERM), 0);
	/* Whom it let in before it heard of the signal it would close. */
	WAIT_FOR(daemon_has_logged(daemon, ": draining"));
	for (int round = 0; round < 3; round++)
		expect_all_served(port);
	ck_assert_uint_eq(daemon_n_started(daemon, slot), 1);
	client_reset(fd);
	WAIT_FOR(daemon_n_started(daemon, slot) == 2);
	expect_all_served(port);
	daemon_stop(&daemon);
}
END_TEST

/* What the worker died of stands in the log. */
START_TEST(crashed_worker_is_reported_and_replaced)
{
	struct daemon *daemon = start_probe(1);
	int fd = client_connect(daemon_port(daemon, "main"));

	probe_send(fd, PROBE_CRASH, 0);
	client_expect_end(fd);
	close(fd);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "the next");
	close(fd);
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 2);
	ck_assert(daemon_has_logged(daemon, "signal 6"));
	daemon_stop(&daemon);
}
END_TEST

static bool port_is_free(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
	bool is_free;

	ck_assert_int_ge(fd, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	is_free =
	    bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && listen(fd, 1) == 0;
	close(fd);
	return is_free;
}

START_TEST(killed_master_leaves_no_orphan_and_a_free_port)
{
	uint16_t port = client_free_port();
	struct daemon *daemon = start_probe_at(port, run_workers(_i)), *next;
	int fds[16], fd;

	for (int i = 0; i < 16; i++) {
		fds[i] = client_connect(port);
		client_ping(fds[i], "hello");
	}
	daemon_signal(daemon, SIGKILL);
	for (int i = 0; i < 16; i++) {
		client_expect_end(fds[i]);
		close(fds[i]);
	}
	ck_assert_int_eq(daemon_await_end(daemon), -1);
	WAIT_FOR(port_is_free(port));
	next = daemon_new(run_workers(_i), CONF, port);
	daemon_start(next);
	fd = client_connect(port);
	client_ping(fd, "again");
	close(fd);
	daemon_stop(&next);
	daemon_destroy(&daemon);
}
END_TEST

/* More than a worker hears of in one turn. */
#define N_STOPPED 600

/* The replies to all that was sent arrive, then EOF. */
static void stop_gracefully(unsigned n_workers, int number)
{
	struct daemon *daemon = start_probe(n_workers);
	uint16_t port = daemon_port(daemon, "main");
	struct bytes stream = { 0 };
	int fds[N_STOPPED];

	for (uint32_t i = 0; i < 200; i++)
		bytes_add_filled(&stream, PROBE_ECHO, i, 20);
	for (int i = 0; i < N_STOPPED; i++) {
		fds[i] = client_connect(port);
		client_ping(fds[i], "hello");
	}
	/* The requests and the order to stop are there when the workers go on. */
	for (unsigned slot = 0; slot < n_workers; slot++)
		process_stop(daemon_worker(daemon, slot));
	for (int i = 0; i < N_STOPPED; i++)
		client_send(fds[i], stream.data, stream.len);
	daemon_signal(daemon, number);
	WAIT_FOR(daemon_has_logged(daemon, "signal ") && process_state(daemon->pid) == 'S');
	for (unsigned slot = 0; slot < n_workers; slot++)
		ck_assert_int_eq(kill(daemon_worker(daemon, slot), SIGCONT), 0);
	for (int i = 0; i < N_STOPPED; i++) {
		client_expect(fds[i], &stream);
		client_expect_eof(fds[i]);
		close(fds[i]);
	}
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	daemon_expect_counter(daemon, "closed_shutdown", N_STOPPED);
	for (unsigned slot = 0; slot < n_workers; slot++)
		ck_assert_uint_eq(daemon_n_started(daemon, slot), 1);
	ck_assert(port_is_free(port));
	bytes_free(&stream);
	daemon_destroy(&daemon);
}

START_TEST(term_answers_what_was_sent_then_ends)
{
	stop_gracefully(run_workers(_i), SIGTERM);
}
END_TEST

START_TEST(quit_answers_what_was_sent_then_ends)
{
	stop_gracefully(run_workers(_i), SIGQUIT);
}
END_TEST

/* A client that does not read holds up a graceful end. */
static int stall(uint16_t port)
{
	int fd = client_connect_small(port);

	for (int i = 0; i < 8; i++)
		probe_send(fd, PROBE_FLOOD, 2, 1000, 1000);
	client_await_read(fd);
	return fd;
}

static struct daemon *start_stalled(unsigned n_workers, const char *options, int *fd)
{
	struct daemon *daemon = daemon_new(n_workers,
	    "%s\n" PROBE_SECTION
	    "listen main { address = \"127.0.0.1:%u\" modules = { probe } when-full = refuse\n"
	    "send-queue-messages = 10000 send-queue-bytes = 64M send-timeout = 0\n"
	    "linger-timeout = 60s }\n",
	    options, client_free_port());

	daemon_start(daemon);
	*fd = stall(daemon_port(daemon, "main"));
	return daemon;
}

START_TEST(drain_timeout_ends_a_graceful_stop)
{
	uint64_t start_ms;
	int fd;
	struct daemon *daemon = start_stalled(run_workers(_i), "drain-timeout = 500ms", &fd);

	start_ms = wait_now_ms();
	daemon_signal(daemon, SIGTERM);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	ck_assert_uint_ge(wait_now_ms() - start_ms, 450);
	close(fd);
	/* By the worker itself: nothing was left to the master's SIGKILL. */
	daemon_expect_counter(daemon, "closed_drain_timeout", 1);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(second_term_ends_at_once)
{
	int fd;
	struct daemon *daemon = start_stalled(run_workers(_i), "drain-timeout = 10m", &fd);

	daemon_signal(daemon, SIGTERM);
	/* New clients are let in no more: the first one has arrived. */
	WAIT_FOR(daemon_has_logged(daemon, "signal TERM"));
	ck_assert(!daemon_has_ended(daemon));
	daemon_signal(daemon, SIGTERM);
	ck_assert_int_ge(daemon_await_end(daemon), 0);
	close(fd);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(int_ends_at_once)
{
	int fd;
	struct daemon *daemon = start_stalled(run_workers(_i), "drain-timeout = 10m", &fd);

	daemon_signal(daemon, SIGINT);
	ck_assert_int_ge(daemon_await_end(daemon), 0);
	close(fd);
	daemon_destroy(&daemon);
}
END_TEST

/* Orphans that still have somebody to serve leave the port to the next instance. */
START_TEST(orphans_do_not_hold_the_port)
{
	int fd, client;
	struct daemon *daemon = start_stalled(run_workers(_i), "drain-timeout = 10m", &fd);
	uint16_t port = daemon_port(daemon, "main");
	struct daemon *next = daemon_new(run_workers(_i), CONF, port);

	daemon_signal(daemon, SIGKILL);
	WAIT_FOR(daemon_has_ended(daemon));
	WAIT_FOR(port_is_free(port));
	daemon_start(next);
	client = client_connect(port);
	client_ping(client, "the next instance");
	close(client);
	client_reset(fd);
	daemon_stop(&next);
	daemon_destroy(&daemon);
}
END_TEST

/* A hook that hangs, in the check of the conf or in a worker, hears of nothing. */
START_TEST(killed_master_leaves_nothing_that_hangs)
{
	static const char *const hangs[] = { "on-start = hang", "refuse = hang" };
	struct daemon *daemon = daemon_new(2,
	    "module probe { path = \"" PROBE_PATH "\" %s }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { probe } }\n",
	    hangs[_i]);

	daemon_launch(daemon);
	if (_i == 0)
		WAIT_FOR(daemon_has_logged(daemon, "worker 1: started"));
	else
		WAIT_FOR(process_n_children(daemon->pid) == 1);
	daemon_signal(daemon, SIGKILL);
	ck_assert_int_eq(daemon_await_end(daemon), -1);
	daemon_destroy(&daemon);
}
END_TEST

/* QUIT has no deadline, but nobody could set one any more. */
START_TEST(orphans_of_a_quitting_master_end)
{
	int fd;
	struct daemon *daemon = start_stalled(run_workers(_i), "drain-timeout = 500ms", &fd);

	daemon_signal(daemon, SIGQUIT);
	WAIT_FOR(daemon_has_logged(daemon, "signal QUIT"));
	daemon_signal(daemon, SIGKILL);
	ck_assert_int_eq(daemon_await_end(daemon), -1);
	close(fd);
	daemon_destroy(&daemon);
}
END_TEST

/* Ctrl-C at a terminal: master and workers get it together, and no worker is replaced. */
START_TEST(int_to_the_whole_group_ends_in_order)
{
	struct daemon *daemon = daemon_new(4, CONF, 0);

	daemon->has_group = true;
	daemon_start(daemon);
	ck_assert_int_eq(kill(-daemon->pid, SIGINT), 0);
	ck_assert_int_ge(daemon_await_end(daemon), 0);
	for (unsigned slot = 0; slot < 4; slot++)
		ck_assert_uint_eq(daemon_n_started(daemon, slot), 1);
	ck_assert(!daemon_has_logged(daemon, "killed by signal"));
	daemon_destroy(&daemon);
}
END_TEST

/* Nothing that a shell or a service manager leaves to its children disturbs the daemon. */
START_TEST(inherited_signal_mask_and_dispositions_do_no_harm)
{
	struct daemon *daemon = daemon_new(2, CONF, 0);
	sigset_t mask, before;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGCHLD);
	ck_assert_int_eq(sigprocmask(SIG_BLOCK, &mask, &before), 0);
	signal(SIGTERM, SIG_IGN);
	signal(SIGCHLD, SIG_IGN);
	daemon_launch(daemon);
	signal(SIGTERM, SIG_DFL);
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, &before, NULL);
	daemon_await_ready(daemon);
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_process");
	TCase *ends = run_case(suite, "ends");
	TCase *master = run_case(suite, "master");
	TCase *worker = run_case(suite, "worker");

	run_add_workers(ends, term_answers_what_was_sent_then_ends);
	run_add_workers(ends, quit_answers_what_was_sent_then_ends);
	run_add_workers(ends, drain_timeout_ends_a_graceful_stop);
	run_add_workers(ends, second_term_ends_at_once);
	run_add_workers(ends, int_ends_at_once);
	tcase_add_test(ends, int_to_the_whole_group_ends_in_order);
	tcase_add_test(ends, inherited_signal_mask_and_dispositions_do_no_harm);
	run_add_workers(master, killed_master_leaves_no_orphan_and_a_free_port);
	run_add_workers(master, orphans_do_not_hold_the_port);
	run_add_workers(master, orphans_of_a_quitting_master_end);
	tcase_add_loop_test(master, killed_master_leaves_nothing_that_hangs, 0, 2);
	tcase_add_test(worker, killed_worker_harms_only_its_own_connections);
	tcase_add_test(worker, queue_of_a_dead_worker_is_served_by_its_replacement);
	tcase_add_test(worker, ids_and_counters_go_on_over_a_respawn);
	tcase_add_loop_test(worker, respawn_backs_off, 0, 2);
	tcase_add_test(worker, worker_that_cannot_start_is_not_started_again);
	tcase_add_loop_test(worker, worker_that_exits_is_replaced, 0, 3);
	tcase_add_test(worker, slot_that_was_filled_again_has_its_own_clients);
	tcase_add_test(worker, slot_that_crashes_too_often_is_served_by_another);
	tcase_add_test(worker, stop_while_a_worker_is_to_be_started_again);
	tcase_add_test(worker, last_worker_is_started_again_however_often_it_crashes);
	tcase_add_test(worker, worker_told_to_end_ends_in_order_and_is_replaced);
	tcase_add_test(worker, clients_of_a_worker_told_to_end_are_served_by_another);
	tcase_add_test(worker, crashed_worker_is_reported_and_replaced);
	return run_suite(suite);
}
