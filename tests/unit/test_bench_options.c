/*
 * bench/options: command lines that are good, that are not, and that the manual knows them all.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/framing.h"

#include "bench/options.h"

#include "test_bench.h"

#define WORDS_MAX 64

static struct options options;
static struct reason why;

/*
 * Parse a line whose words are separated by one space each. The texts live until the next call.
 */
static enum status parse(const char *line)
{
	static char copy[1024];
	static char program[] = "runnel-bench";
	char *argv[WORDS_MAX] = { program }, *rest = copy, *word;
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", line);
	while ((word = strsep(&rest, " ")) != NULL && argc < WORDS_MAX - 1) {
		if (word[0] != '\0')
			argv[argc++] = word;
	}
	why.text[0] = '\0';
	return options_parse(argc, argv, &options, &why);
}

static void expect_good(const char *line)
{
	ck_assert_msg(parse(line) == STATUS_OK, "%s: %s", line, why.text);
}

START_TEST(defaults_are_as_the_manual_says)
{
	expect_good("localhost:8888");
	ck_assert_int_eq(options.command, COMMAND_RUN);
	ck_assert_str_eq(options.host, "localhost");
	ck_assert_str_eq(options.service, "8888");
	ck_assert_uint_eq(options.n_connections, 100);
	ck_assert_uint_eq(options.n_requests, 1000);
	ck_assert_uint_eq(options.n_in_flight, 1);
	ck_assert_uint_eq(options.n_warmup, 0);
	ck_assert_uint_eq(options.n_connecting, 128);
	ck_assert_uint_eq(options.deadline_ns, UINT64_C(15000000000));
	ck_assert_uint_eq(options.think_ns, 0);
	ck_assert_uint_eq(options.duration_ns, 0);
	ck_assert_uint_eq(options.seed, 1);
	ck_assert_int_eq(options.load, LOAD_ID);
	ck_assert_uint_eq(options.message_id, 1001);
	ck_assert_ptr_eq(options.framing, &framing_tlv);
	ck_assert_double_eq(options.reconnect_percent, 0);
	ck_assert(!options.is_quiet && !options.shows_progress && !options.hides_progress);
}
END_TEST

START_TEST(every_option_is_taken)
{
	expect_good("--connect [::1]:80 --connections 5 --requests 6 --duration 2s --warmup 7 "
		    "--pipeline 8 --think 250us --framing ltv --reconnect 2.5% "
		    "--deadline 90ms --threads 3 --processes 2 --connecting 9 --seed 10 "
		    "--server-pid 11,12 --server-pid 13 --json out --title x");
	ck_assert_str_eq(options.host, "::1");
	ck_assert_str_eq(options.service, "80");
	ck_assert_uint_eq(options.n_connections, 5);
	ck_assert_uint_eq(options.n_requests, 6);
	ck_assert_uint_eq(options.duration_ns, 2000000000);
	ck_assert_uint_eq(options.n_warmup, 7);
	ck_assert_uint_eq(options.n_in_flight, 8);
	ck_assert_uint_eq(options.think_ns, 250000);
	ck_assert_ptr_eq(options.framing, &framing_ltv);
	ck_assert_double_eq(options.reconnect_percent, 2.5);
	ck_assert_uint_eq(options.deadline_ns, 90000000);
	ck_assert_uint_eq(options.n_threads, 3);
	ck_assert_uint_eq(options.n_processes, 2);
	ck_assert_uint_eq(options.n_connecting, 9);
	ck_assert_uint_eq(options.seed, 10);
	ck_assert_uint_eq(options.n_server_pids, 3);
	ck_assert_int_eq(options.server_pids[0], 11);
	ck_assert_int_eq(options.server_pids[1], 12);
	ck_assert_int_eq(options.server_pids[2], 13);
	ck_assert_str_eq(options.json_path, "out");
	ck_assert_str_eq(options.title, "x");
}
END_TEST

START_TEST(short_forms_and_flags_are_taken)
{
	expect_good("-C h:1 -c5 -n 6 -d 1m -w 7 -p 8 -k 1ms -i 4001 -f tlv -r 0% -D 1s -t 3 "
		    "-P 2 -b 9 -s 10 -S 11 -j - -T t -q --progress");
	ck_assert_uint_eq(options.n_connections, 5);
	ck_assert_uint_eq(options.message_id, 4001);
	ck_assert_uint_eq(options.duration_ns, UINT64_C(60000000000));
	ck_assert(options.is_quiet && options.shows_progress && !options.hides_progress);
	expect_good("-m h:1 --progress --no-progress");
	ck_assert_int_eq(options.load, LOAD_MIX);
	ck_assert(!options.shows_progress && options.hides_progress);
	expect_good("h:1 -e 1k");
	ck_assert_int_eq(options.load, LOAD_ECHO);
	ck_assert_uint_eq(options.echo_bytes, 1024);
}
END_TEST

START_TEST(duration_alone_leaves_requests_unbound)
{
	expect_good("h:1 -d 5s");
	ck_assert_uint_eq(options.n_requests, 0);
	expect_good("h:1 -d 5s -n 10");
	ck_assert_uint_eq(options.n_requests, 10);
}
END_TEST

START_TEST(other_commands_are_told_apart)
{
	expect_good("--help");
	ck_assert_int_eq(options.command, COMMAND_HELP);
	expect_good("-V");
	ck_assert_int_eq(options.command, COMMAND_VERSION);
	expect_good("--compare a b");
	ck_assert_int_eq(options.command, COMMAND_COMPARE);
	ck_assert_str_eq(options.compare_paths[0], "a");
	ck_assert_str_eq(options.compare_paths[1], "b");
}
END_TEST

