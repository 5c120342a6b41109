/*
 * ctl: the command line, figures, and the table that a status is shown as.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/board.h"
#include "ctl/command.h"
#include "ctl/figure.h"
#include "ctl/latency.h"
#include "ctl/options.h"

#define N_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))
#define MAX_WORDS 8

/* Words of a command line, at spaces. */
static enum status parse(const char *words, struct options *options, struct reason *why)
{
	static char copy[256];
	char *argv[MAX_WORDS + 1] = { NULL }, *rest;
	int argc = 0;

	snprintf(copy, sizeof(copy), "runnelctl %s", words);
	for (char *word = strtok_r(copy, " ", &rest); word != NULL && argc < MAX_WORDS;
	     word = strtok_r(NULL, " ", &rest))
		argv[argc++] = word;
	return options_parse(argc, argv, options, why);
}

START_TEST(options_may_stand_anywhere)
{
	struct options options;
	struct reason why = { "" };

	ck_assert_int_eq(
	    parse("-s /s log-level --json debug -w 2s", &options, &why), STATUS_OK);
	ck_assert_str_eq(options.command->name, "log-level");
	ck_assert_str_eq(options.argument, "debug");
	ck_assert_str_eq(options.socket, "/s");
	ck_assert(options.is_json && !options.is_watch);
	ck_assert_int_eq(options.wait_ms, 2000);
	ck_assert_int_eq(parse("status -Wi 250ms", &options, &why), STATUS_OK);
	ck_assert(options.is_watch);
	ck_assert_int_eq(options.interval_ms, 250);
	ck_assert_ptr_null(options.argument);
	ck_assert_int_eq(parse("status", &options, &why), STATUS_OK);
	ck_assert_int_eq(options.interval_ms, 1000);
	ck_assert_int_eq(options.wait_ms, -1);
	ck_assert_int_eq(parse("--help", &options, &why), STATUS_OK);
	ck_assert(options.is_help);
}
END_TEST

static const struct {
	const char *words, *reason;
} bad[] = {
	{ "", "no command" },
	{ "foo", "no command 'foo'" },
	{ "status now", "unexpected argument 'now'" },
	{ "log-level", "log-level wants its level" },
	{ "log-level debug info", "unexpected argument 'info'" },
	{ "--colour status", "no option --colour" },
	{ "status -s", "-s wants a value" },
	{ "status -i 5", "--interval: '5' is no duration" },
	{ "status -w soon", "--wait: 'soon' is no duration" },
	{ "reload --watch", "reload has no --watch" },
	{ "metrics -i 1s", "metrics has no --watch" },
	{ "status -W -i 0", "--interval: 0" },
	{ "conns -l 0", "--limit: '0'" },
	{ "conns -l many", "--limit: 'many'" },
	{ "conns -l 10001", "--limit: '10001' is no number from 1 to 10000" },
	{ "conns -o colour", "--sort: there is no 'colour'; give id, age, idle or queue" },
	{ "conns --sort=", "--sort: there is no ''" },
	{ "kick -1", "no number that a command takes is negative" },
	{ "kick -12", "no number that a command takes is negative" },
	{ "status -jx", "no option -x" },
	{ "status --sort id", "status has no --sort" },
	{ "kick", "kick wants its id" },
	{ "--socket= status", "--socket: '' is no path" },
	{ "conns -f \xff", "what is given to conns is not UTF-8" },
	{ "log-level \xc3", "what is given to log-level is not UTF-8" },
};

START_TEST(wrong_command_lines_are_refused)
{
	struct options options;
	struct reason why = { "" };

	ck_assert_int_eq(parse(bad[_i].words, &options, &why), STATUS_INVALID);
	ck_assert_msg(
	    strstr(why.text, bad[_i].reason) != NULL, "%s: %s", bad[_i].words, why.text);
}
END_TEST

START_TEST(figures_have_three_digits)
{
	static const struct {
		double value;
		const char *text;
	} figures[] = {
		{ 0, "0" },
		{ 7, "7" },
		{ 0.5, "0.50" },
		{ 9.994, "9.99" },
		{ 9.999, "10.0" },
		{ 71.24, "71.2" },
		{ 99.96, "100" },
		{ 999.4, "999" },
		{ 999.6, "1.00k" },
		{ 13420, "13.4k" },
		{ 999499, "999k" },
		{ 999500, "1.00M" },
		{ 1.31e6, "1.31M" },
		{ 2.5e9, "2.50G" },
		{ 1e20, "100000P" },
	};
	char buf[FIGURE_SIZE];

	for (int i = 0; i < N_OF(figures); i++)
		ck_assert_str_eq(figure_format(figures[i].value, buf), figures[i].text);
}
END_TEST

