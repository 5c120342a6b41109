/*
 * settings: which lines of a normalised conf are marked.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/marks.h"
#include "settings/settings.h"

#include "settings_offer.h"

/* free() */
static char *mark(const char *text)
{
	char *marked;
	size_t size;
	FILE *out = open_memstream(&marked, &size);

	ck_assert_ptr_nonnull(out);
	marks_print(text, out);
	fclose(out);
	return marked;
}

/* free() */
static char *dump(const char *conf)
{
	struct settings *settings = load(conf);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_int_eq(settings_dump(settings, out), STATUS_OK);
	fclose(out);
	settings_destroy(&settings);
	return text;
}

/* Of each kind of value, in each kind of section. */
static const struct {
	const char *line, *marked;
} lines[] = {
	{ "log-level = debug", "log-level = debug # default: info" },
	{ "log-level = info", "log-level = info" },
	{ "log = \"stderr\"", "log = \"stderr\"" },
	{ "log = \"/l\"", "log = \"/l\" # default: \"stderr\"" },
	{ "drain-timeout = 1m", "drain-timeout = 1m # default: 30s" },
	{ "listen \"a\" {\n\tmax-message = 8k\n}",
	    "listen \"a\" {\n\tmax-message = 8k # default: 4k\n}" },
	{ "listen \"a\" {\n\tsend-queue-messages = 10\n}",
	    "listen \"a\" {\n\tsend-queue-messages = 10 # default: 1024\n}" },
	{ "listen \"a\" {\n\tmax-connections = auto\n\tmodules = { \"x\" }\n}",
	    "listen \"a\" {\n\tmax-connections = auto\n\tmodules = { \"x\" }\n}" },
	/* The path follows module-dir. */
	{ "module-dir = \"/d\"\nmodule \"m\" {\n\tpath = \"/d/m.so\"\n}",
	    "module-dir = \"/d\" # default: \"" MODULE_DIR
	    "\"\nmodule \"m\" {\n\tpath = \"/d/m.so\"\n}" },
	{ "module-dir = \"/d\"\nmodule \"m\" {\n\tpath = \"/e/m.so\"\n}",
	    "module-dir = \"/d\" # default: \"" MODULE_DIR
	    "\"\nmodule \"m\" {\n\tpath = \"/e/m.so\" # default: \"/d/m.so\"\n}" },
	/* What a module calls like an option of ours, and what is nobody's. */
	{ "module \"m\" {\n\tlog-level = debug\n}", "module \"m\" {\n\tlog-level = debug\n}" },
	{ "colour \"m\" {\n\tlog-level = debug\n}", "colour \"m\" {\n\tlog-level = debug\n}" },
	/* Sections within sections, and what comes after them. */
	{ "listen \"a\" {\n\tinner {\n\t\tmax-message = 8k\n\t}\n\tidle-timeout = 1s\n}",
	    "listen \"a\" {\n\tinner {\n\t\tmax-message = 8k\n\t}\n"
	    "\tidle-timeout = 1s # default: 0\n}" },
	{ "listen \"a\" {\n\tlength-field {\n\t\tstrip = 3\n\t\torder = big\n\t}\n}",
	    "listen \"a\" {\n\tlength-field {\n\t\tstrip = 3 # default: 0\n"
	    "\t\torder = big\n\t}\n}" },
	{ "length-field \"a\" {\n\tstrip = 3\n}", "length-field \"a\" {\n\tstrip = 3\n}" },
	{ "# log-level = debug\n# listen a {", "# log-level = debug\n# listen a {" },
	{ "", "" },
	{ "}", "}" },
};

START_TEST(only_what_is_not_at_its_default_is_marked)
{
	char *text, *wanted, *marked;

	ck_assert_int_gt(asprintf(&text, "%s\n", lines[_i].line), 0);
	ck_assert_int_gt(asprintf(&wanted, "%s\n", lines[_i].marked), 0);
	marked = mark(text);
	ck_assert_str_eq(marked, wanted);
	free(marked);
	free(wanted);
	free(text);
}
END_TEST

/* A conf that says nothing but what it must has no mark, on any machine. */
START_TEST(conf_of_defaults_has_no_mark)
{
	char *text = dump(MAIN C10K), *marked = mark(text);

	ck_assert_str_eq(marked, text);
	free(marked);
	free(text);
}
END_TEST

START_TEST(marked_conf_means_the_same)
{
	char *text = dump("log = \"/tmp/# no comment\"\nworkers = 77\n" MAIN C10K);
	char *marked = mark(text), *again = dump(marked);

	ck_assert_ptr_nonnull(strstr(marked, "workers = 77 # default: "));
	ck_assert_str_eq(again, text);
	free(again);
	free(marked);
	free(text);
}
END_TEST

TCase *settings_marks_case(void)
{
	TCase *tcase = tcase_create("marks");

	tcase_add_loop_test(tcase, only_what_is_not_at_its_default_is_marked, 0, N_OF(lines));
	tcase_add_test(tcase, conf_of_defaults_has_no_mark);
	tcase_add_test(tcase, marked_conf_means_the_same);
	return tcase;
}
