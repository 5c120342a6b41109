#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/health.h"
#include "http/host.h"
#include "http/inquiry.h"

/* --- Host --- */

static const char *const names[] = { "one.example", "", "two" };

START_TEST(addresses_and_known_names_are_accepted)
{
	static const char *const good[] = { "127.0.0.1", "127.0.0.1:80", "10.1.2.3:65535",
		"[::1]", "[::1]:", "[::1]:80", "[fe80::1]:9100", "localhost", "LOCALHOST:80",
		"one.example", "One.Example:9100", "two", "two:1", "two \t ", "[::1]:80 ",
		"127.0.0.1 " };

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		ck_assert_msg(
		    host_is_accepted(good[i], strlen(good[i]), names, 3), "%s", good[i]);
}
END_TEST

START_TEST(other_names_are_not_accepted)
{
	static const char *const bad[] = { "", ":80", "three", "one.example.", "one.exampl",
		"x.one.example", "localhost.", "[]", "[::1", "[::1]x", "[::1]80",
		"127.0.0.1:80x", "127.0.0.1:123456", "127.1", "1.2.3.4.5", "::1", "two:1:2",
		"[127.0.0.1]", "two x", "two :1", " ", " two" };
	char longest[2000];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ck_assert_msg(
		    !host_is_accepted(bad[i], strlen(bad[i]), names, 3), "%s", bad[i]);
	memset(longest, 'a', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	ck_assert(!host_is_accepted(longest, strlen(longest), names, 3));
	/* In one piece with what comes behind it, it is another. */
	ck_assert(!host_is_accepted("two\0.other", 10, names, 3));
	longest[0] = '[';
	longest[1998] = ']';
	ck_assert(!host_is_accepted(longest, strlen(longest), names, 3));
}
END_TEST

START_TEST(target_may_have_its_host)
{
	size_t len;

	ck_assert_ptr_null(host_of_target("/healthz", &len));
	ck_assert_ptr_null(host_of_target("*", &len));
	ck_assert_ptr_null(host_of_target("http:/x", &len));
	ck_assert_str_eq(host_of_target("HTTP://a:1/b", &len), "a:1/b");
	ck_assert_uint_eq(len, 3);
	ck_assert_str_eq(host_of_target("http://a", &len), "a");
	ck_assert_uint_eq(len, 1);
	ck_assert_str_eq(host_of_target("http://", &len), "");
	ck_assert_uint_eq(len, 0);
}
END_TEST

/* --- health --- */

static const struct {
	const char *status, *why; /* NULL: well */
} states[] = {
	{ "{'state':'serving','workers':[{'slot':0,'state':'ready','degraded':false}]}", NULL },
	{ "{'state':'serving','workers':[{'slot':0,'state':'ready','degraded':false},"
	  "{'slot':1,'state':'starting','degraded':false}]}",
	    NULL },
	{ "{'state':'serving','workers':[{'slot':0,'state':'ready','degraded':false},"
	  "{'slot':1,'state':'waiting','degraded':true}]}",
	    "degraded: worker 1 crashes too often" },
	{ "{'state':'serving','workers':[{'slot':0,'state':'ready','degraded':false},"
	  "{'slot':7,'state':'failed','degraded':false}]}",
	    "degraded: worker 7 cannot run" },
	{ "{'state':'serving','workers':[{'slot':0,'state':'waiting','degraded':false}]}",
	    "not ready: no worker is ready" },
	{ "{'state':'serving','workers':[]}", "not ready: no worker is ready" },
	{ "{'state':'starting','workers':[]}", "not ready: starting" },
	{ "{'state':'stopping','workers':[]}", "shutting down: stopping" },
	{ "{'state':'leaving','workers':[]}", NULL },
};

START_TEST(health_is_judged)
{
	char text[512];
	struct reason why = { "" };
	enum status status;
	json_t *root;

	strcpy(text, states[_i].status);
	for (char *at = text; (at = strchr(at, '\'')) != NULL;)
		*at = '"';
	root = json_loads(text, 0, NULL);
	ck_assert_ptr_nonnull(root);
	status = health_judge(root, &why);
	ck_assert_int_eq(status, states[_i].why == NULL ? STATUS_OK : STATUS_INVALID);
	if (states[_i].why != NULL)
		ck_assert_str_eq(why.text, states[_i].why);
	json_decref(root);
}
END_TEST

/* --- inquiries --- */

struct rig {
	int ours, theirs; /* the master's end is ours */
	struct inquiries *inquiries;
	unsigned n_answers[INQUIRY_N], n_failures[INQUIRY_N];
};

static void on_answer(enum inquiry kind, const json_t *answer, const char *error, void *arg)
{
	struct rig *rig = arg;

	(void)error;
	rig->n_answers[kind] += answer != NULL;
	rig->n_failures[kind] += answer == NULL;
}

static void rig_up(struct rig *rig)
{
	int pair[2];

	*rig = (struct rig){ 0 };
	ck_assert_int_eq(
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair), 0);
	rig->ours = pair[0];
	rig->theirs = pair[1];
	rig->inquiries = inquiries_new(rig->theirs, on_answer, rig);
}

