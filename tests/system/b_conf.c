/*
 * The conf: what is refused is refused by one line with file, line and key, and
 * exit status 1, by -t and by a start alike.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/run.h"

#define ECHO "module echo { }\n"
#define MAIN "listen main { address = \"127.0.0.1:0\" modules = { echo } }\n"
#define IN_MAIN(text) \
	ECHO "listen main {\naddress = \"127.0.0.1:0\"\nmodules = { echo }\n" text "\n}\n"

/* The conf's text, the line that the message names (0: none), and what else stands in it. */
static const struct {
	const char *text;
	int line;
	const char *words[2];
} bad_confs[] = {
	{ ECHO MAIN "colour = red\n", 3, { "colour" } },
	{ IN_MAIN("colour = red"), 5, { "colour" } },
	{ "workers = many\n" ECHO MAIN, 1, { "workers", "many" } },
	{ "workers = 0\n" ECHO MAIN, 1, { "workers" } },
	{ "workers = 100000\n" ECHO MAIN, 1, { "workers", "100000" } },
	{ "log-level = loud\n" ECHO MAIN, 1, { "log-level", "loud" } },
	{ "log-format = xml\n" ECHO MAIN, 1, { "log-format", "xml" } },
	{ "drain-timeout = 30\n" ECHO MAIN, 1, { "drain-timeout", "30" } },
	{ "drain-timeout = soon\n" ECHO MAIN, 1, { "drain-timeout", "soon" } },
	{ IN_MAIN("max-message = 4q"), 5, { "max-message", "4q" } },
	{ IN_MAIN("max-message = -1"), 5, { "max-message", "-1" } },
	{ IN_MAIN("max-message = 100000G"), 5, { "max-message", "100000G" } },
	{ IN_MAIN("max-connections = few"), 5, { "max-connections", "few" } },
	{ IN_MAIN("max-connections = -5"), 5, { "max-connections", "-5" } },
	{ IN_MAIN("send-queue-messages = 0"), 5, { "send-queue-messages" } },
	{ IN_MAIN("send-queue-bytes = 1"), 5, { "send-queue-bytes" } },
	{ IN_MAIN("when-full = maybe"), 5, { "when-full", "maybe" } },
	{ IN_MAIN("unknown-message = shrug"), 5, { "unknown-message", "shrug" } },
	{ IN_MAIN("framing = morse"), 5, { "framing", "morse" } },
	{ IN_MAIN("idle-timeout = 5x"), 5, { "idle-timeout", "5x" } },
	{ ECHO "listen main { address = \"127.0.0.1\" modules = { echo } }\n", 2,
	    { "address", "127.0.0.1" } },
	{ ECHO "listen main { address = \"127.0.0.1:70000\" modules = { echo } }\n", 2,
	    { "address", "70000" } },
	{ ECHO "listen main { address = \"nowhere.invalid:1\" modules = { echo } }\n", 2,
	    { "address", "nowhere.invalid" } },
	{ ECHO "listen main { modules = { echo } }\n", 2, { "address" } },
	{ ECHO "listen { address = \"127.0.0.1:0\" modules = { echo } }\n", 2,
	    { "name of a section" } },
	{ ECHO "listen main { address = \"127.0.0.1:0\" }\n", 2, { "modules" } },
	{ ECHO "listen main { address = \"127.0.0.1:0\" modules = { ghost } }\n", 2,
	    { "modules", "ghost" } },
	{ ECHO MAIN MAIN, 3, { "main" } },
	{ ECHO ECHO MAIN, 2, { "echo" } },
	{ "module { }\n" MAIN, 1, { "name of a section" } },
	{ ECHO, 0, { "listen" } },
	{ "module echo { colour = red }\n" MAIN, 1, { "colour" } },
	{ ECHO "listen main { address = \"127.0.0.1:0\" modules = { echo }\n", 2, { NULL } },
	{ ECHO MAIN "}\n", 3, { NULL } },
	{ "workers =\n" ECHO MAIN, 0, { NULL } },
};

static void expect_refusal(struct daemon *daemon, size_t i, int status)
{
	const char *said = daemon_read(daemon, daemon->err);
	char place[160];

	ck_assert_msg(status == 1, "status %d for:\n%s", status, bad_confs[i].text);
	snprintf(place, sizeof(place), bad_confs[i].line > 0 ? "%s:%d:" : "%s", daemon->conf,
	    bad_confs[i].line);
	if (bad_confs[i].line > 0)
		ck_assert_msg(strstr(said, place) != NULL, "no %s in:\n%s", place, said);
	for (int word = 0; word < 2 && bad_confs[i].words[word] != NULL; word++)
		ck_assert_msg(strstr(said, bad_confs[i].words[word]) != NULL, "no '%s' in:\n%s",
		    bad_confs[i].words[word], said);
	ck_assert_msg(strchr(said, '\n') == said + strlen(said) - 1, "not one line:\n%s", said);
}

START_TEST(bad_conf_is_refused_with_file_line_and_key)
{
	struct daemon *daemon = daemon_new(1, "%s", "");
	char text[2048];

	snprintf(
	    text, sizeof(text), "%s module-dir = \"%s\"\n", bad_confs[_i].text, OUR_MODULES);
	daemon_set_conf(daemon, text);
	expect_refusal(daemon, (size_t)_i, daemon_run(daemon, "-t", "-c", daemon->conf, NULL));
	unlink(daemon->err);
	expect_refusal(daemon, (size_t)_i, daemon_run(daemon, "-F", "-c", daemon->conf, NULL));
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(missing_conf_is_refused)
{
	struct daemon *daemon = daemon_new(1, "%s", "");

	unlink(daemon->conf);
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert_ptr_nonnull(strstr(daemon_read(daemon, daemon->err), daemon->conf));
	ck_assert_ptr_nonnull(strstr(daemon->text, "No such file"));
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(unreadable_conf_is_refused)
{
	struct daemon *daemon = daemon_new(1, "%s", "");

	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->folder, NULL), 1);
	ck_assert_ptr_nonnull(strstr(daemon_read(daemon, daemon->err), daemon->folder));
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(good_conf_passes_the_check_and_starts_nothing)
{
	struct daemon *daemon = daemon_new(2, ECHO MAIN);

	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 0);
	ck_assert(!daemon_has_logged(daemon, "listening"));
	daemon_destroy(&daemon);
}
END_TEST