START_TEST(latencies_are_bounds_with_a_unit)
{
	static const struct {
		double bound_s;
		const char *text;
	} latencies[] = {
		{ 1e-8, "10ns" },
		{ 0.0000095, "9.5us" },
		{ 0.00012, "120us" },
		{ 0.001, "1ms" },
		{ 0.022, "22ms" },
		{ 1.5, "1.5s" },
		{ 100, "100s" },
	};
	struct durations durations;
	char buf[LATENCY_SIZE];
	json_t *object;

	for (int i = 0; i < N_OF(latencies); i++) {
		durations = (struct durations){ 0 };
		ck_assert_str_eq(latency_format(&durations, 990, buf), "-");
		object =
		    json_pack("{si s[[fi]]}", "count", 7, "buckets", latencies[i].bound_s, 7);
		latency_add(&durations, object);
		ck_assert_uint_eq(durations_count(&durations), 7);
		ck_assert_str_eq(latency_format(&durations, 990, buf), latencies[i].text);
		latency_subtract(&durations, object);
		ck_assert_uint_eq(durations_count(&durations), 0);
		json_decref(object);
	}
	object = json_pack("{si s[[fi]]}", "count", 100, "buckets", 0.001, 98);
	latency_add(&durations, object);
	ck_assert_str_eq(latency_format(&durations, 980, buf), "1ms");
	ck_assert_str_eq(latency_format(&durations, 990, buf), ">100s");
	json_decref(object);
}
END_TEST

/* --- the board --- */

/* 500 slow replies that were there before, and a fast one to each frame. */
static json_t *answer(int pid, int up_ms, int frames, int conns)
{
	json_t *reply_time = json_pack("{si s[[fi][fi]]}", "count", frames + 500, "buckets",
	    0.00012, frames, 0.02, frames + 500);

	return json_pack("{ss ss si ss si si si s[{si ss si si si si sb so so s{si si si}},"
			 "{si ss si si si sb s{si ss si} s{si si si}}]}",
	    "version", "0.1.0", "state", "serving", "pid", pid, "conf", "/c\033[2J\xc2\x9b",
	    "uptime_ms", up_ms, "generation", 3, "draining", 12, "workers", "slot", 0, "state",
	    "ready", "pid", 812, "uptime_ms", up_ms, "connections", conns, "memory_bytes",
	    12345678, "degraded", 0, "slowest", json_null(), "reply_time", reply_time,
	    "counters", "frames_in", frames, "frames_out", 2 * frames, "sends_refused", 5,
	    "slot", 1, "state", "waiting", "pid", 0, "uptime_ms", 0, "connections", 0,
	    "degraded", 1, "slowest", "ms", 12, "module", "c10k", "id", 1001, "counters",
	    "frames_in", 1000, "frames_out", 1000, "sends_refused", 0);
}

static void expect_board(const json_t *before, const json_t *now, const char *wanted)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	board_print(before, now, out);
	fclose(out);
	ck_assert_str_eq(text, wanted);
	free(text);
}

#define HEAD(up)                                                       \
	"runneld 0.1.0 is serving: pid 811, up " up ", generation 3\n" \
	"conf /c\\x1b[2J\\x9b\n"                                       \
	"80 connections, balance 2.00, of requests 2.00; 12 more of workers that drain\n\n"

START_TEST(board_has_rates_of_two_looks)
{
	json_t *before = answer(811, 60000, 1000, 70), *now = answer(811, 62000, 4000, 80);

	expect_board(before, now,
	    HEAD("1m 2s") "SLOT  STATE              PID     UP    MEM  CONNS  REQ/S  OUT/S    "
			  "P99  REFUSED  "
			  "SLOWEST HANDLER\n"
			  "   0  ready              812  1m 2s  12.3M     80  1.50k  3.00k  "
			  "120us        5  -\n"
			  "   1  waiting, degraded    -      -      -      0      0      0     "
			  " -        0  "
			  "12 ms, c10k 1001\n"
			  " all                                 12.3M     80  1.50k  3.00k  "
			  "120us        5\n");
	json_decref(before);
	json_decref(now);
}
END_TEST