static void rig_down(struct rig *rig)
{
	inquiries_destroy(&rig->inquiries);
	close(rig->ours);
	close(rig->theirs);
}

/* What the master has been asked since the last time. */
static void expect_asked(struct rig *rig, const char *expected)
{
	char text[256];
	ssize_t n = recv(rig->ours, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	ck_assert_str_eq(text, expected);
}

static bool tell(struct rig *rig, const char *text)
{
	ck_assert_int_eq(send(rig->ours, text, strlen(text), 0), (int)strlen(text));
	return inquiries_read(rig->inquiries);
}

#define STATUS_LINE "{\"verb\":\"status\"}\n"
#define METRICS_LINE "{\"verb\":\"metrics\"}\n"

START_TEST(one_of_a_kind_is_under_way)
{
	struct rig rig;

	rig_up(&rig);
	ck_assert(!inquiry_is_fresh(rig.inquiries, INQUIRY_METRICS));
	for (int i = 0; i < 1000; i++)
		ck_assert(inquiry_ask(rig.inquiries, INQUIRY_METRICS));
	expect_asked(&rig, METRICS_LINE);
	for (int i = 0; i < 1000; i++)
		ck_assert(inquiry_ask(rig.inquiries, INQUIRY_STATUS));
	expect_asked(&rig, STATUS_LINE);
	ck_assert(tell(&rig, "{\"ok\":true,\"te"));
	ck_assert_uint_eq(rig.n_answers[INQUIRY_METRICS], 0);
	ck_assert(tell(&rig, "xt\":\"\"}\n{\"ok\":true}\n"));
	ck_assert_uint_eq(rig.n_answers[INQUIRY_METRICS], 1);
	ck_assert_uint_eq(rig.n_answers[INQUIRY_STATUS], 1);
	ck_assert(inquiry_ask(rig.inquiries, INQUIRY_METRICS));
	expect_asked(&rig, METRICS_LINE);
	rig_down(&rig);
}
END_TEST

START_TEST(failure_is_not_kept)
{
	struct rig rig;

	rig_up(&rig);
	ck_assert(inquiry_ask(rig.inquiries, INQUIRY_STATUS));
	ck_assert(tell(&rig, "{\"ok\":false,\"error\":\"no\"}\n"));
	ck_assert_uint_eq(rig.n_failures[INQUIRY_STATUS], 1);
	ck_assert(!inquiry_is_fresh(rig.inquiries, INQUIRY_STATUS));
	ck_assert(inquiry_ask(rig.inquiries, INQUIRY_STATUS));
	rig_down(&rig);
}
END_TEST

START_TEST(answer_that_nobody_asked_for_ends_it)
{
	struct rig rig;

	rig_up(&rig);
	ck_assert(!tell(&rig, "{\"ok\":true}\n"));
	rig_down(&rig);
}
END_TEST

START_TEST(end_of_the_master_is_seen)
{
	struct rig rig;

	rig_up(&rig);
	ck_assert(inquiry_ask(rig.inquiries, INQUIRY_STATUS));
	ck_assert_int_eq(shutdown(rig.ours, SHUT_WR), 0);
	ck_assert(!inquiries_read(rig.inquiries));
	rig_down(&rig);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("http");
	TCase *host = tcase_create("host");
	TCase *health = tcase_create("health");
	TCase *inquiry = tcase_create("inquiry");
	SRunner *runner;
	int n_failed;

	tcase_add_test(host, addresses_and_known_names_are_accepted);
	tcase_add_test(host, other_names_are_not_accepted);
	tcase_add_test(host, target_may_have_its_host);
	tcase_add_loop_test(
	    health, health_is_judged, 0, (int)(sizeof(states) / sizeof(states[0])));
	tcase_add_test(inquiry, one_of_a_kind_is_under_way);
	tcase_add_test(inquiry, failure_is_not_kept);
	tcase_add_test(inquiry, answer_that_nobody_asked_for_ends_it);
	tcase_add_test(inquiry, end_of_the_master_is_seen);
	suite_add_tcase(suite, host);
	suite_add_tcase(suite, health);
	suite_add_tcase(suite, inquiry);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? 0 : 1;
}