/* What -T prints is a conf with every option, and means the same. */
START_TEST(dump_is_a_conf_that_dumps_the_same)
{
	struct daemon *daemon = daemon_new(3, IN_MAIN("max-message = 8k\nidle-timeout = 90s"));
	char first[8192];

	ck_assert_int_eq(daemon_run(daemon, "-T", "-c", daemon->conf, NULL), 0);
	snprintf(first, sizeof(first), "%s", daemon_read(daemon, daemon->out));
	ck_assert_ptr_nonnull(strstr(first, "workers"));
	ck_assert_ptr_nonnull(strstr(first, "8k"));
	ck_assert_ptr_nonnull(strstr(first, "90s"));
	ck_assert_ptr_nonnull(strstr(first, "when-full"));
	ck_assert_ptr_nonnull(strstr(first, "frame-timeout"));
	daemon_set_conf(daemon, first);
	unlink(daemon->out);
	ck_assert_int_eq(daemon_run(daemon, "-T", "-c", daemon->conf, NULL), 0);
	ck_assert_str_eq(daemon_read(daemon, daemon->out), first);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(json_log_has_one_object_a_line)
{
	struct daemon *daemon = daemon_new(1, "log-format = json\n" ECHO MAIN);
	const char *line;
	int n_lines = 0;

	daemon_start(daemon);
	daemon_end(daemon);
	line = daemon_read(daemon, daemon->log);
	while (*line != '\0') {
		size_t len = strcspn(line, "\n");

		ck_assert_int_eq(strncmp(line, "{\"time\":\"", 9), 0);
		ck_assert_int_eq(strncmp(line + len - 2, "\"}\n", 3), 0);
		line += len + 1;
		n_lines++;
	}
	ck_assert_int_ge(n_lines, 3);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(log_to_stderr_goes_to_stderr)
{
	struct daemon *daemon = daemon_new(1, "%s", "");
	char text[512];

	snprintf(text, sizeof(text),
	    "workers = 1\nmodule-dir = \"%s\"\nlog = stderr\n" ECHO MAIN, OUR_MODULES);
	daemon_set_conf(daemon, text);
	daemon_launch(daemon);
	WAIT_FOR(strstr(daemon_read(daemon, daemon->err), "ready: 1 worker") != NULL);
	ck_assert_str_eq(daemon_read(daemon, daemon->log), "");
	daemon_stop(&daemon);
}
END_TEST

START_TEST(log_that_cannot_be_opened_is_refused)
{
	struct daemon *daemon = daemon_new(1, "%s", "");

	daemon_set_conf(daemon,
	    "log = \"/nonexistent/runneld.log\"\nmodule-dir = \"" OUR_MODULES "\"\n" ECHO MAIN);
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert_ptr_nonnull(
	    strstr(daemon_read(daemon, daemon->err), "/nonexistent/runneld.log"));
	daemon_destroy(&daemon);
}
END_TEST

/* A log that somebody has put a symbolic link at is not followed. */
START_TEST(log_through_a_symbolic_link_is_refused)
{
	struct daemon *daemon = daemon_new(1, ECHO MAIN);
	char target[160];

	snprintf(target, sizeof(target), "%s/elsewhere", daemon->folder);
	ck_assert_int_eq(symlink(target, daemon->log), 0);
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert_ptr_nonnull(strstr(daemon_read(daemon, daemon->err), daemon->log));
	ck_assert_int_ne(access(target, F_OK), 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(listener_has_several_addresses)
{
	uint16_t ports[2] = { client_free_port(), client_free_port() };
	struct daemon *daemon = daemon_new(run_workers(_i),
	    ECHO "listen main { address = { \"127.0.0.1:%u\", \"127.0.0.1:%u\" } "
		 "modules = { echo } }\n",
	    ports[0], ports[1]);

	daemon_start(daemon);
	for (int i = 0; i < 2; i++) {
		int fd = client_connect(ports[i]);

		client_ping(fd, "either");
		close(fd);
	}
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("b_conf");
	TCase *good = run_case(suite, "good");
	TCase *bad = run_case(suite, "bad");

	tcase_add_test(good, good_conf_passes_the_check_and_starts_nothing);
	tcase_add_test(good, dump_is_a_conf_that_dumps_the_same);
	tcase_add_test(good, json_log_has_one_object_a_line);
	tcase_add_test(good, log_to_stderr_goes_to_stderr);
	run_add_workers(good, listener_has_several_addresses);
	tcase_add_test(bad, log_that_cannot_be_opened_is_refused);
	tcase_add_test(bad, log_through_a_symbolic_link_is_refused);
	tcase_add_test(bad, missing_conf_is_refused);
	tcase_add_test(bad, unreadable_conf_is_refused);
	tcase_add_loop_test(bad, bad_conf_is_refused_with_file_line_and_key, 0,
	    sizeof(bad_confs) / sizeof(bad_confs[0]));
	return run_suite(suite);
}
