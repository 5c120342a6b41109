/*
 * Metrics of modules: what one declares and counts is told, and goes on over all that
 * becomes of its workers.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/client.h"
#include "system/ctl.h"
#include "system/daemon.h"
#include "system/modules/meter.h"
#include "system/process.h"
#include "system/run.h"

#define MODULE(name, options) \
	"module " name " { path = \"" TEST_MODULES "/meter.so\" " options " }\n"
#define LISTEN(module) "listen main { address = \"127.0.0.1:0\" modules = { " module " } }\n"
#define METER(options) MODULE("meter", options) LISTEN("meter")

#define BYTES "runnel_module_meter_bytes_total{worker=\"0\",module=\"meter\"} "
#define LEVEL "runnel_module_meter_level{worker=\"0\",module=\"meter\"} "

/* Its conf begins with what it needs for itself and goes on with text. */
static void set_conf(struct daemon *daemon, const char *text)
{
	char conf[2048];

	snprintf(conf, sizeof(conf),
	    "workers = %u\nlog = \"%s\"\npid-file = \"%s/pid\"\ncontrol-socket = \"%s/sock\"\n"
	    "module-dir = \"" OUR_MODULES "\"\n%s",
	    daemon->n_workers, daemon->log, daemon->folder, daemon->folder, text);
	daemon_set_conf(daemon, conf);
}

static struct daemon *start(unsigned n_workers, const char *text)
{
	struct daemon *daemon = daemon_new(n_workers, "%s", "");

	set_conf(daemon, text);
	daemon_start(daemon);
	return daemon;
}

static void ask(int client, uint32_t id, const char *payload)
{
	struct bytes frame = { 0 };

	bytes_add_tlv(&frame, id, payload, strlen(payload));
	client_exchange(client, &frame, &frame);
	bytes_free(&frame);
}

static void expect_metric(struct daemon *daemon, const char *line)
{
	char whole[256];

	ctl_expect(daemon, "metrics", 0);
	snprintf(whole, sizeof(whole), "\n%s\n", line);
	ctl_expect_said(daemon, whole);
}

static bool has_metric(struct daemon *daemon, const char *text)
{
	ctl_expect(daemon, "metrics", 0);
	return strstr(ctl_said(daemon), text) != NULL;
}

