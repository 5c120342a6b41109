/*
 * base/log: what a line looks like, that it stays one line and valid whatever
 * the message is, and where it goes.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"

#include "json.h"
#include "test_base.h"

#define TIME "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z"

static char folder[256], path[512];

/* Runs once, around all tests of the case. */
static void make_folder(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(folder, sizeof(folder), "%s/runnel-log.XXXXXX", tmp != NULL ? tmp : "/tmp");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

static int remove_one(const char *name, const struct stat *info, int kind, struct FTW *walk)
{
	(void)info;
	(void)kind;
	(void)walk;
	return remove(name);
}

static void remove_folder(void)
{
	nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Runs before each test, in its process. */
static void name_file(void)
{
	snprintf(path, sizeof(path), "%s/%d.log", folder, (int)getpid());
}

static void open_log(const char *target, enum log_level level, enum log_format format)
{
	struct reason why;

	ck_assert_msg(log_open(target, level, format, &why) == STATUS_OK, "%s", why.text);
}

static void expect_refusal(const char *target, const char *reason)
{
	struct reason why;

	ck_assert_int_eq(
	    log_open(target, LOG_LEVEL_INFO, LOG_FORMAT_TEXT, &why), STATUS_INVALID);
	ck_assert_str_eq(why.text, reason);
}

/* All that stands in the file. Valid until the next call. */
static const char *content(void)
{
	static char text[1 << 20];
	FILE *file = fopen(path, "rb");

	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

/* Write one line and return it. Valid until the next call. */
static const char *line_of(const char *message)
{
	ck_assert_int_eq(truncate(path, 0), 0);
	log_info("%s", message);
	return content();
}

static void expect_match(const char *text, const char *pattern)
{
	regex_t regex;

	ck_assert_int_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	ck_assert_msg(regexec(&regex, text, 0, NULL, 0) == 0, "'%s' is not %s", text, pattern);
	regfree(&regex);
}

/* The message of a line: what stands between the prefix, whose length is known, and the end. */
static void expect_message(const char *line, const char *before, const char *message)
{
	const char *at = strstr(line, before);

	ck_assert_ptr_nonnull(at);
	ck_assert_str_eq(at + strlen(before), message);
}

START_TEST(the_json_check_can_say_no)
{
	static const char *const good[] = { "{\"a\":1}", "{\"a\":\"b\",\"c\":-20}",
		"{\"\":\"\\u00e9\\n\\\"\xc3\xa9\xf0\x9f\x98\x80\"}" };
	static const char *const bad[] = { "", "{}", "{\"a\":1", "{\"a\":1}x", "{\"a\":01}",
		"{\"a\":\"\n\"}", "{\"a\":\"\\x41\"}", "{\"a\":\"\\u00g0\"}", "{\"a\":\"\"\"}",
		"{\"a\":\"\\\"}", "{\"a\":\"\xff\"}", "{\"a\":\"\xc0\xaf\"}",
		"{\"a\":\"\xed\xa0\x80\"}", "{\"a\":\"\xf4\x90\x80\x80\"}",
		"{\"a\":\"\xc3\"}" };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(json_is_flat_object(good[i], strlen(good[i])), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(!json_is_flat_object(bad[i], strlen(bad[i])), "%s", bad[i]);
}
END_TEST

START_TEST(a_text_line_says_when_what_and_who)
{
	char pattern[256];

	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	log_set_process("worker 0");
	log_warn("listening on %s:%d", "127.0.0.1", 8888);
	snprintf(pattern, sizeof(pattern),
	    "^" TIME " warn worker 0\\[%d\\]: listening on 127\\.0\\.0\\.1:8888\n$",
	    (int)getpid());
	expect_match(content(), pattern);
}
END_TEST

START_TEST(a_json_line_says_the_same)
{
	char pattern[256];

	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_JSON);
	log_set_process("worker 0");
	log_error("it's \"so\"");
	snprintf(pattern, sizeof(pattern),
	    "^\\{\"time\":\"" TIME "\",\"level\":\"error\",\"process\":\"worker 0\","
	    "\"pid\":%d,\"message\":\"it's \\\\\"so\\\\\"\"\\}\n$",
	    (int)getpid());
	expect_match(content(), pattern);
}
END_TEST

START_TEST(a_level_lets_through_what_is_as_grave)
{
	open_log(path, LOG_LEVEL_WARN, LOG_FORMAT_TEXT);
	ck_assert(log_is_enabled(LOG_LEVEL_ERROR));
	ck_assert(log_is_enabled(LOG_LEVEL_WARN));
	ck_assert(!log_is_enabled(LOG_LEVEL_INFO));
	log_error("one");
	log_warn("two");
	log_info("three");
	log_debug("four");
	expect_match(content(), "^[^\n]* one\n[^\n]* two\n$");
}
END_TEST

struct escape {
	const char *message, *text, *json;
};

static const struct escape escapes[] = {
	{ "plain", "plain", "plain" },
	{ "", "", "" },
	{ "two\nlines\r", "two\\x0alines\\x0d", "two\\u000alines\\u000d" },
	{ "\x1b[31m\x7f", "\\x1b[31m\\x7f", "\\u001b[31m\\u007f" },
	{ "\"\\", "\"\\", "\\\"\\\\" },
	{ "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
	    "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80" },
	{ "\xff\xfe", "\\xff\\xfe", "\\ufffd\\ufffd" },
	{ "cut \xe2\x82", "cut \\xe2\\x82", "cut \\ufffd\\ufffd" },
	{ "\xc0\xaf", "\\xc0\\xaf", "\\ufffd\\ufffd" },                 /* an overlong '/' */
	{ "\xe0\x9f\xbf", "\\xe0\\x9f\\xbf", "\\ufffd\\ufffd\\ufffd" }, /* overlong */
	{ "\xed\xa0\x80", "\\xed\\xa0\\x80", "\\ufffd\\ufffd\\ufffd" }, /* a surrogate */
	{ "\xf0\x8f\xbf\xbf", "\\xf0\\x8f\\xbf\\xbf", "\\ufffd\\ufffd\\ufffd\\ufffd" },
	{ "\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80", "\\ufffd\\ufffd\\ufffd\\ufffd" },
	{ "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
	    "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf",
	    "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf" },
	{ "\xc2\x9b", "\\x9b", "\\u009b" }, /* U+009B is ESC [ to a terminal */
	{ "\xc2\xa0", "\xc2\xa0", "\xc2\xa0" },
};

START_TEST(what_would_break_a_line_is_escaped)
{
	const struct escape *escape = &escapes[_i];
	char expected[128];

	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	snprintf(expected, sizeof(expected), "%s\n", escape->text);
	expect_message(line_of(escape->message), "]: ", expected);
	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_JSON);
	snprintf(expected, sizeof(expected), "%s\"}\n", escape->json);
	expect_message(line_of(escape->message), "\"message\":\"", expected);
}
END_TEST

static void expect_json_line(const char *line)
{
	size_t len = strlen(line);

	ck_assert_uint_gt(len, 0);
	ck_assert_uint_le(len, 2048);
	if (strchr(line, '\n') != line + len - 1 || !json_is_flat_object(line, len - 1))
		ck_abort_msg("not one line of JSON: %s", line);
}

START_TEST(any_bytes_make_valid_json)
{
	char message[400];

	srand(3);
	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_JSON);
	for (int turn = 0; turn < 500; turn++) {
		size_t len = (size_t)rand() % sizeof(message);

		for (size_t i = 0; i < len; i++)
			message[i] = (char)(turn % 2 == 0 ? rand() : rand() | 0x80);
		message[len] = '\0';
		expect_json_line(line_of(message));
	}
}
END_TEST

/* Filled with each of these, cut at any length. */
static const char *const fillings[] = { "x", "\n", "\"", "\xff", "\xc3\xa9",
	"\xf0\x9f\x98\x80" };

START_TEST(a_long_message_is_cut_and_says_so)
{
	char message[5000];

	for (size_t len = 1900; len < sizeof(message); len += 1 + len / 40) {
		for (size_t i = 0; i < len; i++)
			message[i] = fillings[_i][i % strlen(fillings[_i])];
		message[len] = '\0';
		open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_JSON);
		expect_json_line(line_of(message));
		if (len > 2048)
			expect_match(content(), "\\.\\.\\.\"\\}\n$");
		open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
		ck_assert_uint_le(strlen(line_of(message)), 2048);
		expect_match(content(), len > 2048 ? "^[^\n]*\\.\\.\\.\n$" : "^[^\n]*\n$");
	}
}
END_TEST

