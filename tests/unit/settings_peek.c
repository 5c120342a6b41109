/*
 * settings: what is found of a conf that is not good any more.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "settings/peek.h"

#include "settings_offer.h"

#define SOCKET "control-socket = \"/s\"\n"
#define PID_FILE "pid-file = /p\n"

/* A text in a file, what is found, and what stands in the reason; NULL: all is good. */
static const struct {
	const char *text, *control_socket, *pid_file;
	uint32_t drain_timeout_ms;
	const char *reason;
} confs[] = {
	{ "", NULL, NULL, 30000, NULL },
	{ SOCKET PID_FILE "drain-timeout = 2m\n" C10K MAIN, "/s", "/p", 120000, NULL },
	{ PID_FILE SOCKET, "/s", "/p", 30000, NULL },
	{ "control-socket = ''\npid-file = \"\"", NULL, NULL, 30000, NULL },
	/* Only the three are looked at. */
	{ "colour = red workers = many\n" SOCKET, "/s", NULL, 30000, NULL },
	{ "module nowhere { a = b }\nlisten l { }\n" SOCKET, "/s", NULL, 30000, NULL },
	/* Not those within sections, lists or comments, and no values that look like them. */
	{ "module m { pid-file = /m }\n" SOCKET "listen l { pid-file = /l }", "/s", NULL, 30000,
	    NULL },
	{ "# pid-file = /c\n/* pid-file = /c */ //pid-file = /c\n" SOCKET, "/s", NULL, 30000,
	    NULL },
	{ "log = pid-file\nx = \"pid-file = /x\" y = { pid-file, \"/y\" }", NULL, NULL, 30000,
	    NULL },
	{ "pid-file = { \"/list\" }\n" SOCKET, "/s", NULL, 30000, NULL },
	{ "\"pid-file\" = /p\n" SOCKET, "/s", NULL, 30000, NULL },
	/* Escapes and variables mean what they mean to the daemon. */
	{ "pid-file = \"/a\\x2fb ${PEEK_TEST:-c}\"", NULL, "/a/b c", 30000, NULL },
	{ "pid-file = '/a\\x2fb'", NULL, "/a\\x2fb", 30000, NULL },
	/* Up to where the text cannot be followed. */
	{ SOCKET "log = \"open\n" PID_FILE, "/s", NULL, 30000, "t.conf:2: " },
	{ "workers = ?\n" SOCKET, NULL, NULL, 30000, "t.conf:1: '?'" },
	{ SOCKET "/* open\n" PID_FILE, "/s", NULL, 30000, "t.conf:2: " },
	{ SOCKET "module m {\n" PID_FILE, "/s", NULL, 30000, NULL },
	{ SOCKET "}\n" PID_FILE, "/s", "/p", 30000, NULL },
	/* One that is bad does not hide the others. */
	{ "\ndrain-timeout = soon\n" SOCKET, "/s", NULL, 30000, "t.conf:2: drain-timeout" },
	{ "pid-file = p\n" SOCKET "drain-timeout = 1s", "/s", NULL, 1000,
	    "t.conf:1: pid-file" },
	{ "pid-file = /1 pid-file = /2", NULL, "/1", 30000, NULL },
	{ "pid-file =", NULL, NULL, 30000, NULL },
	{ "pid-file /p " SOCKET, "/s", NULL, 30000, NULL },
};

static void expect_text(const char *found, const char *expected, const char *conf)
{
	ck_assert_msg(
	    expected == NULL ? found == NULL : found != NULL && strcmp(found, expected) == 0,
	    "%s, not %s, in: %s", found != NULL ? found : "none",
	    expected != NULL ? expected : "none", conf);
}

START_TEST(conf_is_followed_as_far_as_it_goes)
{
	const char *text = confs[_i].text, *reason = confs[_i].reason;
	char folder[] = "/tmp/runnel-peek-XXXXXX", path[64];
	struct reason why = { "" };
	struct peek peek;
	enum status status;
	FILE *file;

	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/t.conf", folder);
	file = fopen(path, "we");
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	unsetenv("PEEK_TEST");
	status = peek_read(path, NULL, &peek, &why);
	ck_assert_int_eq(status, reason == NULL ? STATUS_OK : STATUS_INVALID);
	ck_assert_msg(reason == NULL || strstr(why.text, reason) != NULL, "no '%s' in: %s",
	    reason, why.text);
	expect_text(peek.control_socket, confs[_i].control_socket, text);
	expect_text(peek.pid_file, confs[_i].pid_file, text);
	ck_assert_uint_eq(peek.drain_timeout_ms, confs[_i].drain_timeout_ms);
	peek_free(&peek);
	unlink(path);
	rmdir(folder);
}
END_TEST

START_TEST(conf_that_cannot_be_opened_says_so)
{
	struct reason why = { "" };
	struct peek peek;

	ck_assert_int_eq(peek_read("/nonexistent/t.conf", NULL, &peek, &why), STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "cannot open /nonexistent/t.conf"));
	ck_assert_ptr_null(peek.control_socket);
	ck_assert_ptr_null(peek.pid_file);
	peek_free(&peek);
}
END_TEST

TCase *settings_peek_case(void)
{
	TCase *tcase = tcase_create("peek");

	tcase_add_loop_test(tcase, conf_is_followed_as_far_as_it_goes, 0, N_OF(confs));
	tcase_add_test(tcase, conf_that_cannot_be_opened_says_so);
	return tcase;
}