START_TEST(metrics_of_a_module_are_told)
{
	struct daemon *daemon = start(1, METER("more = 1"));
	int client = client_connect(daemon_port(daemon, "main"));

	expect_metric(daemon, BYTES "0");
	ask(client, METER_COUNT, "hello");
	ask(client, METER_COUNT, "you");
	ask(client, METER_SET, "\x07");
	ask(client, METER_ADD, "x\x09");
	expect_metric(daemon, "# HELP runnel_module_meter_bytes_total bytes that came\n"
			      "# TYPE runnel_module_meter_bytes_total counter\n" BYTES "8\n"
			      "# HELP runnel_module_meter_level what was set last\n"
			      "# TYPE runnel_module_meter_level gauge\n" LEVEL "-2\n"
			      "# HELP runnel_module_meter_more_0 one more\n"
			      "# TYPE runnel_module_meter_more_0 gauge\n"
			      "runnel_module_meter_more_0{worker=\"0\",module=\"meter\"} 0.5");
	ctl_expect(daemon, "status --json", 0);
	ctl_expect_said(daemon,
	    "\"modules\":{\"meter\":{\"bytes_total\":8,\"level\":-2.0,\"more_0\":0.5}}");
	ctl_expect(daemon, "routes", 0);
	ck_assert_ptr_null(strstr(ctl_said(daemon), "metric"));
	close(client);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(counters_outlive_workers_and_gauges_do_not)
{
	struct daemon *daemon = start(1, METER(""));
	int client = client_connect(daemon_port(daemon, "main"));

	ask(client, METER_COUNT, "hello");
	ask(client, METER_SET, "\x07");
	expect_metric(daemon, BYTES "5");
	expect_metric(daemon, LEVEL "7");
	kill(daemon_worker(daemon, 0), SIGKILL);
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	WAIT_FOR(has_metric(daemon, "\nrunnel_workers_ready 1\n"));
	expect_metric(daemon, BYTES "5");
	expect_metric(daemon, LEVEL "0");
	close(client);
	client = client_connect(daemon_port(daemon, "main"));
	ask(client, METER_COUNT, "again");
	expect_metric(daemon, BYTES "10");
	close(client);
	daemon_stop(&daemon);
}
END_TEST

/* With a help of its own, then without the module. */
START_TEST(counters_go_on_over_reloads)
{
	struct daemon *daemon = start(1, METER(""));
	int client = client_connect(daemon_port(daemon, "main"));

	ask(client, METER_COUNT, "hello");
	close(client);
	set_conf(daemon, METER("help = \"more of them\""));
	ctl_expect(daemon, "reload", 0);
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	client = client_connect(daemon_port(daemon, "main"));
	ask(client, METER_COUNT, "hello");
	ask(client, METER_SET, "\x07");
	expect_metric(daemon, "# HELP runnel_module_meter_bytes_total more of them\n"
			      "# TYPE runnel_module_meter_bytes_total counter\n" BYTES "10");
	close(client);
	set_conf(daemon, "module echo { }\n" LISTEN("echo"));
	ctl_expect(daemon, "reload", 0);
	WAIT_FOR(daemon_has_logged(daemon, "generation 2 has ended"));
	expect_metric(daemon, BYTES "10");
	ck_assert(!has_metric(daemon, "runnel_module_meter_level"));
	daemon_stop(&daemon);
}
END_TEST

START_TEST(counters_go_on_over_an_upgrade)
{
	struct daemon *daemon = start(1, METER(""));
	char pid_file[160];
	int client = client_connect(daemon_port(daemon, "main"));

	ask(client, METER_COUNT, "hello");
	close(client);
	daemon_signal(daemon, SIGUSR2);
	WAIT_FOR(daemon_has_ended(daemon));
	daemon_attach(daemon, ctl_path(daemon, "pid", pid_file));
	client = client_connect(daemon_port(daemon, "main"));
	ask(client, METER_COUNT, "you");
	expect_metric(daemon, BYTES "8");
	close(client);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(each_worker_has_its_own)
{
	struct daemon *daemon = start(2, METER(""));

	expect_metric(daemon, BYTES "0\n"
				    "runnel_module_meter_bytes_total{worker=\"1\",module="
				    "\"meter\"} 0");
	daemon_stop(&daemon);
}
END_TEST

START_TEST(names_of_sections_become_names_of_metrics)
{
	struct daemon *daemon = start(1, MODULE("me-ter.2", "") LISTEN("me-ter.2"));

	expect_metric(daemon, "# TYPE runnel_module_me_ter_2_bytes_total counter\n"
			      "runnel_module_me_ter_2_bytes_total{worker=\"0\","
			      "module=\"me-ter.2\"} 0");
	daemon_stop(&daemon);
}
END_TEST

START_TEST(bad_metrics_are_refused_to_the_module)
{
	struct daemon *daemon = daemon_new(1, "%s", METER("try-bad = true"));
	const char *said;

	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 0);
	said = daemon_read(daemon, daemon->err);
	ck_assert_msg(strstr(said, "module 'meter': metric 'bytes_total': the module has "
				   "declared it already") != NULL,
	    "%s", said);
	ck_assert_msg(strstr(said, "module 'meter': metric 'count': the name of a counter "
				   "ends in _total") != NULL,
	    "%s", said);
	ck_assert_msg(
	    strstr(said, "module 'meter': metric 'good': its help is not UTF-8") != NULL, "%s",
	    said);
	daemon_destroy(&daemon);
}
END_TEST

/* With those of generations that still run. */
START_TEST(there_is_room_for_64)
{
	struct daemon *daemon = start(1, METER("more = 62"));

	set_conf(daemon, METER("more = 63"));
	ctl_expect(daemon, "reload", 1);
	ctl_expect_said(daemon, "module 'meter': gauge 62: -1");
	set_conf(daemon, MODULE("other", "") LISTEN("other"));
	ctl_expect(daemon, "reload", 1);
	ctl_expect_said(daemon,
	    "module 'other': metric 'bytes_total': there is room for 64, with those of");
	/* One that is known has its place. */
	set_conf(daemon, METER("more = 3"));
	ctl_expect(daemon, "reload", 0);
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	expect_metric(daemon, BYTES "0");
	set_conf(daemon, MODULE("other", "") LISTEN("other"));
	ctl_expect(daemon, "reload", 0);
	expect_metric(
	    daemon, "runnel_module_other_bytes_total{worker=\"0\",module=\"other\"} 0");
	daemon_stop(&daemon);
}
END_TEST

/* A newer file of the module is there, and a worker ends before the reload. */
START_TEST(metric_that_is_new_to_a_worker_is_told_after_the_reload)
{
	struct daemon *daemon = daemon_new(1, "%s", "");
	char late[CTL_PATH_SIZE], conf[CTL_PATH_SIZE + 256];
	FILE *file;

	snprintf(conf, sizeof(conf),
	    "module meter { path = \"" TEST_MODULES
	    "/meter.so\" late = \"%s\" }\n" LISTEN("meter"),
	    ctl_path(daemon, "late", late));
	set_conf(daemon, conf);
	daemon_start(daemon);
	file = fopen(late, "we");
	ck_assert_ptr_nonnull(file);
	fclose(file);
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGKILL), 0);
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	WAIT_FOR(
	    daemon_has_logged(daemon, "metric 'late_total': told from the next reload on"));
	WAIT_FOR(has_metric(daemon, "\n" BYTES "0\n"));
	ck_assert(!has_metric(daemon, "late_total"));
	ctl_expect(daemon, "reload", 0);
	WAIT_FOR(has_metric(
	    daemon, "runnel_module_meter_late_total{worker=\"0\",module=\"meter\"} 7\n"));
	daemon_stop(&daemon);
}
END_TEST