START_TEST(a_message_that_fits_is_whole)
{
	char message[1801];

	memset(message, 'x', sizeof(message));
	message[sizeof(message) - 1] = '\0';
	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	ck_assert_ptr_nonnull(strstr(line_of(message), message));
	ck_assert_ptr_null(strstr(content(), "..."));
}
END_TEST

/* Send stderr to the file for the rest of this process. */
static void take_stderr(void)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
	close(fd);
}

START_TEST(before_it_is_opened_it_is_plain)
{
	take_stderr();
	ck_assert(log_is_on_stderr());
	log_error("cannot read\n%s", "x");
	ck_assert_str_eq(content(), "runneld: cannot read\\x0ax\n");
}
END_TEST

START_TEST(stderr_gets_full_lines)
{
	take_stderr();
	open_log("stderr", LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	ck_assert(log_is_on_stderr());
	log_info("hello");
	expect_match(content(), "^" TIME " info runneld\\[[0-9]+\\]: hello\n$");
}
END_TEST

START_TEST(a_file_is_private_and_appended_to)
{
	struct stat info;

	umask(0);
	for (int i = 0; i < 2; i++) {
		open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
		log_info("hello");
	}
	expect_match(content(), "^[^\n]* hello\n[^\n]* hello\n$");
	ck_assert_int_eq(stat(path, &info), 0);
	ck_assert_int_eq(info.st_mode & 07777, 0640);
	ck_assert(!log_is_on_stderr());
}
END_TEST

START_TEST(opening_again_makes_a_file_that_was_moved_away)
{
	char moved[sizeof(path) + 8];

	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	snprintf(moved, sizeof(moved), "%s.1", path);
	ck_assert_int_eq(rename(path, moved), 0);
	log_info("old");
	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	log_info("new");
	expect_match(content(), "^[^\n]* new\n$");
}
END_TEST

/* The descriptor keeps its number: whoever holds it, or writes just now, does not notice. */
START_TEST(a_file_is_reopened_by_its_name)
{
	char moved[sizeof(path) + 8];
	struct reason why;
	int fd;

	ck_assert_int_eq(log_fd(), -1);
	ck_assert_int_eq(log_reopen(&why), STATUS_OK);
	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	fd = log_fd();
	snprintf(moved, sizeof(moved), "%s.1", path);
	ck_assert_int_eq(rename(path, moved), 0);
	log_info("old");
	ck_assert_int_eq(log_reopen(&why), STATUS_OK);
	log_info("new");
	expect_match(content(), "^[^\n]* new\n$");
	ck_assert_int_eq(log_fd(), fd);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(close(open("/dev/null", O_RDONLY | O_CLOEXEC)), 0);
}
END_TEST

START_TEST(a_file_that_cannot_be_reopened_goes_on)
{
	char moved[sizeof(path) + 8];
	struct reason why;

	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	snprintf(moved, sizeof(moved), "%s.1", path);
	ck_assert_int_eq(rename(path, moved), 0);
	ck_assert_int_eq(symlink("nowhere", path), 0);
	ck_assert_int_eq(log_reopen(&why), STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "it is a symbolic link"));
	log_info("old");
	ck_assert_int_eq(rename(moved, path), 0);
	expect_match(content(), "^[^\n]* old\n$");
}
END_TEST

