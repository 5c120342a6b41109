/*
 * Modules: their options, and what a bad one is refused for..
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/run.h"

#define LISTEN(modules) "listen main { address = \"127.0.0.1:0\" modules = { " modules " } }\n"
#define MODULE(name, file, options) \
	"module " name " { path = \"" TEST_MODULES "/" file ".so\" " options " }\n"

#define PROBE(options) MODULE("probe", "probe", options) LISTEN("probe")

/* A conf, and what the refusal says. */
static const struct {
	const char *text;
	const char *words[3];
} bad_modules[] = {
	{ "module ghost { }\n" LISTEN("ghost"), { "ghost", "ghost.so" } },
	{ "module gone { path = \"/nonexistent/gone.so\" }\n" LISTEN("gone"),
	    { "gone", "/nonexistent/gone.so" } },
	{ "module text { path = \"/etc/passwd\" }\n" LISTEN("text"),
	    { "text", "/etc/passwd" } },
	{ MODULE("empty", "no_symbol", "") LISTEN("empty"), { "empty", "rnl_module" } },
	{ MODULE("major", "newer_major", "") LISTEN("major"), { "major", "2.0", "1.0" } },
	{ MODULE("minor", "newer_minor", "") LISTEN("minor"), { "minor", "1.1", "1.0" } },
	{ PROBE("refuse = \"it is a bad day\""), { "probe", "it is a bad day" } },
	{ PROBE("refuse = \"abort\""), { "signal 6" } },
	{ PROBE("colour = red"), { "colour" } },
	{ PROBE("number = 11"), { "number", "11" } },
	{ PROBE("number = -11"), { "number", "-11" } },
	{ PROBE("number = two"), { "number", "two" } },
	{ PROBE("size = 1x"), { "size", "1x" } },
	{ PROBE("duration = 1"), { "duration", "1" } },
	{ PROBE("flag = perhaps"), { "flag", "perhaps" } },
	{ MODULE("demand", "demand", "") LISTEN("demand"), { "demand", "secret" } },
	{ MODULE("probe", "probe", "") MODULE("demand", "demand", "secret = x")
		LISTEN("probe, demand"),
	    { "probe", "demand", "10" } },
	{ MODULE("probe", "probe", "") LISTEN("probe, probe"), { "main", "probe" } },
	{ MODULE("one", "probe", "") MODULE("two", "probe", "") LISTEN("one, two"),
	    { "one", "two" } },
	{ "module echo { }\nmodule c10k { }\n" LISTEN("c10k, echo"),
	    { "c10k", "echo", "1001" } },
};

static void expect_words(struct daemon *daemon, size_t i)
{
	char said[16384];

	snprintf(said, sizeof(said), "%s", daemon_read(daemon, daemon->err));
	strncat(said, daemon_read(daemon, daemon->log), sizeof(said) - strlen(said) - 1);
	for (int word = 0; word < 3 && bad_modules[i].words[word] != NULL; word++)
		ck_assert_msg(strstr(said, bad_modules[i].words[word]) != NULL,
		    "no '%s' in:\n%s", bad_modules[i].words[word], said);
}

/* By the check of the conf, and by a start. */
START_TEST(bad_module_is_refused)
{
	struct daemon *daemon = daemon_new(2, "%s", bad_modules[_i].text);

	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	expect_words(daemon, (size_t)_i);
	unlink(daemon->err);
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	expect_words(daemon, (size_t)_i);
	ck_assert(!daemon_has_logged(daemon, "ready: "));
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(option_that_is_asked_for_wrongly_is_told)
{
	struct daemon *daemon = daemon_new(1, "%s", PROBE("refuse = ask"));

	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	ck_assert_ptr_nonnull(strstr(daemon_read(daemon, daemon->err),
	    "a module calls rnl_option_number() for an RNL_STRING"));
	/* It is a bug, which no other test may leave there. */
	unlink(daemon->err);
	daemon_destroy(&daemon);
}
END_TEST

static struct daemon *start_probe(unsigned n_workers, const char *options)
{
	struct daemon *daemon = daemon_new(n_workers,
	    "module probe { path = \"" PROBE_PATH "\" %s }\n" LISTEN("probe"), options);

	daemon_start(daemon);
	return daemon;
}

static void expect_options(const char *options, const char *values)
{
	struct daemon *daemon = start_probe(1, options);
	int fd = client_connect(daemon_port(daemon, "main"));
	char text[PROBE_TEXT_SIZE];

	probe_send(fd, PROBE_OPTIONS, 0);
	ck_assert_str_eq(probe_text(fd, PROBE_OPTIONS, text), values);
	close(fd);
	daemon_stop(&daemon);
}

START_TEST(options_have_their_defaults)
{
	expect_options("", "5 65536 1000 0 some text");
}
END_TEST

START_TEST(options_have_the_values_of_the_conf)
{
	expect_options(
	    "number = -10 size = 2M duration = 5m flag = true text = \"one \\\"two\\\"\"",
	    "-10 2097152 300000 1 one \"two\"");
}
END_TEST

/* A replacement reads the same conf although the file has changed since. */
START_TEST(respawned_worker_has_the_conf_of_its_generation)
{
	struct daemon *daemon = start_probe(1, "number = 7");
	char text[PROBE_TEXT_SIZE];
	int fd = client_connect(daemon_port(daemon, "main"));

	daemon_set_conf(daemon, "this is no conf {");
	probe_send(fd, PROBE_EXIT, 1, 1);
	client_expect_end(fd);
	close(fd);
	fd = client_connect(daemon_port(daemon, "main"));
	probe_send(fd, PROBE_OPTIONS, 0);
	ck_assert_str_eq(probe_text(fd, PROBE_OPTIONS, text), "7 65536 1000 0 some text");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

/* What runs in a module when the process exits, after the stop hook. */
START_TEST(destructor_may_log)
{
	struct daemon *daemon = daemon_new(1, "%s",
	    MODULE("a-module-of-a-long-name", "demand", "secret = \"a-long-text-of-an-option\"")
		LISTEN("a-module-of-a-long-name"));

	daemon_start(daemon);
	daemon_end(daemon);
	ck_assert_uint_eq(
	    daemon_n_logged(daemon, "module 'a-module-of-a-long-name': the secret "
				    "was a-long-text-of-an-option"),
	    1);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("f_module");
	TCase *options = run_case(suite, "options");
	TCase *bad = run_case(suite, "bad");

	tcase_add_test(options, option_that_is_asked_for_wrongly_is_told);
	tcase_add_test(options, options_have_their_defaults);
	tcase_add_test(options, options_have_the_values_of_the_conf);
	tcase_add_test(options, respawned_worker_has_the_conf_of_its_generation);
	tcase_add_test(options, destructor_may_log);
	tcase_add_loop_test(
	    bad, bad_module_is_refused, 0, sizeof(bad_modules) / sizeof(bad_modules[0]));
	return run_suite(suite);
}
