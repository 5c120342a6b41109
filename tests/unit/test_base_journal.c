/*
 * base/journal, and fields of log lines: the same in both formats, and nothing waits for whoever
 * reads them.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/journal.h"
#include "base/log_sink.h"

#include "json.h"
#include "test_base.h"

static char folder[64], log_path[96], path[96];

/* Runs around each test, in its process. */
static void set_up(void)
{
	struct reason why;

	snprintf(folder, sizeof(folder), "/tmp/runnel-journal.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(log_path, sizeof(log_path), "%s/log", folder);
	snprintf(path, sizeof(path), "%s/journal", folder);
	ck_assert_int_eq(log_open(log_path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT, &why), STATUS_OK);
	log_set_process("worker 3");
}

static void tear_down(void)
{
	unlink(path);
	unlink(log_path);
	rmdir(folder);
}

static void open_journal(const char *target, enum log_format format)
{
	struct reason why;

	ck_assert_msg(journal_open(target, format, &why) == STATUS_OK, "%s", why.text);
}

/* Valid until the next call. */
static const char *content(const char *name)
{
	static char text[1 << 16];
	FILE *file = fopen(name, "rb");

	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static const struct log_field fields[] = {
	{ .name = "id", .text = "1f" },
	{ .name = "bytes", .number = 18446744073709551615u },
	{ .name = "odd", .text = "a\"\n\\" },
};

#define N_FIELDS (sizeof(fields) / sizeof(fields[0]))

START_TEST(fields_follow_the_message)
{
	char end[128];

	open_journal(path, LOG_FORMAT_TEXT);
	ck_assert(journal_is_open());
	journal_write("connection ended", fields, N_FIELDS, 0);
	snprintf(end, sizeof(end),
	    " info worker 3[%d]: connection ended id=1f bytes=18446744073709551615 "
	    "odd=a\"\\x0a\\\n",
	    (int)getpid());
	ck_assert_str_eq(strchr(content(path), ' '), end);
}
END_TEST

START_TEST(in_json_they_are_members)
{
	const char *line;
	char end[200];

	open_journal(path, LOG_FORMAT_JSON);
	journal_write("connection ended", fields, N_FIELDS, 0);
	line = content(path);
	snprintf(end, sizeof(end),
	    ",\"level\":\"info\",\"process\":\"worker 3\",\"pid\":%d,"
	    "\"message\":\"connection ended\",\"id\":\"1f\","
	    "\"bytes\":18446744073709551615,\"odd\":\"a\\\"\\u000a\\\\\"}\n",
	    (int)getpid());
	ck_assert_str_eq(strchr(line, ','), end);
	ck_assert(json_is_flat_object(line, strlen(line) - 1));
}
END_TEST

/* Each field of the one is in the other, with the same value: of lines with fields and without. */
START_TEST(both_formats_have_the_same_fields)
{
	static const char *const names[] = { "time", "level", "process", "pid", "message" };
	struct reason why;
	const char *line;

	ck_assert_int_eq(log_open(path, LOG_LEVEL_INFO, LOG_FORMAT_JSON, &why), STATUS_OK);
	log_warn("plain");
	log_with_fields(LOG_LEVEL_WARN, "more", fields, N_FIELDS);
	line = content(path);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char member[32];

		snprintf(member, sizeof(member), "\"%s\":", names[i]);
		line = strstr(line, member);
		ck_assert_ptr_nonnull(line);
	}
	ck_assert_ptr_eq(strchr(line, '}'), strchr(line, '\n') - 1);
	ck_assert_int_eq(log_open(log_path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT, &why), STATUS_OK);
	log_warn("plain");
	line = content(log_path);
	ck_assert_uint_eq(strspn(line, "0123456789-:.TZ"), 24);
	ck_assert_ptr_nonnull(strstr(line, " warn worker 3["));
	ck_assert_ptr_nonnull(strstr(line, "]: plain\n"));
}
END_TEST

START_TEST(too_many_fields_are_cut_at_one)
{
	static char text[1500];
	struct log_field many[2] = { { .name = "a", .text = text },
		{ .name = "b", .text = text } };
	const char *line;

	memset(text, 'x', sizeof(text) - 1);
	open_journal(path, LOG_FORMAT_JSON);
	journal_write("m", many, 2, 0);
	line = content(path);
	ck_assert_uint_le(strlen(line), 2048);
	ck_assert(json_is_flat_object(line, strlen(line) - 1));
	ck_assert_str_eq(line + strlen(line) - 6, "...\"}\n");
}
END_TEST

START_TEST(it_may_be_the_log_or_nothing)
{
	ck_assert(!journal_is_open());
	journal_write("before", NULL, 0, 0);
	open_journal("log", LOG_FORMAT_JSON);
	ck_assert(journal_is_open());
	ck_assert_int_eq(journal_fd(), -1);
	journal_write("to the log", fields, 1, 0);
	open_journal("off", LOG_FORMAT_TEXT);
	ck_assert(!journal_is_open());
	journal_write("after", NULL, 0, 0);
	ck_assert_str_eq(strstr(content(log_path), "]: "), "]: to the log id=1f\n");
}
END_TEST

START_TEST(it_is_reopened_by_its_name)
{
	char moved[sizeof(path) + 8];
	struct reason why;

	open_journal(path, LOG_FORMAT_TEXT);
	snprintf(moved, sizeof(moved), "%s.1", path);
	ck_assert_int_eq(rename(path, moved), 0);
	journal_write("old", NULL, 0, 0);
	ck_assert_int_eq(journal_reopen(&why), STATUS_OK);
	journal_write("new", NULL, 0, 0);
	ck_assert_str_eq(strstr(content(moved), "]: "), "]: old\n");
	ck_assert_str_eq(strstr(content(path), "]: "), "]: new\n");
	unlink(moved);
}
END_TEST

START_TEST(one_that_cannot_be_opened_is_refused)
{
	struct reason why;

	ck_assert_int_eq(journal_open("/nowhere/x", LOG_FORMAT_TEXT, &why), STATUS_INVALID);
	ck_assert_str_eq(
	    why.text, "cannot open connection log /nowhere/x: No such file or directory");
	ck_assert(!journal_is_open());
}
END_TEST

/* Read what is there. */
static size_t take(int fd, char *text, size_t size)
{
	ssize_t n = read(fd, text, size - 1);

	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	return (size_t)n;
}

/* A pipe that nobody reads on takes some lines, and the rest is lost without a wait. */
START_TEST(a_full_pipe_loses_lines_and_says_how_many)
{
	static char text[1 << 17];
	int fd, n_taken = 0;
	char lost[64];

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDONLY | O_NONBLOCK);
	open_journal(path, LOG_FORMAT_TEXT);
	for (int i = 0; i < 10000; i++)
		journal_write("line", fields, 2, (uint64_t)i);
	take(fd, text, sizeof(text));
	for (const char *at = text; (at = strstr(at, ": line ")) != NULL; at++)
		n_taken++;
	ck_assert_int_gt(n_taken, 100);
	journal_write("last", NULL, 0, 0);
	take(fd, text, sizeof(text));
	snprintf(lost, sizeof(lost),
	    ": %d lines of this process are missing here: ", 10000 - n_taken);
	ck_assert_msg(strstr(text, lost) != NULL, "no '%s': %s", lost, text);
	ck_assert_ptr_nonnull(strstr(text, "]: last\n"));
	ck_assert_ptr_nonnull(strstr(content(log_path), "journal: a line is lost: "));
	ck_assert_ptr_nonnull(strstr(content(log_path), "more were not logged)"));
	close(fd);
}
END_TEST