/* The master has the rights that workers gave up: nothing that they write may hurt it. */
START_TEST(worker_that_scribbles_over_its_pages_harms_no_other)
{
	struct daemon *daemon = start(2, METER("more = 2"));
	int client = client_connect(daemon_port(daemon, "main"));
	struct bytes frame = { 0 };

	bytes_add_tlv(&frame, METER_SCRIBBLE, "x", 1);
	client_send(client, frame.data, frame.len);
	bytes_free(&frame);
	client_expect_end(client);
	close(client);
	WAIT_FOR(daemon_has_logged(daemon, "its last words: ????"));
	ctl_expect(daemon, "metrics", 0);
	ctl_expect_said(daemon, "# HELP runnel_module_meter_level what was set last\n");
	ctl_expect(daemon, "status --json", 0);
	ctl_expect(daemon, "reload", 0);
	client = client_connect(daemon_port(daemon, "main"));
	ask(client, METER_COUNT, "hello");
	close(client);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(thread_that_counts_ends_the_worker)
{
	struct daemon *daemon = start(1, METER(""));
	int client = client_connect(daemon_port(daemon, "main"));
	struct bytes frame = { 0 };

	bytes_add_tlv(&frame, METER_THREAD, "x", 1);
	client_send(client, frame.data, frame.len);
	bytes_free(&frame);
	WAIT_FOR(daemon_has_logged(
	    daemon, "a module calls rnl_counter_add() in a thread that is not the loop's"));
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	close(client);
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("f_metrics");
	TCase *told = run_case(suite, "told");
	TCase *kept = run_case(suite, "kept");
	TCase *refused = run_case(suite, "refused");

	tcase_add_test(told, metrics_of_a_module_are_told);
	tcase_add_test(told, each_worker_has_its_own);
	tcase_add_test(told, names_of_sections_become_names_of_metrics);
	tcase_add_test(kept, counters_outlive_workers_and_gauges_do_not);
	tcase_add_test(kept, counters_go_on_over_reloads);
	tcase_add_test(kept, counters_go_on_over_an_upgrade);
	tcase_add_test(refused, bad_metrics_are_refused_to_the_module);
	tcase_add_test(refused, there_is_room_for_64);
	tcase_add_test(refused, metric_that_is_new_to_a_worker_is_told_after_the_reload);
	tcase_add_test(refused, worker_that_scribbles_over_its_pages_harms_no_other);
	tcase_add_test(refused, thread_that_counts_ends_the_worker);
	return run_suite(suite);
}
