/*
 * What a module keeps for its connections: names, data, close callbacks; and what it can ask
 * about them.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/modules/keeper.h"
#include "system/probe.h"
#include "system/run.h"

#define KEEPER_SECTION "module keeper { path = \"" TEST_MODULES "/keeper.so\" }\n"

static struct daemon *start(unsigned n_workers)
{
	struct daemon *daemon = daemon_new(n_workers, PROBE_SECTION KEEPER_SECTION
	    "listen main { address = \"127.0.0.1:0\" modules = { keeper, probe } }\n");

	daemon_start(daemon);
	return daemon;
}

/* Send len bytes of a request, and receive the text that answers it. Good until the next call. */
static const char *ask_bytes(int fd, uint32_t id, const void *payload, size_t len)
{
	static char text[PROBE_TEXT_SIZE];
	struct bytes request = { 0 };

	bytes_add_tlv(&request, id, payload, len);
	client_send(fd, request.data, request.len);
	bytes_free(&request);
	return probe_text(fd, id, text);
}

static const char *ask(int fd, uint32_t id, const char *text)
{
	return ask_bytes(fd, id, text, strlen(text));
}

static void expect_id(int fd, const char *key, uint64_t id)
{
	char text[32];

	snprintf(text, sizeof(text), "%" PRIu64, id);
	ck_assert_str_eq(ask(fd, KEEPER_FIND, key), text);
}

static void expect_told(int fd, const char *expected)
{
	char text[PROBE_TEXT_SIZE];

	ck_assert_str_eq(probe_text(fd, KEEPER_TOLD, text), expected);
}

START_TEST(second_login_takes_the_name)
{
	struct daemon *daemon = start(1);
	int one = client_connect(daemon_port(daemon, "main"));
	int two = client_connect(daemon_port(daemon, "main"));
	uint64_t first = probe_who(one).id, second = probe_who(two).id;
	char text[64];

	ck_assert_str_eq(ask(one, KEEPER_BIND, "ann"), "0 0");
	ck_assert_str_eq(ask(one, KEEPER_BIND, "ann"), "0 0");
	expect_id(two, "ann", first);
	ck_assert_str_eq(ask(two, KEEPER_SEND, "ann"), "0");
	expect_told(one, "ann");
	snprintf(text, sizeof(text), "0 %" PRIu64, first);
	ck_assert_str_eq(ask(two, KEEPER_BIND, "ann"), text);
	client_expect_eof(one);
	expect_id(two, "ann", second);
	ck_assert_str_eq(ask(two, KEEPER_UNBIND, "ann"), "done");
	expect_id(two, "ann", 0);
	ck_assert_str_eq(ask(two, KEEPER_SEND, "ann"), "-6");
	close(one);
	close(two);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(name_ends_with_its_connection)
{
	struct daemon *daemon = start(1);
	int one = client_connect(daemon_port(daemon, "main"));
	int two = client_connect(daemon_port(daemon, "main"));

	ck_assert_str_eq(ask(one, KEEPER_BIND, "ann"), "0 0");
	ck_assert_str_eq(ask(two, KEEPER_UNBIND, "ann"), "done");
	expect_id(two, "ann", probe_who(one).id);
	close(one);
	WAIT_FOR(daemon_has_logged(daemon, "module 'keeper': closed "));
	expect_id(two, "ann", 0);
	close(two);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(name_is_of_one_worker)
{
	struct daemon *daemon = start(2);
	int fds[2];

	for (unsigned i = 0; i < 2; i++) {
		fds[i] = probe_connect_to_worker(daemon_port(daemon, "main"), i);
		ck_assert_str_eq(ask(fds[i], KEEPER_BIND, "ann"), "0 0");
	}
	for (unsigned i = 0; i < 2; i++) {
		expect_id(fds[i], "ann", probe_who(fds[i]).id);
		close(fds[i]);
	}
	daemon_stop(&daemon);
}
END_TEST

START_TEST(key_has_a_length)
{
	struct daemon *daemon = start(1);
	int fd = client_connect(daemon_port(daemon, "main"));
	char key[256];

	memset(key, 'k', sizeof(key));
	ck_assert_str_eq(ask_bytes(fd, KEEPER_BIND, key, 255), "0 0");
	ck_assert_str_eq(ask_bytes(fd, KEEPER_BIND, key, 256), "-5 0");
	ck_assert_str_eq(ask_bytes(fd, KEEPER_BIND, key, 0), "-5 0");
	ck_assert_str_eq(ask_bytes(fd, KEEPER_FIND, key, 0), "0");
	ck_assert_str_eq(ask_bytes(fd, KEEPER_FIND, key, 256), "0");
	close(fd);
	daemon_end(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon,
			      "module 'keeper': a key of 256 bytes: it must have 1 to 255"),
	    1);
	daemon_destroy(&daemon);
}
END_TEST

/* The worker is there still when they would have been called. */
START_TEST(functions_that_are_null_are_refused)
{
	struct daemon *daemon = start(1);
	int fd = client_connect(daemon_port(daemon, "main"));

	ck_assert_str_eq(ask(fd, KEEPER_NULL, ""), "-5 0");
	close(fd);
	fd = client_connect(daemon_port(daemon, "main"));
	ck_assert_str_eq(ask(fd, KEEPER_NULL, ""), "-5 0");
	close(fd);
	daemon_end(daemon);
	ck_assert(daemon_has_logged(
	    daemon, "module 'keeper': rnl_add_on_close() without a function"));
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 1);
	daemon_destroy(&daemon);
}
END_TEST