/* How long the files of this process may be; check's own writes want it taken back. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* Of the line of which there was room for a part, too. */
START_TEST(a_limit_of_file_sizes_is_told_as_such)
{
	signal(SIGXFSZ, SIG_IGN);
	open_journal(path, LOG_FORMAT_TEXT);
	limit_files(2000);
	for (uint64_t now_ms = 0; content(log_path)[0] == '\0'; now_ms += 1000)
		journal_write("line", fields, 2, now_ms);
	limit_files(RLIM_INFINITY);
	journal_write("last", NULL, 0, 0);
	ck_assert_ptr_nonnull(strstr(content(log_path), ": a line is lost: File too large\n"));
	ck_assert_ptr_nonnull(strstr(
	    content(path), ": 1 line of this process is missing here: File too large\n"));
}
END_TEST

static void put_into(struct log_sink *sink, const char *message)
{
	const struct log_head head = { .format = LOG_FORMAT_JSON, .process = "one" };

	log_sink_put(sink, &head, message, NULL, 0);
}

/* Two processes have lost lines, of which one is there in part: nothing is glued to it. */
START_TEST(what_another_process_has_torn_is_one_line)
{
	struct log_sink one = { .fd = -1 }, other = { .fd = -1 };
	size_t n_torn = 0, n_good = 0;
	char *at, *line;
	struct reason why;

	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(log_sink_open(&one, path, "log", &why), STATUS_OK);
	ck_assert_int_eq(log_sink_open(&other, path, "log", &why), STATUS_OK);
	limit_files(20);
	put_into(&one, "torn");
	put_into(&other, "lost");
	limit_files(RLIM_INFINITY);
	put_into(&other, "after");
	put_into(&one, "after");
	at = strdup(content(path));
	for (char *rest = at; (line = strsep(&rest, "\n")) != NULL;) {
		bool is_good = json_is_flat_object(line, strlen(line));

		n_good += is_good;
		n_torn += !is_good && line[0] != '\0';
	}
	ck_assert_msg(n_good == 4 && n_torn == 1, "%s", content(path));
	free(at);
	log_sink_close(&one);
	log_sink_close(&other);
}
END_TEST

