/*
 * Timers of modules, and heartbeats.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/modules/keeper.h"
#include "system/probe.h"
#include "system/run.h"

#define ZINX_HEARTBEAT 99999

/* With options of the module and of the listener. */
static struct daemon *start(const char *module, const char *listener)
{
	struct daemon *daemon = daemon_new(1,
	    PROBE_SECTION "module keeper { path = \"" TEST_MODULES "/keeper.so\" %s }\n"
			  "listen main { address = \"127.0.0.1:0\" modules = { keeper, probe } "
			  "unknown-message = close %s }\n",
	    module, listener);

	daemon_start(daemon);
	return daemon;
}

static void expect(int fd, uint32_t id, const char *expected)
{
	char text[PROBE_TEXT_SIZE];

	ck_assert_str_eq(probe_text(fd, id, text), expected);
}

START_TEST(connection_has_a_timer_until_it_stops_it)
{
	struct daemon *daemon = start("", "");
	int fd = client_connect(daemon_port(daemon, "main"));
	char text[PROBE_TEXT_SIZE];
	uint32_t id;

	probe_send(fd, KEEPER_EVERY, 1, 5);
	for (int i = 0; i < 5; i++)
		expect(fd, KEEPER_TICK, "conn");
	probe_send(fd, KEEPER_HALT, 0);
	do
		client_receive_tlv(fd, &id, text, sizeof(text));
	while (id == KEEPER_TICK);
	ck_assert_uint_eq(id, KEEPER_HALT);
	client_ping(fd, "and nothing before");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

/* Both ways of ending; the timers of those that are left go on. */
START_TEST(connections_timer_ends_with_it)
{
	struct daemon *daemon = start("", "");
	int fd = client_connect(daemon_port(daemon, "main")), other;

	probe_send(fd, KEEPER_EVERY, 1, 20);
	for (int i = 0; i < 20; i++) {
		other = client_connect(daemon_port(daemon, "main"));
		probe_send(other, KEEPER_EVERY, 1, 1);
		expect(other, KEEPER_TICK, "conn");
		if (i % 2 == 0)
			client_reset(other);
		else
			close(other);
	}
	WAIT_FOR(daemon_n_logged(daemon, "module 'keeper': closed ") == 20);
	for (int i = 0; i < 3; i++)
		expect(fd, KEEPER_TICK, "conn");
	/* The worker's end finds it running. */
	daemon_stop(&daemon);
	close(fd);
}
END_TEST

START_TEST(module_has_timers_of_its_own)
{
	struct daemon *daemon = start("tick = 10ms", "");
	int one = client_connect(daemon_port(daemon, "main"));
	int two = client_connect(daemon_port(daemon, "main"));

	for (int i = 0; i < 3; i++) {
		expect(one, KEEPER_TICK, "all");
		expect(two, KEEPER_TICK, "all");
	}
	close(one);
	close(two);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(heartbeats_are_sent_as_zinx_does)
{
	struct daemon *daemon = start("", "heartbeat-interval = 100ms");
	int fd = client_connect(daemon_port(daemon, "main"));

	for (int i = 0; i < 3; i++)
		expect(fd, ZINX_HEARTBEAT, "");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(module_makes_heartbeats_of_its_own)
{
	struct daemon *daemon =
	    start("on-beat = alive", "heartbeat-interval = 100ms heartbeat-id = 5");
	int fd = client_connect(daemon_port(daemon, "main"));

	for (int i = 0; i < 3; i++)
		expect(fd, 5, "alive");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

/* One is silent, though it is sent heartbeats; the other sends nothing but heartbeats. */
START_TEST(silent_peer_is_closed_and_counted)
{
	struct daemon *daemon = start("", "heartbeat-interval = 100ms heartbeat-timeout = 3s");
	int silent = client_connect(daemon_port(daemon, "main"));
	int alive = client_connect(daemon_port(daemon, "main"));
	uint32_t id;

	while (!daemon_has_logged(daemon, "module 'keeper': closed ")) {
		ck_assert_uint_eq(client_receive_tlv(alive, &id, NULL, 0), 0);
		ck_assert_uint_eq(id, ZINX_HEARTBEAT);
		probe_send(alive, ZINX_HEARTBEAT, 0);
	}
	client_expect_end(silent);
	expect(alive, ZINX_HEARTBEAT, "");
	close(silent);
	close(alive);
	daemon_end(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon, "module 'keeper': silent for "), 1);
	daemon_expect_counter(daemon, "closed_heartbeat", 1);
	daemon_expect_counter(daemon, "unknown_ids", 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(module_spares_a_silent_peer)
{
	struct daemon *daemon = start("on-silence = keep", "heartbeat-timeout = 100ms");
	int fd = client_connect(daemon_port(daemon, "main"));

	WAIT_FOR(daemon_n_logged(daemon, "module 'keeper': silent for ") == 3);
	client_ping(fd, "still here");
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_heartbeat", 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(module_aborts_a_silent_peer)
{
	struct daemon *daemon = start("on-silence = abort", "heartbeat-timeout = 100ms");
	int fd = client_connect(daemon_port(daemon, "main"));

	client_expect_end(fd);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_heartbeat", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* Without heartbeats the id is unknown like any. */
START_TEST(heartbeat_is_known_where_there_are_heartbeats)
{
	struct daemon *daemon = start("", _i == 0 ? "" : "heartbeat-timeout = 1m");
	int fd = client_connect(daemon_port(daemon, "main"));

	probe_send(fd, ZINX_HEARTBEAT, 1, 1);
	if (_i == 0)
		client_expect_eof(fd);
	else
		client_ping(fd, "passed over");
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "unknown_ids", _i == 0);
	daemon_destroy(&daemon);
}
END_TEST

/* Where a module handles the id it gets the heartbeats. */
START_TEST(heartbeat_may_be_handled)
{
	struct daemon *daemon = start("", "heartbeat-timeout = 1m heartbeat-id = 7");
	int fd = client_connect(daemon_port(daemon, "main"));

	client_ping(fd, "id 7 is an echo");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("f_time");
	TCase *timers = run_case(suite, "timers");
	TCase *heartbeats = run_case(suite, "heartbeats");

	tcase_add_test(timers, connection_has_a_timer_until_it_stops_it);
	tcase_add_test(timers, connections_timer_ends_with_it);
	tcase_add_test(timers, module_has_timers_of_its_own);
	tcase_add_test(heartbeats, heartbeats_are_sent_as_zinx_does);
	tcase_add_test(heartbeats, module_makes_heartbeats_of_its_own);
	tcase_add_test(heartbeats, silent_peer_is_closed_and_counted);
	tcase_add_test(heartbeats, module_spares_a_silent_peer);
	tcase_add_test(heartbeats, module_aborts_a_silent_peer);
	tcase_add_loop_test(heartbeats, heartbeat_is_known_where_there_are_heartbeats, 0, 2);
	tcase_add_test(heartbeats, heartbeat_may_be_handled);
	return run_suite(suite);
}
