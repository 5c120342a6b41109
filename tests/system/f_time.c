/*
 * Timers of modules.
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

int main(void)
{
	Suite *suite = suite_create("f_time");
	TCase *timers = run_case(suite, "timers");

	tcase_add_test(timers, connection_has_a_timer_until_it_stops_it);
	tcase_add_test(timers, connections_timer_ends_with_it);
	tcase_add_test(timers, module_has_timers_of_its_own);
	return run_suite(suite);
}
