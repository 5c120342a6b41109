/*
 * Reload: generations of workers follow each other, and clients do not notice.
 */
#include "config.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/process.h"
#include "system/run.h"

#define N_CLIENTS 64

/* A conf for a daemon of daemon_new(); the rest is as by printf. */
static void set_conf(struct daemon *daemon, unsigned n_workers, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void set_conf(struct daemon *daemon, unsigned n_workers, const char *format, ...)
{
	char text[4096];
	int len;
	va_list args;

	len = snprintf(text, sizeof(text), "workers = %u\nmodule-dir = \"%s\"\nlog = \"%s\"\n",
	    n_workers, OUR_MODULES, daemon->log);
	va_start(args, format);
	vsnprintf(text + len, sizeof(text) - (size_t)len, format, args);
	va_end(args);
	daemon_set_conf(daemon, text);
	daemon->n_workers = n_workers > daemon->n_workers ? n_workers : daemon->n_workers;
}

#define SECTION(options) "module probe { path = \"" PROBE_PATH "\" " options " }\n"
#define LISTEN "listen main { address = \"127.0.0.1:0\" modules = { probe } }\n"
#define MOVING SECTION("moves = true") LISTEN
#define STAYING SECTION("") LISTEN

static struct daemon *start(unsigned n_workers, const char *conf)
{
	struct daemon *daemon = daemon_new(n_workers, "%s", conf);

	daemon_start(daemon);
	return daemon;
}

static unsigned n_served(struct daemon *daemon)
{
	return daemon_n_logged(daemon, " serves with ");
}

static unsigned n_ended(struct daemon *daemon)
{
	return daemon_n_logged(daemon, "has ended");
}

static void reload(struct daemon *daemon)
{
	unsigned n_before = n_served(daemon);

	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(n_served(daemon) == n_before + 1);
}

/* The old workers have heard of it, too, and accept no more. */
static void reload_and_drain(struct daemon *daemon)
{
	unsigned n_before = daemon_n_logged(daemon, ": draining");

	reload(daemon);
	WAIT_FOR(daemon_n_logged(daemon, ": draining") == n_before + daemon->n_workers);
}

static void fail_to_reload(struct daemon *daemon, const char *why)
{
	unsigned n_before = daemon_n_logged(daemon, "reload failed");

	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(daemon_n_logged(daemon, "reload failed") == n_before + 1);
	ck_assert_msg(daemon_has_logged(daemon, why), "not in the log: %s", why);
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

/* With what is known of them, and as the modules keep it. */
START_TEST(connections_move_to_the_next_generation)
{
	struct daemon *daemon = start(run_workers(_i), MOVING);
	uint16_t port = daemon_port(daemon, "main");
	struct identity before[N_CLIENTS], after;
	char text[PROBE_TEXT_SIZE];
	int fds[N_CLIENTS];

	for (int i = 0; i < N_CLIENTS; i++) {
		fds[i] = client_connect(port);
		before[i] = probe_who(fds[i]);
	}
	probe_send(fds[0], PROBE_SIZED, 1, 100);
	client_receive(fds[0], text, 108 + 12);
	for (int round = 1; round <= 3; round++) {
		reload(daemon);
		WAIT_FOR(n_ended(daemon) == (unsigned)round);
		for (int i = 0; i < N_CLIENTS; i++) {
			after = probe_who(fds[i]);
			ck_assert(after.id == before[i].id);
			ck_assert_uint_eq(after.worker, before[i].worker);
			ck_assert_str_eq(after.peer, before[i].peer);
		}
	}
	probe_send(fds[0], PROBE_COUNTS, 0);
	ck_assert_str_eq(probe_text(fds[0], PROBE_COUNTS, text), "1 1 0 0");
	for (int i = 0; i < N_CLIENTS; i++)
		close(fds[i]);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "accepted", N_CLIENTS);
	daemon_expect_counter(daemon, "moved_out", 3 * N_CLIENTS);
	daemon_expect_counter(daemon, "moved_in", 3 * N_CLIENTS);
	daemon_expect_counter(daemon, "closed_shutdown", 0);
	daemon_destroy(&daemon);
}
END_TEST

/* Half a message before, the other half after. */
START_TEST(connections_move_within_a_message)
{
	struct daemon *daemon = start(1, MOVING);
	uint16_t port = daemon_port(daemon, "main");
	struct bytes frame = { 0 };
	int fds[N_CLIENTS];

	bytes_add_filled(&frame, PROBE_ECHO, 5, 3000);
	for (int i = 0; i < N_CLIENTS; i++) {
		fds[i] = client_connect(port);
		client_ping(fds[i], "hello");
		client_send(fds[i], frame.data, (size_t)i + 1);
		client_await_read(fds[i]);
	}
	reload(daemon);
	WAIT_FOR(n_ended(daemon) == 1);
	for (int i = 0; i < N_CLIENTS; i++) {
		client_send(fds[i], frame.data + i + 1, frame.len - (size_t)i - 1);
		client_expect(fds[i], &frame);
		close(fds[i]);
	}
	bytes_free(&frame);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "moved_in", N_CLIENTS);
	daemon_destroy(&daemon);
}
END_TEST