/* Another daemon, a clock that stands or goes back, and counters that begin anew. */
START_TEST(board_has_no_rate_where_none_is_known)
{
	static const struct {
		int pid, up_ms, frames;
	} befores[] = { { 811, 5000, 100 }, { 810, 4000, 100 }, { 811, 6000, 100 },
		{ 811, 4000, 200 } };
	json_t *now = answer(811, 5000, 100, 80), *before;
	char *text;
	size_t size;

	for (int i = -1; i < N_OF(befores); i++) {
		FILE *out = open_memstream(&text, &size);

		before = i < 0 ? NULL
			       : answer(befores[i].pid, befores[i].up_ms, befores[i].frames, 1);
		board_print(before, now, out);
		fclose(out);
		ck_assert_ptr_nonnull(strstr(
		    text, "   0  ready              812  5s  12.3M     80      -      -    -"));
		ck_assert_ptr_nonnull(strstr(text, " 80      -      -    -        5\n"));
		free(text);
		json_decref(before);
	}
	json_decref(now);
}
END_TEST

START_TEST(board_has_a_line_for_each_upstream)
{
	json_t *now = json_object();

	json_object_set_new(now, "upstreams",
	    json_pack("[{ss si si}{ss si si}]", "name", "back", "up", 1, "wanted", 4, "name",
		"b\033[2J", "up", 2, "wanted", 2));
	expect_board(NULL, now,
	    "runneld ? is ?: pid 0, up 0s, generation 0\nconf ?\n0 connections\n"
	    "upstream back: 1 of 4 connections up\n"
	    "upstream b\\x1b[2J: 2 of 2 connections up\n\n"
	    "SLOT  STATE  PID  UP  MEM  CONNS  REQ/S  OUT/S  P99  REFUSED  SLOWEST HANDLER\n"
	    " all                    -      0      0      0    -        0\n");
	json_decref(now);
}
END_TEST

#define EMPTY_HEAD "runneld ? is ?: pid 0, up 0s, generation 0\nconf ?\n0 connections\n\n"
#define EMPTY_TABLE                                                                       \
	"SLOT  STATE  PID  UP  MEM  CONNS  REQ/S  OUT/S  P99  REFUSED  SLOWEST HANDLER\n" \
	" all                    -      0      0      0    -        0\n"

/* Also one of a generation that ends; what is counted for the slot is in its first row. */
START_TEST(board_shows_workers_that_drain)
{
	json_t *now = json_pack("{s[{si ss si s{si si}}] s[{s[{si si si} {si si sn}]}]}",
	    "workers", "slot", 0, "state", "ready", "pid", 812, "leaving", "pid", 811,
	    "connections", 7, "ending", "workers", "slot", 1, "pid", 810, "connections", 3,
	    "slot", 2, "pid", 0, "leaving");

	expect_board(NULL, now,
	    EMPTY_HEAD
	    "SLOT  STATE     PID  UP  MEM  CONNS  REQ/S  OUT/S  P99  REFUSED  SLOWEST HANDLER\n"
	    "   0  ready     812  0s    -      0      -      -    -        0  -\n"
	    "   0  draining  811               7\n"
	    "   1  draining  810               3\n");
	json_decref(now);
}
END_TEST

START_TEST(board_tells_of_a_change_that_failed)
{
	json_t *now = json_pack(
	    "{ss sb}", "last_change", "reload failed: \n", "last_change_successful", 0);

	expect_board(NULL, now,
	    "runneld ? is ?: pid 0, up 0s, generation 0\nconf ?\n0 connections\n"
	    "last change: reload failed: \\x0a\n\n" EMPTY_TABLE);
	json_object_set_new(now, "last_change_successful", json_true());
	expect_board(NULL, now, EMPTY_HEAD EMPTY_TABLE);
	json_object_set_new(now, "last_change_successful", json_false());
	json_object_set_new(now, "last_change", json_string(""));
	expect_board(NULL, now, EMPTY_HEAD EMPTY_TABLE);
	json_decref(now);
}
END_TEST

START_TEST(board_of_what_is_no_status_is_empty)
{
	json_t *now = json_object();

	expect_board(NULL, now, EMPTY_HEAD EMPTY_TABLE);
	json_decref(now);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ctl");
	TCase *tcase = tcase_create("options");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	tcase_add_test(tcase, options_may_stand_anywhere);
	tcase_add_loop_test(tcase, wrong_command_lines_are_refused, 0, N_OF(bad));
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("board");
	tcase_add_test(tcase, figures_have_three_digits);
	tcase_add_test(tcase, latencies_are_bounds_with_a_unit);
	tcase_add_test(tcase, board_has_rates_of_two_looks);
	tcase_add_test(tcase, board_has_no_rate_where_none_is_known);
	tcase_add_test(tcase, board_has_a_line_for_each_upstream);
	tcase_add_test(tcase, board_shows_workers_that_drain);
	tcase_add_test(tcase, board_tells_of_a_change_that_failed);
	tcase_add_test(tcase, board_of_what_is_no_status_is_empty);
	suite_add_tcase(suite, tcase);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed > 0;
}