/* In this order, each once. */
START_TEST(callbacks_and_data_follow_the_close_hook)
{
	static const char *const lines[] = { "closed ", "called one, data there",
		"called three, data there", "freed new" };
	struct daemon *daemon = start(1);
	int fd = client_connect(daemon_port(daemon, "main"));
	const char *at;

	ck_assert_str_eq(ask(fd, KEEPER_DATA, "old"), "done");
	ck_assert(!daemon_has_logged(daemon, "freed"));
	ck_assert_str_eq(ask(fd, KEEPER_DATA, "new"), "done");
	ck_assert_uint_eq(daemon_n_logged(daemon, "freed old"), 1);
	ck_assert_str_eq(ask(fd, KEEPER_ADD, "one"), "0");
	ck_assert_str_eq(ask(fd, KEEPER_ADD, "two"), "0");
	ck_assert_str_eq(ask(fd, KEEPER_REMOVE, ""), "done");
	ck_assert_str_eq(ask(fd, KEEPER_ADD, "three"), "0");
	close(fd);
	WAIT_FOR(daemon_has_logged(daemon, "freed new"));
	at = daemon_read(daemon, daemon->log);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char line[64];

		snprintf(line, sizeof(line), "module 'keeper': %s", lines[i]);
		at = strstr(at, line);
		ck_assert_msg(at != NULL, "no '%s', or too early", line);
	}
	ck_assert(!daemon_has_logged(daemon, "called two"));
	ck_assert_uint_eq(daemon_n_logged(daemon, "freed"), 2);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(local_address_and_times_are_told)
{
	struct daemon *daemon = start(1);
	uint16_t port = daemon_port(daemon, "main");
	int fd = client_connect(port);
	char expected[64], local[64];
	unsigned long long age_ms, idle_ms;

	snprintf(expected, sizeof(expected), "127.0.0.1:%u", port);
	do {
		ck_assert_int_eq(sscanf(ask(fd, KEEPER_WHERE, ""), "%63s %llu %llu", local,
				     &age_ms, &idle_ms),
		    3);
		ck_assert_str_eq(local, expected);
		ck_assert_uint_lt(age_ms, DEADLINE_MS);
	} while (age_ms < 300);
	/* It has come in this turn of the loop. */
	ck_assert_uint_eq(idle_ms, 0);
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("f_keep");
	TCase *names = run_case(suite, "names");
	TCase *ends = run_case(suite, "ends");

	tcase_add_test(names, second_login_takes_the_name);
	tcase_add_test(names, name_ends_with_its_connection);
	tcase_add_test(names, name_is_of_one_worker);
	tcase_add_test(names, key_has_a_length);
	tcase_add_test(ends, functions_that_are_null_are_refused);
	tcase_add_test(ends, callbacks_and_data_follow_the_close_hook);
	tcase_add_test(ends, local_address_and_times_are_told);
	return run_suite(suite);
}