#define N_MANY 1000

/* A worker that is killed between its count and its reply counts one that comes back. */
static void expect_moved(struct daemon *daemon, unsigned n_lost)
{
	uint64_t n_back =
	    daemon_counter(daemon, "moved_in") - daemon_counter(daemon, "moved_out");

	daemon_expect_counter(daemon, "closed_worker_died", n_lost + n_back);
	daemon_expect_counter(daemon, "closed_shutdown", 0);
	daemon_expect_counter(daemon, "closed_drain_timeout", 0);
}

/* It dies with ten, and more on the way to it: those it has not taken, the next one gets. */
START_TEST(only_what_a_worker_had_taken_dies_with_it)
{
	struct daemon *daemon = start(1, MOVING);
	uint16_t port = daemon_port(daemon, "main");
	static uint64_t ids[N_MANY];
	static int fds[N_MANY];
	unsigned n_lost = 0;

	for (int i = 0; i < N_MANY; i++) {
		fds[i] = client_connect(port);
		ids[i] = probe_who(fds[i]).id;
	}
	set_conf(
	    daemon, 1, SECTION("moves = true crash-mark = \"%s/mark\"") LISTEN, daemon->folder);
	reload(daemon);
	WAIT_FOR(n_ended(daemon) == 1);
	ck_assert(daemon_has_logged(daemon, "in its save, moved or restore hook"));
	ck_assert(daemon_has_logged(daemon, "here: the later worker that was to have"));
	for (int i = 0; i < N_MANY; i++) {
		if (client_try_ping(fds[i]))
			ck_assert(probe_who(fds[i]).id == ids[i]);
		else
			n_lost++;
		close(fds[i]);
	}
	ck_assert_uint_eq(n_lost, 10);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "moved_out", daemon_counter(daemon, "moved_in"));
	expect_moved(daemon, n_lost);
	daemon_destroy(&daemon);
}
END_TEST

/* Killed at any moment, several times. */
START_TEST(a_killed_worker_takes_nothing_with_it_that_was_on_the_way)
{
	struct daemon *daemon = start(1, MOVING);
	uint16_t port = daemon_port(daemon, "main");
	static int fds[N_MANY];
	unsigned n_lost = 0;

	for (int i = 0; i < N_MANY; i++) {
		fds[i] = client_connect(port);
		client_ping(fds[i], "before");
	}
	reload(daemon);
	for (unsigned n = 2; n <= 4; n++) {
		WAIT_FOR(daemon_n_started(daemon, 0) == n);
		kill(daemon_worker(daemon, 0), SIGKILL);
	}
	WAIT_FOR(n_ended(daemon) == 1);
	for (int i = 0; i < N_MANY; i++) {
		n_lost += !client_try_ping(fds[i]);
		close(fds[i]);
	}
	daemon_end(daemon);
	expect_moved(daemon, n_lost);
	daemon_destroy(&daemon);
}
END_TEST

/* What cannot move is served to its end. */
START_TEST(connections_that_cannot_move_are_closed_in_order)
{
	struct daemon *daemon = start(run_workers(_i), "drain-timeout = 1s\n" STAYING);
	uint16_t port = daemon_port(daemon, "main");
	int fds[N_CLIENTS];

	for (int i = 0; i < N_CLIENTS; i++) {
		fds[i] = client_connect(port);
		client_ping(fds[i], "before");
	}
	reload_and_drain(daemon);
	expect_all_served(port);
	for (int i = 0; i < N_CLIENTS; i++) {
		client_expect_eof(fds[i]);
		close(fds[i]);
	}
	WAIT_FOR(n_ended(daemon) == 1);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_shutdown", N_CLIENTS);
	daemon_expect_counter(daemon, "moved_out", 0);
	daemon_destroy(&daemon);
}
END_TEST