START_TEST(a_file_of_another_process_is_adopted)
{
	int fd;

	open_log("/dev/null", LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	log_adopt_fd(fd);
	log_info("here");
	expect_match(content(), "^[^\n]* here\n$");
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_int_eq(fcntl(log_fd(), F_GETFD), FD_CLOEXEC);
	/* Where there is no file, there is none afterwards. */
	open_log("stderr", LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	fd = dup(STDERR_FILENO);
	log_adopt_fd(fd);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert(log_is_on_stderr());
}
END_TEST

START_TEST(a_symbolic_link_is_refused)
{
	char target[sizeof(path) + 8], reason[2 * sizeof(path)];

	snprintf(target, sizeof(target), "%s.real", path);
	ck_assert_int_eq(symlink(target, path), 0);
	snprintf(reason, sizeof(reason),
	    "cannot open log file %s: it is a symbolic link; name the file it points to", path);
	expect_refusal(path, reason);
	ck_assert_int_eq(access(target, F_OK), -1);
}
END_TEST

START_TEST(after_a_refusal_the_log_is_where_it_was)
{
	char missing[sizeof(path) + 8], reason[2 * sizeof(path)];

	open_log(path, LOG_LEVEL_WARN, LOG_FORMAT_TEXT);
	snprintf(missing, sizeof(missing), "%s.d/x", path);
	snprintf(reason, sizeof(reason), "cannot open log file %s: No such file or directory",
	    missing);
	expect_refusal(missing, reason);
	log_warn("still here");
	log_info("still too little");
	expect_match(content(), "^[^\n]* still here\n$");
}
END_TEST

/* Opening it for writing would wait for a reader. */
START_TEST(a_pipe_that_nobody_reads_is_refused)
{
	char reason[2 * sizeof(path)];

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	snprintf(
	    reason, sizeof(reason), "cannot open log file %s: nobody reads this pipe", path);
	expect_refusal(path, reason);
}
END_TEST

START_TEST(errno_is_left_alone)
{
	open_log("/dev/full", LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	errno = EAGAIN;
	log_info("lost");
	ck_assert_int_eq(errno, EAGAIN);
}
END_TEST

#define N_WRITERS 4
#define N_LINES 500

static void write_lines(int writer)
{
	for (int i = 0; i < N_LINES; i++)
		log_info("%0*d", 100 + writer, 0);
	_exit(0);
}

START_TEST(processes_that_share_a_file_do_not_mix_lines)
{
	const char *at;
	int n = 0;

	open_log(path, LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	for (int i = 0; i < N_WRITERS; i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0)
			write_lines(i);
	}
	while (wait(NULL) > 0)
		;
	for (at = content(); *at != '\0'; at += strcspn(at, "\n") + 1) {
		const char *message = strstr(at, "]: ");
		size_t len = message != NULL ? strspn(message + 3, "0") : 0;

		if (len < 100 || len >= 100 + N_WRITERS || message[3 + len] != '\n')
			ck_abort_msg("line %d is mixed up", n);
		n++;
	}
	ck_assert_int_eq(n, N_WRITERS * N_LINES);
}
END_TEST

START_TEST(a_cap_lets_one_line_a_second_through)
{
	struct log_cap cap = { 0 };
	char rest[LOG_REST_SIZE] = "untouched";

	ck_assert(log_cap_allows(&cap, 5000, rest));
	ck_assert_str_eq(rest, "");
	ck_assert(!log_cap_allows(&cap, 5000, rest));
	ck_assert(!log_cap_allows(&cap, 5999, rest));
	ck_assert(log_cap_allows(&cap, 6000, rest));
	ck_assert_str_eq(rest, " (2 more were not logged)");
	ck_assert(!log_cap_allows(&cap, 6001, rest));
	ck_assert(log_cap_allows(&cap, 100000, rest));
	ck_assert_str_eq(rest, " (1 more was not logged)");
	ck_assert(log_cap_allows(&cap, 200000, rest));
	ck_assert_str_eq(rest, "");
}
END_TEST

START_TEST(a_cap_has_room_for_any_number)
{
	struct log_cap cap = { .n_left_out = UINT64_MAX };
	char rest[LOG_REST_SIZE];

	ck_assert(log_cap_allows(&cap, 1, rest));
	ck_assert_str_eq(rest, " (18446744073709551615 more were not logged)");
}
END_TEST

TCase *log_tests(void)
{
	TCase *tests = tcase_create("log");

	tcase_set_timeout(tests, 60);
	tcase_add_unchecked_fixture(tests, make_folder, remove_folder);
	tcase_add_checked_fixture(tests, name_file, NULL);
	tcase_add_test(tests, the_json_check_can_say_no);
	tcase_add_test(tests, a_text_line_says_when_what_and_who);
	tcase_add_test(tests, a_json_line_says_the_same);
	tcase_add_test(tests, a_level_lets_through_what_is_as_grave);
	tcase_add_loop_test(
	    tests, what_would_break_a_line_is_escaped, 0, sizeof(escapes) / sizeof(escapes[0]));
	tcase_add_test(tests, any_bytes_make_valid_json);
	tcase_add_loop_test(tests, a_long_message_is_cut_and_says_so, 0,
	    sizeof(fillings) / sizeof(fillings[0]));
	tcase_add_test(tests, a_message_that_fits_is_whole);
	tcase_add_test(tests, before_it_is_opened_it_is_plain);
	tcase_add_test(tests, stderr_gets_full_lines);
	tcase_add_test(tests, a_file_is_private_and_appended_to);
	tcase_add_test(tests, opening_again_makes_a_file_that_was_moved_away);
	tcase_add_test(tests, a_file_is_reopened_by_its_name);
	tcase_add_test(tests, a_file_that_cannot_be_reopened_goes_on);
	tcase_add_test(tests, a_file_of_another_process_is_adopted);
	tcase_add_test(tests, a_symbolic_link_is_refused);
	tcase_add_test(tests, after_a_refusal_the_log_is_where_it_was);
	tcase_add_test(tests, a_pipe_that_nobody_reads_is_refused);
	tcase_add_test(tests, errno_is_left_alone);
	tcase_add_test(tests, processes_that_share_a_file_do_not_mix_lines);
	tcase_add_test(tests, a_cap_lets_one_line_a_second_through);
	tcase_add_test(tests, a_cap_has_room_for_any_number);
	return tests;
}
