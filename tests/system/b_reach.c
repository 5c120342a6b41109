/*
 * What a conf asks of a framing that cannot say it: heartbeats are refused by file, line
 * and reason, routes that no message can take are warned of.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/run.h"

#define MAIN(modules, text)                                                        \
	"module echo { }\nmodule c10k { }\nmodule framer { path = \"" TEST_MODULES \
	"/framer.so\" serve = false }\nmodule keeper { path = \"" TEST_MODULES     \
	"/keeper.so\" }\n"                                                         \
	"listen main {\naddress = \"127.0.0.1:0\"\nmodules = { " modules " }\n" text "\n}\n"
/* The line of the text; three of the test's own come first. */
#define TEXT_LINE 11

static const struct {
	const char *text;
	int line; /* of the place that is named */
	const char *said;
} refused[] = {
	{ MAIN("echo", "framing = htlv-crc\nheartbeat-interval = 5s"), TEXT_LINE + 1,
	    "heartbeat-id: framing htlv-crc cannot say 99999; give an id from 0 to 255" },
	{ MAIN("echo", "heartbeat-id = 256\nframing = htlv-crc\nheartbeat-interval = 5s"),
	    TEXT_LINE, "heartbeat-id: framing htlv-crc cannot say 256" },
	{ MAIN("echo", "heartbeat-interval = 5s\nframing = length-field\nlength-field { length "
		       "= 2 strip = "
		       "4 id-offset = 2 id-length = 2 adjustment = 2 }"),
	    TEXT_LINE, "framing length-field cannot say 99999; give an id from 0 to 65535" },
	{ MAIN("framer", "framing = stx\nheartbeat-interval = 5s"), TEXT_LINE + 1,
	    "framing stx cannot say 99999; give an id from 0 to 255" },
	{ MAIN("echo", "heartbeat-interval = 5s\nframing = length-field"), TEXT_LINE,
	    "heartbeat-interval: a heartbeat has no payload, and in framing length-field the "
	    "shortest has 4 bytes" },
};

/* The conf, and what a warning says; NULL: there is none. */
static const struct {
	const char *text;
	const char *said;
} taken[] = {
	{ MAIN("echo", "framing = htlv-crc"), NULL },
	{ MAIN("echo", "framing = htlv-crc\nheartbeat-timeout = 5s"), NULL },
	{ MAIN("echo", "framing = htlv-crc\nheartbeat-interval = 5s\nheartbeat-id = 255"),
	    NULL },
	{ MAIN("echo", "framing = line\nheartbeat-interval = 5s"), NULL },
	{ MAIN("echo", "framing = ltv\nheartbeat-interval = 5s"), NULL },
	{ MAIN("echo", "framing = length-field\nlength-field { strip = 4 }\n"
		       "heartbeat-interval = 5s"),
	    NULL },
	{ MAIN("framer, echo", "framing = stx\nheartbeat-interval = 5s\nheartbeat-id = 255"),
	    NULL },
	{ MAIN("keeper", "framing = length-field\nlength-field { id-offset = 4 id-length = 2 "
			 "}\nheartbeat-interval = 5s\nheartbeat-id = 700"),
	    NULL },
	{ MAIN("c10k", "framing = tlv"), NULL },
	{ MAIN("c10k", "\nframing = htlv-crc"),
	    ":12: listen 'main': framing htlv-crc has ids from 0 to 255: 4 of 4 routes of "
	    "module 'c10k' are never taken, the first of them for 1001 to 1001" },
	{ MAIN("c10k", "framing = line\nline { id = 2001 }"),
	    ":11: listen 'main': framing line has ids from 2001 to 2001: 3 of 4 routes of "
	    "module 'c10k' are never taken, the first of them for 1001 to 1001" },
};

START_TEST(heartbeat_that_a_framing_cannot_say_is_refused)
{
	static const char *const ways[] = { "-t", "-F" };
	struct daemon *daemon = daemon_new(1, "%s", refused[_i].text);
	char place[160];

	snprintf(
	    place, sizeof(place), "%s:%d: listen 'main': ", daemon->conf, refused[_i].line);
	for (int way = 0; way < 2; way++) {
		const char *said;

		unlink(daemon->err);
		ck_assert_int_eq(daemon_run(daemon, ways[way], "-c", daemon->conf, NULL), 1);
		said = daemon_read(daemon, daemon->err);
		ck_assert_msg(strstr(said, place) != NULL, "no '%s' in: %s", place, said);
		ck_assert_msg(strstr(said, refused[_i].said) != NULL, "%s", said);
	}
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(routes_out_of_reach_are_warned_of)
{
	struct daemon *daemon = daemon_new(1, "%s", taken[_i].text);
	const char *said;

	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 0);
	said = daemon_read(daemon, daemon->err);
	if (taken[_i].said != NULL)
		ck_assert_msg(strstr(said, taken[_i].said) != NULL, "%s", said);
	else
		ck_assert_msg(strstr(said, "never taken") == NULL, "%s", said);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("b_reach");
	TCase *tcase = run_case(suite, "reach");

	tcase_add_loop_test(tcase, heartbeat_that_a_framing_cannot_say_is_refused, 0,
	    sizeof(refused) / sizeof(refused[0]));
	tcase_add_loop_test(
	    tcase, routes_out_of_reach_are_warned_of, 0, sizeof(taken) / sizeof(taken[0]));
	return run_suite(suite);
}
