/*
 * master: requests of the control socket as text, and the list of tests.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "master/request.h"

#include "test_master.h"

START_TEST(request_is_an_object_with_a_verb)
{
	static const char *const lines[] = {
		"{\"verb\":\"status\"}",
		"  {\"verb\": \"status\", \"limit\": 3}\r",
		"{\"limit\": {\"verb\": \"x\"}, \"verb\": \"status\"}",
	};
	struct reason why = { "" };
	const char *verb;
	json_t *object;

	ck_assert_int_eq(
	    request_parse(lines[_i], strlen(lines[_i]), &object, &verb, &why), STATUS_OK);
	ck_assert_str_eq(verb, "status");
	json_decref(object);
}
END_TEST

/* The line, and what the message says of it. */
static const struct {
	const char *line, *text;
} bad_lines[] = {
	{ "", "no JSON" },
	{ "status", "no JSON" },
	{ "{\"verb\":\"status\"", "no JSON" },
	{ "{\"verb\":\"status\"} {}", "no JSON" },
	{ "{\"verb\":\"stat\xff\"}", "no JSON" },
	{ "{\"verb\":\"status\",\"verb\":\"stop\"}", "duplicate" },
	{ "{}", "no object with a \"verb\"" },
	{ "[]", "no object with a \"verb\"" },
	{ "[\"status\"]", "no object with a \"verb\"" },
	{ "{\"verb\":7}", "no object with a \"verb\"" },
	{ "{\"verb\":null}", "no object with a \"verb\"" },
};

START_TEST(other_requests_are_refused)
{
	const char *line = bad_lines[_i].line, *verb;
	struct reason why = { "" };
	json_t *object;

	ck_assert_int_eq(
	    request_parse(line, strlen(line), &object, &verb, &why), STATUS_INVALID);
	ck_assert_msg(strstr(why.text, bad_lines[_i].text) != NULL, "%s: %s", line, why.text);
}
END_TEST

/* A line ends where it ends, also within a buffer. */
START_TEST(bytes_beyond_the_line_are_not_read)
{
	static const char bytes[] = "{\"verb\":\"stop\"}garbage";
	struct reason why = { "" };
	const char *verb;
	json_t *object;

	ck_assert_int_eq(request_parse(bytes, 15, &object, &verb, &why), STATUS_OK);
	json_decref(object);
	ck_assert_int_eq(request_parse(bytes, 14, &object, &verb, &why), STATUS_INVALID);
	ck_assert_int_eq(request_parse(bytes, 16, &object, &verb, &why), STATUS_INVALID);
}
END_TEST

START_TEST(nesting_is_bounded)
{
	static char line[REQUEST_MAX_BYTES];
	struct reason why = { "" };
	const char *verb;
	json_t *object;

	memset(line, '[', sizeof(line));
	ck_assert_int_eq(
	    request_parse(line, sizeof(line), &object, &verb, &why), STATUS_INVALID);
}
END_TEST

START_TEST(key_that_a_verb_does_not_take_is_named)
{
	static const char *const keys[] = { "id", "limit", NULL };
	json_t *plain = json_pack("{ss}", "verb", "conns");
	json_t *full = json_pack("{si ss si}", "limit", 1, "verb", "conns", "id", 2);
	json_t *more = json_pack("{ss si si}", "verb", "conns", "id", 2, "sort", 1);
	struct reason why = { "" };

	ck_assert_int_eq(request_check_keys(plain, NULL, &why), STATUS_OK);
	ck_assert_int_eq(request_check_keys(plain, keys, &why), STATUS_OK);
	ck_assert_int_eq(request_check_keys(full, keys, &why), STATUS_OK);
	ck_assert_int_eq(request_check_keys(full, NULL, &why), STATUS_INVALID);
	ck_assert_int_eq(request_check_keys(more, keys, &why), STATUS_INVALID);
	ck_assert_str_eq(why.text, "'conns' takes no 'sort'");
	json_decref(plain);
	json_decref(full);
	json_decref(more);
}
END_TEST

TCase *request_tests(void)
{
	TCase *tcase = tcase_create("request");

	tcase_add_loop_test(tcase, request_is_an_object_with_a_verb, 0, 3);
	tcase_add_loop_test(tcase, other_requests_are_refused, 0,
	    (int)(sizeof(bad_lines) / sizeof(bad_lines[0])));
	tcase_add_test(tcase, bytes_beyond_the_line_are_not_read);
	tcase_add_test(tcase, nesting_is_bounded);
	tcase_add_test(tcase, key_that_a_verb_does_not_take_is_named);
	return tcase;
}

int main(void)
{
	Suite *suite = suite_create("master");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	suite_add_tcase(suite, request_tests());
	suite_add_tcase(suite, control_tests());
	suite_add_tcase(suite, control_socket_tests());
	suite_add_tcase(suite, inheritance_tests());
	suite_add_tcase(suite, metrics_tests());
	suite_add_tcase(suite, notify_tests());
	suite_add_tcase(suite, outbox_tests());
	suite_add_tcase(suite, module_metrics_tests());
	suite_add_tcase(suite, pages_tests());
	srunner_run_all(runner, CK_ENV);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