static void log_much(void)
{
	struct reason why;

	ck_assert_int_eq(log_open("stderr", LOG_LEVEL_INFO, LOG_FORMAT_TEXT, &why), STATUS_OK);
	ck_assert(log_is_on_stderr());
	for (int i = 0; i < 10000; i++)
		log_info("line");
}

/* Whoever started the daemon keeps a pipe that blocks, and a socket too. */
START_TEST(standard_error_that_nobody_reads_does_not_hold_it_up)
{
	static char text[1 << 19];
	int ends[2];

	if (_i == 0)
		ck_assert_int_eq(pipe(ends), 0);
	else
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	ck_assert_int_eq(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	log_much();
	ck_assert_int_eq(fcntl(STDERR_FILENO, F_GETFL) & O_NONBLOCK, 0);
	ck_assert_int_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	for (struct pollfd pollfd = { .fd = ends[0], .events = POLLIN };
	     poll(&pollfd, 1, 0) == 1;)
		take(ends[0], text, sizeof(text));
	log_info("last");
	take(ends[0], text, sizeof(text));
	ck_assert_ptr_nonnull(strstr(text, " lines of this process are missing here: "));
	ck_assert_ptr_nonnull(strstr(text, "]: last\n"));
}
END_TEST

START_TEST(a_budget_says_what_it_left_out)
{
	struct log_budget budget = { .what = "of some kind" };

	for (int i = 0; i < LOG_BUDGET_LINES; i++)
		ck_assert(log_budget_allows(&budget, 5000));
	ck_assert(!log_budget_allows(&budget, 5000));
	ck_assert(!log_budget_allows(&budget, 5999));
	ck_assert_str_eq(content(log_path), "");
	ck_assert(log_budget_allows(&budget, 6000));
	ck_assert_str_eq(
	    strstr(content(log_path), "]: "), "]: 2 lines left out: of some kind\n");
}
END_TEST

TCase *journal_tests(void)
{
	TCase *tests = tcase_create("journal");

	tcase_add_checked_fixture(tests, set_up, tear_down);
	tcase_add_test(tests, fields_follow_the_message);
	tcase_add_test(tests, in_json_they_are_members);
	tcase_add_test(tests, both_formats_have_the_same_fields);
	tcase_add_test(tests, too_many_fields_are_cut_at_one);
	tcase_add_test(tests, it_may_be_the_log_or_nothing);
	tcase_add_test(tests, it_is_reopened_by_its_name);
	tcase_add_test(tests, one_that_cannot_be_opened_is_refused);
	tcase_add_test(tests, a_full_pipe_loses_lines_and_says_how_many);
	tcase_add_test(tests, a_limit_of_file_sizes_is_told_as_such);
	tcase_add_test(tests, what_another_process_has_torn_is_one_line);
	tcase_add_loop_test(tests, standard_error_that_nobody_reads_does_not_hold_it_up, 0, 2);
	tcase_add_test(tests, a_budget_says_what_it_left_out);
	return tests;
}