/* A bad line, and a word that its error must have. */
static const struct {
	const char *line, *word;
} bad_lines[] = {
	{ "", "HOST:PORT" },
	{ "host", "HOST:PORT" },
	{ "host:", "HOST:PORT" },
	{ ":80", "HOST:PORT" },
	{ "::1:80", "HOST:PORT" },
	{ "[::1]80", "HOST:PORT" },
	{ "[::1:80", "HOST:PORT" },
	{ "[]:80", "HOST:PORT" },
	{ "h:1 h:2", "h:2" },
	{ "-C h:1 h:2", "h:2" },
	{ "h:1 --connections 0", "--connections" },
	{ "h:1 --connections -1", "--connections" },
	{ "h:1 --connections 1k", "--connections" },
	{ "h:1 -c 10000001", "10000000" },
	{ "h:1 -n 0", "--requests" },
	{ "h:1 -n 99999999999999999999", "--requests" },
	{ "h:1 -p 0", "--pipeline" },
	{ "h:1 -p 65537", "65536" },
	{ "h:1 -k 1", "--think" },
	{ "h:1 -k 1sec", "--think" },
	{ "h:1 -k -1s", "--think" },
	{ "h:1 -k us", "--think" },
	{ "h:1 -d 0", "--duration" },
	{ "h:1 -D 0", "--deadline" },
	{ "h:1 -D 999us", "--deadline" },
	{ "h:1 -i 1002", "1001" },
	{ "h:1 -i 1001x", "1001" },
	{ "h:1 -e 17M", "--echo" },
	{ "h:1 -e -1", "--echo" },
	{ "h:1 -f xml", "tlv" },
	{ "h:1 -r 5", "5%" },
	{ "h:1 -r 101%", "--reconnect" },
	{ "h:1 -r %", "--reconnect" },
	{ "h:1 -r nan%", "--reconnect" },
	{ "h:1 -S 0", "--server-pid" },
	{ "h:1 -S 1,", "--server-pid" },
	{ "h:1 -S 1;2", "--server-pid" },
	{ "h:1 -S 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17", "--server-pid" },
	{ "h:1 -t 0", "--threads" },
	{ "h:1 --fast", "--fast" },
	{ "h:1 -Z", "-Z" },
	{ "h:1 --mix=1", "--mix" },
	{ "h:1 --json", "--json" },
	{ "h:1 -j", "--json" },
	{ "--compare a", "two" },
	{ "--compare a b c", "two" },
};

START_TEST(bad_line_is_refused_with_a_word_on_why)
{
	ck_assert_msg(
	    parse(bad_lines[_i].line) == STATUS_INVALID, "taken: '%s'", bad_lines[_i].line);
	ck_assert_msg(strstr(why.text, bad_lines[_i].word) != NULL, "'%s': %s",
	    bad_lines[_i].line, why.text);
	ck_assert_ptr_null(strchr(why.text, '\n'));
}
END_TEST

static char *read_manual(void)
{
	const char *srcdir = getenv("srcdir");
	char path[1024], *text;
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "%s/man/runnel-bench.1", srcdir != NULL ? srcdir : ".");
	file = fopen(path, "r");
	ck_assert_msg(file != NULL, "no %s", path);
	text = calloc(1, 65536);
	len = fread(text, 1, 65535, file);
	ck_assert_uint_gt(len, 0);
	fclose(file);
	return text;
}

/* "  -c, --connections N ..." in the help must be ".It Fl c , -connections" in the manual. */
START_TEST(help_and_manual_have_the_same_options)
{
	char *manual = read_manual(), *help = NULL, *line, *rest, name[64], wanted[128];
	unsigned int n_help = 0, n_manual = 0;
	size_t size;
	FILE *out = open_memstream(&help, &size);
	const char *at;

	options_print_help(out);
	fclose(out);
	for (rest = help; (line = strsep(&rest, "\n")) != NULL;) {
		ck_assert_msg(strlen(line) <= 80, "too long: %s", line);
		if (strlen(line) < 8 || strncmp(line + 4, "  --", 4) *
						strncmp(line + 4, ", --", 4) *
						strncmp(line + 4, "--", 2) !=
					    0)
			continue;
		at = strstr(line, "--");
		ck_assert_int_eq(sscanf(at, "--%63[a-z-]", name), 1);
		if (line[2] == '-')
			snprintf(wanted, sizeof(wanted), "\n.It Fl %c , -%s", line[3], name);
		else
			snprintf(wanted, sizeof(wanted), "\n.It Fl -%s", name);
		ck_assert_msg(
		    strstr(manual, wanted) != NULL, "not in the manual: %s", wanted + 1);
		n_help++;
	}
	for (at = manual; (at = strstr(at, "\n.It Fl ")) != NULL; at++)
		n_manual++;
	ck_assert_uint_gt(n_help, 20);
	ck_assert_uint_eq(n_help, n_manual);
	free(help);
	free(manual);
}
END_TEST

TCase *options_tests(void)
{
	TCase *tests = tcase_create("options");

	tcase_add_test(tests, defaults_are_as_the_manual_says);
	tcase_add_test(tests, every_option_is_taken);
	tcase_add_test(tests, short_forms_and_flags_are_taken);
	tcase_add_test(tests, duration_alone_leaves_requests_unbound);
	tcase_add_test(tests, other_commands_are_told_apart);
	tcase_add_loop_test(tests, bad_line_is_refused_with_a_word_on_why, 0,
	    (int)(sizeof(bad_lines) / sizeof(bad_lines[0])));
	tcase_add_test(tests, help_and_manual_have_the_same_options);
	return tests;
}
