/*
 * Routing: the value that handlers of a chain pass on, the default handler, and the routes in
 * force as -T lists them.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/modules/chain.h"
#include "system/probe.h"
#include "system/run.h"

#define CHAIN_SECTION "module chain { path = \"" TEST_MODULES "/chain.so\" }\n"

static struct daemon *new_daemon(const char *options)
{
	return daemon_new(1,
	    PROBE_SECTION CHAIN_SECTION
	    "listen main { address = \"127.0.0.1:0\" modules = { chain, probe } %s }\n",
	    options);
}

static int start(struct daemon **daemon, const char *options)
{
	*daemon = new_daemon(options);
	daemon_start(*daemon);
	return client_connect(daemon_port(*daemon, "main"));
}

static void expect_text(int fd, uint32_t id, const char *expected)
{
	char text[PROBE_TEXT_SIZE];

	ck_assert_str_eq(probe_text(fd, id, text), expected);
}

/* In one batch: nothing of a message's value is left for the next. */
START_TEST(scratch_value_is_seen_by_later_handlers_of_the_chain_only)
{
	struct bytes request = { 0 };
	struct daemon *daemon;
	int fd = start(&daemon, "");

	for (int i = 0; i < 3; i++) {
		bytes_add_tlv(&request, CHAIN_PASSED, "seen", 4);
		bytes_add_tlv(&request, CHAIN_BARE, "", 0);
	}
	client_send(fd, request.data, request.len);
	for (int i = 0; i < 3; i++) {
		expect_text(fd, CHAIN_PASSED, "seen handled");
		expect_text(fd, CHAIN_BARE, "empty");
	}
	bytes_free(&request);
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(default_handler_gets_what_no_module_handles)
{
	struct daemon *daemon;
	int fd = start(&daemon, "unknown-message = close");

	probe_send(fd, 1000000, 0);
	expect_text(fd, 1000000, "default");
	client_ping(fd, "handled by the other module");
	probe_send(fd, CHAIN_BARE, 0);
	expect_text(fd, CHAIN_BARE, "empty");
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "unknown_ids", 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(default_handler_gets_no_heartbeats)
{
	struct daemon *daemon;
	int fd = start(&daemon, "unknown-message = close heartbeat-timeout = 1m");

	probe_send(fd, 99998, 0);
	probe_send(fd, 99999, 0);
	probe_send(fd, 100000, 0);
	expect_text(fd, 99998, "default");
	expect_text(fd, 100000, "default");
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "unknown_ids", 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(routes_in_force_are_listed_behind_the_conf)
{
	static const char *const lines[] = {
		"\n# listen main\n",
		"\n#     7 probe\n",
		"\n#     60-62 probe (before) > probe > probe (after)\n",
		"\n#     63 probe (before) > chain (default) > probe (after)\n",
		"\n#     900 chain (before) > chain > chain (after)\n",
		"\n#     901 chain\n",
		"\n#     902-4294967295 chain (default)\n",
	};
	struct daemon *daemon = new_daemon("");
	char first[16384];

	ck_assert_int_eq(daemon_run(daemon, "-T", "-c", daemon->conf, NULL), 0);
	snprintf(first, sizeof(first), "%s", daemon_read(daemon, daemon->out));
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(
		    strstr(first, lines[i]) != NULL, "no '%s' in %s", lines[i], first);
	daemon_set_conf(daemon, first);
	unlink(daemon->out);
	ck_assert_int_eq(daemon_run(daemon, "-T", "-c", daemon->conf, NULL), 0);
	ck_assert_str_eq(daemon_read(daemon, daemon->out), first);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("f_routing");
	TCase *routing = run_case(suite, "routing");

	tcase_add_test(routing, scratch_value_is_seen_by_later_handlers_of_the_chain_only);
	tcase_add_test(routing, default_handler_gets_what_no_module_handles);
	tcase_add_test(routing, default_handler_gets_no_heartbeats);
	tcase_add_test(routing, routes_in_force_are_listed_behind_the_conf);
	return run_suite(suite);
}