/* A reply that the client does not read keeps it where it is, until it has. */
START_TEST(a_connection_moves_when_its_queue_is_empty)
{
	struct daemon *daemon = start(1,
	    SECTION("moves = true") "listen main { address = \"127.0.0.1:0\" "
				    "modules = { probe } send-queue-bytes = 64M "
				    "send-queue-messages = 10000 send-timeout = 0 }\n");
	int fd = client_connect_small(daemon_port(daemon, "main"));
	struct identity before = probe_who(fd), after;
	uint8_t *all = malloc(9000 * 1008 + 12);

	ck_assert_ptr_nonnull(all);
	probe_send(fd, PROBE_FLOOD, 2, 9000, 1000);
	client_await_read(fd);
	reload(daemon);
	expect_all_served(daemon_port(daemon, "main"));
	ck_assert_uint_eq(n_ended(daemon), 0);
	client_receive(fd, all, 9000 * 1008 + 12);
	WAIT_FOR(n_ended(daemon) == 1);
	after = probe_who(fd);
	ck_assert(after.id == before.id);
	free(all);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_shutdown", 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(what_is_left_at_the_end_of_the_time_to_drain_is_closed_and_counted)
{
	struct daemon *daemon = start(1,
	    "drain-timeout = 500ms\n" SECTION(
		"moves = true") "listen main { address = \"127.0.0.1:0\" modules = { probe } "
				"send-queue-bytes = 64M send-queue-messages = 10000 "
				"send-timeout = 0 }\n");
	int fd = client_connect_small(daemon_port(daemon, "main"));

	probe_send(fd, PROBE_FLOOD, 2, 9000, 1000);
	client_await_read(fd);
	reload(daemon);
	WAIT_FOR(n_ended(daemon) == 1);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_drain_timeout", 1);
	daemon_destroy(&daemon);
}
END_TEST

static const struct {
	const char *conf, *why;
} bad_confs[] = {
	{ "this is no conf", "reload failed, generation 1 goes on: " },
	{ SECTION("refuse = \"not today\"") LISTEN, "module 'probe': not today" },
	{ SECTION("refuse = abort") LISTEN,
	    "killed by signal 6 (Aborted) in the configure hook of module 'probe'" },
	{ SECTION("on-start = fail") LISTEN,
	    "the start failed: a worker cannot run; the log says why" },
	{ SECTION("on-start = crash") LISTEN,
	    "a worker cannot run: it died in the start hook of module 'probe'" },
	{ SECTION("") "listen main { address = \"192.0.2.1:1\" modules = { probe } }\n",
	    "cannot listen on 192.0.2.1:1" },
	{ "log = \"/nowhere/log\"\n" STAYING, "/nowhere/log" },
};

#define N_BAD_CONFS (int)(sizeof(bad_confs) / sizeof(bad_confs[0]))

START_TEST(a_failed_reload_changes_nothing)
{
	struct daemon *daemon = start(2, MOVING);
	uint16_t port = daemon_port(daemon, "main");
	int fd = client_connect(port);
	struct identity before = probe_who(fd), after;
	pid_t worker = daemon_worker(daemon, before.worker);

	if (strncmp(bad_confs[_i].conf, "log", 3) == 0)
		daemon_set_conf(daemon, bad_confs[_i].conf);
	else
		set_conf(daemon, 4, "%s", bad_confs[_i].conf);
	daemon->n_workers = 2;
	fail_to_reload(daemon, bad_confs[_i].why);
	expect_all_served(port);
	after = probe_who(fd);
	ck_assert(after.id == before.id);
	ck_assert_int_ne(process_state(worker), '\0');
	set_conf(daemon, 2, "%s", MOVING);
	reload(daemon);
	after = probe_who(fd);
	ck_assert(after.id == before.id);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_shutdown", 0);
	daemon_destroy(&daemon);
}
END_TEST

/* _i 1: those that were there before move, and count; 0: they stay, and do not. */
START_TEST(max_connections_is_the_limit_of_the_new_workers)
{
	struct daemon *daemon = start(2, _i == 1 ? MOVING : STAYING);
	uint16_t port = daemon_port(daemon, "main");
	int fds[4], fd;

	for (int i = 0; i < 4; i++) {
		fds[i] = client_connect(port);
		client_ping(fds[i], "before");
	}
	set_conf(daemon, 2,
	    SECTION("%s") "listen main { address = \"127.0.0.1:0\" modules = { probe } "
			  "max-connections = 3 }\n",
	    _i == 1 ? "moves = true" : "");
	reload_and_drain(daemon);
	if (_i == 1)
		WAIT_FOR(n_ended(daemon) == 1);
	fd = client_connect(port);
	ck_assert_int_eq(client_try_ping(fd), _i == 0);
	close(fd);
	for (int i = 0; i < 4; i++) {
		if (_i == 1)
			client_ping(fds[i], "after");
		close(fds[i]);
	}
	daemon_stop(&daemon);
}
END_TEST

START_TEST(options_of_modules_and_listeners_change)
{
	struct daemon *daemon = start(2, MOVING);
	uint16_t port = daemon_port(daemon, "main");
	int fd = client_connect(port);
	char text[PROBE_TEXT_SIZE];
	struct bytes frame = { 0 };

	client_ping(fd, "before");
	set_conf(daemon, 2, "%s",
	    SECTION("moves = true number = 7") "listen main { address = \"127.0.0.1:0\" "
					       "modules = { probe } max-message = 100 }\n");
	reload(daemon);
	ck_assert_uint_eq(daemon_port(daemon, "main"), port);
	WAIT_FOR(n_ended(daemon) == 1);
	probe_send(fd, PROBE_OPTIONS, 0);
	ck_assert_str_eq(probe_text(fd, PROBE_OPTIONS, text), "7 65536 1000 0 some text");
	bytes_add_filled(&frame, PROBE_ECHO, 1, 101);
	client_send(fd, frame.data, frame.len);
	client_expect_end(fd);
	close(fd);
	bytes_free(&frame);
	daemon_stop(&daemon);
}
END_TEST

/* A listener comes, another one goes; what stays keeps its port and its clients. */
START_TEST(listeners_come_and_go)
{
	uint16_t gone = client_free_port();
	struct daemon *daemon = daemon_new(
	    2, MOVING "listen gone { address = \"127.0.0.1:%u\" modules = { probe } }\n", gone);
	uint16_t port, come = client_free_port();
	int fd, gone_fd;

	daemon_start(daemon);
	port = daemon_port(daemon, "main");
	fd = client_connect(port);
	gone_fd = client_connect(gone);
	client_ping(gone_fd, "before");
	set_conf(daemon, 2,
	    "drain-timeout = 1s\n"
	    "%s listen come { address = \"127.0.0.1:%u\" modules = { probe } }\n",
	    MOVING, come);
	reload(daemon);
	client_ping(fd, "moved");
	expect_all_served(come);
	expect_all_served(port);
	WAIT_FOR(client_try_connect(gone) < 0);
	close(gone_fd);
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(the_number_of_workers_changes)
{
	static const unsigned sizes[] = { 4, 1, 3, 2, 8, 2, 1 };
	struct daemon *daemon = start(2, MOVING);
	uint16_t port = daemon_port(daemon, "main");
	uint64_t ids[N_CLIENTS];
	int fds[N_CLIENTS];

	for (int i = 0; i < N_CLIENTS; i++) {
		fds[i] = client_connect(port);
		ids[i] = probe_who(fds[i]).id;
	}
	for (size_t n = 0; n < sizeof(sizes) / sizeof(sizes[0]); n++) {
		set_conf(daemon, sizes[n], "%s", MOVING);
		reload(daemon);
		expect_all_served(port);
		for (int i = 0; i < N_CLIENTS; i++)
			ck_assert(probe_who(fds[i]).id == ids[i]);
	}
	for (int i = 0; i < N_CLIENTS; i++)
		close(fds[i]);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_shutdown", 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(signals_add_and_remove_a_worker)
{
	struct daemon *daemon = start(1, MOVING);
	uint16_t port = daemon_port(daemon, "main");

	daemon->n_workers = 2;
	daemon_signal(daemon, SIGTTOU);
	WAIT_FOR(daemon_has_logged(daemon, "the number of workers stays: it cannot be 0"));
	daemon_signal(daemon, SIGTTIN);
	WAIT_FOR(daemon_has_logged(daemon, "generation 2 serves with 2 workers"));
	close(probe_connect_to_worker(port, 1));
	/* The master speaks first, then the old workers hear of it. */
	WAIT_FOR(n_ended(daemon) == 1);
	daemon_signal(daemon, SIGTTOU);
	WAIT_FOR(daemon_has_logged(daemon, "generation 3 serves with 1 worker"));
	expect_all_served(port);
	daemon_stop(&daemon);
}
END_TEST

/* Two signals at once are at least one reload that begins after them. */
START_TEST(a_reload_that_is_asked_for_meanwhile_is_done_afterwards)
{
	struct daemon *daemon = start(2, MOVING);
	uint16_t port = daemon_port(daemon, "main");

	for (int i = 0; i < 5; i++) {
		unsigned n_before = n_served(daemon);

		daemon_signal(daemon, SIGHUP);
		WAIT_FOR(daemon_n_logged(daemon, "signal HUP") == 2 * (unsigned)i + 1);
		daemon_signal(daemon, SIGHUP);
		WAIT_FOR(daemon_n_logged(daemon, "signal HUP") == 2 * (unsigned)i + 2);
		WAIT_FOR(n_served(daemon) > n_before);
	}
	WAIT_FOR(n_served(daemon) >= 6);
	expect_all_served(port);
	daemon_stop(&daemon);
}
END_TEST

/* Ten generations, whose clients do not read: no more than two of them drain for long. */
START_TEST(draining_generations_are_capped)
{
	struct daemon *daemon = start(1,
	    "drain-timeout = 10m\n" SECTION(
		"") "listen main { address = \"127.0.0.1:0\" modules = { probe } "
		    "send-queue-bytes = 64M send-queue-messages = 10000 send-timeout = 0 }\n");
	uint16_t port = daemon_port(daemon, "main");
	int fds[10];

	for (unsigned i = 0; i < 10; i++) {
		fds[i] = client_connect_small(port);
		probe_send(fds[i], PROBE_FLOOD, 2, 9000, 1000);
		client_await_read(fds[i]);
		reload_and_drain(daemon);
		WAIT_FOR(i < 2 || n_ended(daemon) == i - 1);
	}
	ck_assert_uint_eq(daemon_n_logged(daemon, "too many are draining"), 8);
	for (int i = 0; i < 10; i++)
		close(fds[i]);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_drain_timeout", 8);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(a_generation_that_crashes_is_replaced_by_the_one_before)
{
	struct daemon *daemon = start(2, MOVING);
	uint16_t port = daemon_port(daemon, "main");
	char text[PROBE_TEXT_SIZE];
	int fd;

	set_conf(daemon, 2, "%s", SECTION("number = 9") LISTEN);
	reload_and_drain(daemon);
	for (unsigned n = 1; n <= 5; n++) {
		fd = probe_connect_to_worker(port, 0);
		probe_send(fd, PROBE_CRASH, 0);
		client_expect_end(fd);
		close(fd);
		WAIT_FOR(daemon_n_started(daemon, 0) >= 2 + n ||
			 daemon_has_logged(daemon, "going back to the conf"));
	}
	WAIT_FOR(daemon_has_logged(daemon, "generation 3 serves with 2 workers"));
	WAIT_FOR(n_ended(daemon) == 2);
	fd = client_connect(port);
	probe_send(fd, PROBE_OPTIONS, 0);
	ck_assert_str_eq(probe_text(fd, PROBE_OPTIONS, text), "5 65536 1000 0 some text");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

static void crash_slot_0(struct daemon *daemon)
{
	unsigned n_before = daemon_n_logged(daemon, "5 crashes within");

	while (daemon_n_logged(daemon, "5 crashes within") == n_before) {
		unsigned n_started = daemon_n_started(daemon, 0);
		int fd = probe_connect_to_worker(daemon_port(daemon, "main"), 0);

		probe_send(fd, PROBE_CRASH, 0);
		client_expect_end(fd);
		close(fd);
		WAIT_FOR(daemon_n_started(daemon, 0) > n_started ||
			 daemon_n_logged(daemon, "5 crashes within") > n_before);
	}
}

/* Both confs crash: the second time it stays, and the slot rests. */
START_TEST(going_back_is_done_once)
{
	struct daemon *daemon = start(2, SECTION("") LISTEN);

	set_conf(daemon, 2, "%s", SECTION("number = 9") LISTEN);
	reload_and_drain(daemon);
	crash_slot_0(daemon);
	WAIT_FOR(daemon_has_logged(daemon, "generation 3 serves with 2 workers"));
	WAIT_FOR(n_ended(daemon) == 2);
	crash_slot_0(daemon);
	daemon_signal(daemon, SIGRTMIN);
	WAIT_FOR(daemon_has_logged(daemon, "worker 0: waiting (degraded)"));
	ck_assert(daemon_has_logged(
	    daemon, "last change: generation 3 serves, with the conf of an earlier one"));
	ck_assert_uint_eq(daemon_n_logged(daemon, "going back to the conf"), 1);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(the_log_moves_with_the_conf)
{
	struct daemon *daemon = start(1, MOVING);
	char other[160], text[4096];

	snprintf(other, sizeof(other), "%s/other", daemon->folder);
	snprintf(text, sizeof(text), "workers = 1\nlog = \"%s\"\n%s", other, MOVING);
	daemon_set_conf(daemon, text);
	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(strstr(daemon_read(daemon, other), "generation 2 serves") != NULL);
	ck_assert(!daemon_has_logged(daemon, "generation 2 serves"));
	daemon_signal(daemon, SIGTERM);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	ck_assert(strstr(daemon_read(daemon, other), "worker 0: accepted=0") != NULL);
	daemon_destroy(&daemon);
}
END_TEST

/* A stop in the middle of a reload stops all that was started. */
START_TEST(a_stop_ends_a_reload)
{
	struct daemon *daemon = start(2, MOVING);

	daemon_signal(daemon, SIGHUP);
	if (_i == 1)
		WAIT_FOR(daemon_n_started(daemon, 1) == 2);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(status_is_logged)
{
	struct daemon *daemon = start(2, MOVING);
	int fd = probe_connect_to_worker(daemon_port(daemon, "main"), 1);

	client_ping(fd, "counted");
	daemon_signal(daemon, SIGRTMIN);
	WAIT_FOR(daemon_has_logged(daemon, "status: generation 1, 2 of 2 workers ready"));
	WAIT_FOR(daemon_has_logged(daemon, "status: worker 1: ready, pid "));
	ck_assert(daemon_has_logged(daemon, "generation 1, connections 1, frames in "));
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_reload");
	TCase *moving = run_case(suite, "moving");
	TCase *conf = run_case(suite, "conf");
	TCase *generations = run_case(suite, "generations");

	run_add_workers(moving, connections_move_to_the_next_generation);
	tcase_add_test(moving, connections_move_within_a_message);
	tcase_add_test(moving, only_what_a_worker_had_taken_dies_with_it);
	tcase_add_test(moving, a_killed_worker_takes_nothing_with_it_that_was_on_the_way);
	run_add_workers(moving, connections_that_cannot_move_are_closed_in_order);
	tcase_add_test(moving, a_connection_moves_when_its_queue_is_empty);
	tcase_add_test(
	    moving, what_is_left_at_the_end_of_the_time_to_drain_is_closed_and_counted);
	tcase_add_loop_test(conf, a_failed_reload_changes_nothing, 0, N_BAD_CONFS);
	tcase_add_loop_test(conf, max_connections_is_the_limit_of_the_new_workers, 0, 2);
	tcase_add_test(conf, options_of_modules_and_listeners_change);
	tcase_add_test(conf, listeners_come_and_go);
	tcase_add_test(conf, the_number_of_workers_changes);
	tcase_add_test(conf, the_log_moves_with_the_conf);
	tcase_add_test(generations, signals_add_and_remove_a_worker);
	tcase_add_test(generations, a_reload_that_is_asked_for_meanwhile_is_done_afterwards);
	tcase_add_test(generations, draining_generations_are_capped);
	tcase_add_test(generations, a_generation_that_crashes_is_replaced_by_the_one_before);
	tcase_add_test(generations, going_back_is_done_once);
	tcase_add_loop_test(generations, a_stop_ends_a_reload, 0, 2);
	tcase_add_test(generations, status_is_logged);
	return run_suite(suite);
}
