/*
 * runnel-bench as a whole: against the floor, and against servers that do something wrong. It
 * must name what is wrong, count every request exactly once, and come to an end.
 */
#include "config.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/bench_server.h"

#define ARGUMENTS_MAX 48

/* Far above what any of these takes, so that a hang is told from a slow machine. */
#define TIMEOUT_S 60

static struct bench_server server;
static char json_path[] = "/tmp/runnel-bench-test.XXXXXX";
static json_t *report;

static void setup(void)
{
	int fd = mkstemp(json_path);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void teardown(void)
{
	json_decref(report);
	unlink(json_path);
}

/*
 * Start runnel-bench with the words of a line, which may have %s for the server's address.
 * Standard error goes to error_fd where that is not -1.
 */
static pid_t bench_start(const char *line, int error_fd)
{
	static char copy[512], program[] = "./runnel-bench", quiet[] = "--quiet",
			       json[] = "--json";
	char *argv[ARGUMENTS_MAX] = { program, quiet, json, json_path };
	char *rest = copy, *word;
	int argc = 4;
	pid_t pid;

	snprintf(copy, sizeof(copy), "%s %s", line, server.address);
	while ((word = strsep(&rest, " ")) != NULL) {
		ck_assert_int_lt(argc, ARGUMENTS_MAX - 1);
		if (word[0] != '\0')
			argv[argc++] = word;
	}
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (error_fd >= 0)
			dup2(error_fd, STDERR_FILENO);
		execv(program, argv);
		_exit(127);
	}
	return pid;
}

/* Its exit status. */
static int bench_wait(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(
	    WIFEXITED(status), "runnel-bench was killed by signal %d", WTERMSIG(status));
	return WEXITSTATUS(status);
}

static void read_report(void)
{
	json_error_t error;

	report = json_load_file(json_path, 0, &error);
	ck_assert_msg(report != NULL, "%s", error.text);
}

/* The number at a path such as "run.failed_by_cause.timeout". */
static double figure(const char *path)
{
	char copy[128], *rest = copy, *word;
	const json_t *at = report;

	snprintf(copy, sizeof(copy), "%s", path);
	while ((word = strsep(&rest, ".")) != NULL)
		at = json_object_get(at, word);
	ck_assert_msg(json_is_number(at), "no number %s", path);
	return json_number_value(at);
}

static void expect(const char *path, double value)
{
	ck_assert_msg(figure(path) == value, "%s is %g, not %g", path, figure(path), value);
}

static void expect_at_least(const char *path, double value)
{
	ck_assert_msg(
	    figure(path) >= value, "%s is %g, less than %g", path, figure(path), value);
}

static double sum_of_object(const json_t *object)
{
	const char *key;
	json_t *value;
	double sum = 0;
	/* The macro takes no const object, though it changes nothing. */
	void *iterator = json_object_iter((json_t *)(uintptr_t)object);

	for (; iterator != NULL;
	     iterator = json_object_iter_next((json_t *)(uintptr_t)object, iterator)) {
		key = json_object_iter_key(iterator);
		value = json_object_get(object, key);
		sum += json_number_value(value);
	}
	return sum;
}

static double sum_of_array(const json_t *array)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < json_array_size(array); i++)
		sum += json_number_value(json_array_get(array, i));
	return sum;
}

static double sum_of_histogram(const json_t *array)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < json_array_size(array); i++)
		sum += json_number_value(json_array_get(json_array_get(array, i), 2));
	return sum;
}

/* Every request is in one column, every reply in one step and one bucket. */
static void expect_sums(const char *phase)
{
	const json_t *run = json_object_get(report, phase);
	double replies = json_number_value(json_object_get(run, "replies"));
	double causes = sum_of_object(json_object_get(run, "failed_by_cause"));
	double unsent = json_number_value(json_object_get(run, "not_sent"));
	double cut = json_number_value(json_object_get(run, "cut_off"));

	ck_assert_double_eq(
	    json_number_value(json_object_get(run, "sent")), replies + causes + cut);
	ck_assert_double_eq(json_number_value(json_object_get(run, "failed")), causes + unsent);
	ck_assert_double_eq(sum_of_array(json_object_get(run, "steps_50ms")), replies);
	ck_assert_double_eq(sum_of_histogram(json_object_get(run, "histogram_ns")), replies);
}

/* Run it to its end: the status must be this, and the sums must agree. */
static void bench(const char *line, int status)
{
	ck_assert_int_eq(bench_wait(bench_start(line, -1)), status);
	read_report();
	expect_sums("run");
	if (json_object_get(report, "warmup") != NULL)
		expect_sums("warmup");
	if (figure("options.duration_us") == 0)
		expect("options.requests", (figure("run.sent") + figure("run.not_sent")) /
					       figure("options.connections"));
}

START_TEST(all_options_at_once_do_what_they_say)
{
	char line[256];

	bench_server_start_floor(&server);
	snprintf(line, sizeof(line),
	    "-c 100 -n 100 -w 3 -p 4 -m -k 100us -f tlv -r 5%% -D 20s -t 3 -P 2 -b 16 -s 7"
	    " -S %d -T everything --no-progress -C",
	    (int)server.pid);
	bench(line, 0);
	bench_server_end(&server);
	expect("connect.connects", 100);
	expect("connect.connects_opened", 100);
	expect("warmup.replies", 300);
	expect("run.sent", 10000);
	expect("run.replies", 10000);
	expect("run.failed", 0);
	expect("options.threads", 3);
	expect("options.processes", 2);
	/* 5 % of the replies, but not of a client's last. */
	expect_at_least("run.connects", 400);
	ck_assert_double_le(figure("run.connects"), 600);
	expect("run.connects_opened", figure("run.connects"));
	expect("run.bytes_sent", figure("run.bytes_received"));
	expect_at_least("run.latency_us.min", 1);
	expect_at_least("run.latency_us.p99", figure("run.latency_us.p50"));
	expect_at_least("run.latency_us.max", figure("run.latency_us.p99"));
	expect_at_least("cpu.server_seconds", 0);
	ck_assert_str_eq(json_string_value(json_object_get(report, "title")), "everything");
}
END_TEST

START_TEST(each_message_of_the_protocol_is_answered)
{
	static const unsigned int ids[] = { 1001, 2001, 3001, 4001 };
	char line[64];

	bench_server_start_floor(&server);
	snprintf(line, sizeof(line), "-c 10 -n 50 -p 3 -i %u", ids[_i]);
	bench(line, 0);
	bench_server_end(&server);
	expect("run.replies", 500);
}
END_TEST

START_TEST(deep_pipelines_are_written_in_pieces)
{
	bench_server_start_floor(&server);
	bench("-c 4 -n 20000 -p 10000 -i 4001", 0);
	bench_server_end(&server);
	expect("run.replies", 80000);
}
END_TEST

START_TEST(echo_is_verified_in_both_framings)
{
	bench_server_start(&server, FAULT_NONE);
	bench(_i == 0 ? "-c 5 -n 200 -e 12 -f tlv" : "-c 5 -n 200 -e 12 -f ltv", 0);
	bench_server_end(&server);
	expect("run.replies", 1000);
	expect("run.bytes_sent", 1000 * BENCH_FRAME);
	expect("run.bytes_received", 1000 * BENCH_FRAME);
}
END_TEST

START_TEST(reply_that_trickles_in_is_a_right_one)
{
	bench_server_start(&server, FAULT_TRICKLE);
	bench("-c 3 -n 50 -e 12 -p 5", 0);
	bench_server_end(&server);
	expect("run.replies", 150);
}
END_TEST

START_TEST(duration_ends_the_run)
{
	bench_server_start_floor(&server);
	bench("-c 20 -d 200ms -w 2", 0);
	bench_server_end(&server);
	expect("warmup.replies", 40);
	expect("run.failed", 0);
	expect_at_least("run.replies", 20);
	expect_at_least("run.seconds", 0.2);
	ck_assert_double_lt(figure("run.seconds"), 20);
}
END_TEST

START_TEST(think_time_lies_between_requests)
{
	bench_server_start_floor(&server);
	bench("-c 5 -n 6 -k 20ms", 0);
	bench_server_end(&server);
	expect("run.replies", 30);
	expect_at_least("run.seconds", 0.1);
	ck_assert_double_lt(figure("run.latency_us.min"), 20000);
}
END_TEST

/* Even where the replies come one by one, the next four wait for all of them. */
START_TEST(think_time_lies_between_bursts)
{
	bench_server_start(&server, FAULT_TRICKLE);
	bench("-c 1 -n 40 -p 4 -k 20ms -e 12", 0);
	bench_server_end(&server);
	expect("run.replies", 40);
	expect_at_least("run.seconds", 0.18);
}
END_TEST

/* The last reply of a client is followed by none. */
START_TEST(reconnect_after_each_reply_makes_as_many_connections)
{
	bench_server_start(&server, FAULT_NONE);
	bench("-c 4 -n 25 -e 12 -r 100%", 0);
	expect("run.connects_opened", 4 * 24);
	ck_assert_uint_eq(server.counts->accepted, 4 * 25);
	bench_server_end(&server);
	expect("run.replies", 100);
}
END_TEST

/* Even with more requests to send, a client that leaves lets its replies come in first. */
START_TEST(reconnect_waits_for_what_is_in_flight)
{
	bench_server_start(&server, FAULT_TRICKLE);
	bench("-c 2 -n 400 -p 4 -e 12 -r 10%", 0);
	bench_server_end(&server);
	expect("run.replies", 800);
	expect("run.failed", 0);
	expect_at_least("run.connects_opened", 40);
}
END_TEST

/* Ten connects within 10 ms, so a hundred take 90 ms. */
START_TEST(connects_are_ramped)
{
	bench_server_start_floor(&server);
	bench("-c 100 -n 1 -b 10", 0);
	bench_server_end(&server);
	expect("connect.connects_opened", 100);
	expect_at_least("connect.seconds", 0.09);
}
END_TEST

/* A connection is right for three requests; the fourth and the eighth are lost. */
static const struct {
	enum fault fault;
	const char *cause;
} faults_at_fourth[] = {
	{ FAULT_WRONG_ID, "wrong" },
	{ FAULT_WRONG_LENGTH, "wrong" },
	{ FAULT_WRONG_BYTE, "wrong" },
	{ FAULT_CLOSE, "closed" },
	{ FAULT_HALF, "closed" },
	{ FAULT_RESET, "reset" },
	{ FAULT_HANG, "timeout" },
};

START_TEST(lost_connection_costs_its_request_and_is_replaced)
{
	char path[64];

	bench_server_start(&server, faults_at_fourth[_i].fault);
	/* The other replies have to come in time, however busy the machine is. */
	bench(faults_at_fourth[_i].fault == FAULT_HANG ? "-c 3 -n 8 -e 12 -D 2s"
						       : "-c 3 -n 8 -e 12",
	    1);
	bench_server_end(&server);
	expect("run.replies", 18);
	expect("run.failed", 6);
	snprintf(path, sizeof(path), "run.failed_by_cause.%s", faults_at_fourth[_i].cause);
	expect(path, 6);
	snprintf(path, sizeof(path), "run.connections_lost.%s", faults_at_fourth[_i].cause);
	expect(path, 6);
	expect("run.connects_opened", 3);
	expect("run.clients_given_up", 0);
	ck_assert_int_eq(json_object_get(report, "first_wrong") != NULL,
	    strcmp(faults_at_fourth[_i].cause, "wrong") == 0);
}
END_TEST

START_TEST(wrong_byte_is_described)
{
	const char *text;

	bench_server_start(&server, FAULT_WRONG_BYTE);
	bench("-c 1 -n 4 -e 12", 1);
	bench_server_end(&server);
	text = json_string_value(json_object_get(report, "first_wrong"));
	ck_assert_ptr_nonnull(strstr(text, "client 0, request 3: wrong from byte 19"));
}
END_TEST

START_TEST(replies_in_the_wrong_order_are_wrong)
{
	bench_server_start(&server, FAULT_SWAP);
	bench("-c 3 -n 10 -p 2 -e 12", 1);
	bench_server_end(&server);
	expect("run.replies", 0);
	expect("run.failed_by_cause.wrong", 3);
	expect("run.failed_by_cause.aborted", 3);
	expect("run.not_sent", 24);
	expect("run.clients_given_up", 3);
}
END_TEST

START_TEST(second_copy_of_a_reply_is_wrong)
{
	bench_server_start(&server, FAULT_TWICE);
	bench("-c 1 -n 3 -e 12", 1);
	bench_server_end(&server);
	expect("run.replies", 3);
	expect("run.failed", 0);
	expect("run.connections_lost.wrong", 3);
}
END_TEST

START_TEST(bytes_that_nobody_asked_for_are_wrong)
{
	bench_server_start(&server, FAULT_UNASKED);
	bench("-c 2 -n 5 -e 12", 1);
	bench_server_end(&server);
	expect("run.replies", 0);
	expect("run.failed", 10);
	expect("run.clients_given_up", 2);
}
END_TEST

START_TEST(server_that_never_answers_runs_into_the_deadline)
{
	bench_server_start(&server, FAULT_SILENT);
	bench("-c 3 -n 10 -p 4 -e 12 -D 200ms", 1);
	bench_server_end(&server);
	expect("run.replies", 0);
	expect("run.failed_by_cause.timeout", 12);
	expect("run.not_sent", 18);
	expect_at_least("run.seconds", 0.2);
}
END_TEST

START_TEST(server_that_never_reads_runs_into_the_deadline)
{
	bench_server_start(&server, FAULT_DEAF);
	bench("-c 2 -n 10 -e 16M -D 200ms", 1);
	bench_server_end(&server);
	expect("run.failed_by_cause.timeout", 2);
	expect("run.sent", 2);
	expect("run.not_sent", 18);
	ck_assert_double_lt(figure("run.bytes_sent"), 2 * BENCH_SATED);
}
END_TEST

/* Bytes that the server takes now and then do not put the deadline off. */
START_TEST(server_that_reads_in_sips_runs_into_the_deadline)
{
	bench_server_start(&server, FAULT_SIP);
	bench("-c 1 -n 1 -e 16M -D 1s", 1);
	bench_server_end(&server);
	expect("run.failed_by_cause.timeout", 1);
	/* Put off, it would have sent all of it. */
	ck_assert_double_lt(figure("run.bytes_sent"), BENCH_SATED);
}
END_TEST

/* The next request begins with its first byte, wherever the lost one was cut. */
START_TEST(request_that_was_lost_half_sent_leaves_nothing_behind)
{
	bench_server_start(&server, FAULT_SATED);
	bench("-c 1 -n 4 -e 16M -D 2s", 1);
	bench_server_end(&server);
	expect("run.replies", 2);
	expect("run.failed_by_cause.timeout", 2);
	expect("run.connects_opened", 1);
}
END_TEST

START_TEST(server_that_drops_connections_is_given_up)
{
	bench_server_start(&server, FAULT_DROP);
	bench("-c 3 -n 10 -e 12", 1);
	bench_server_end(&server);
	expect("run.replies", 0);
	expect("run.failed", 30);
	expect("run.clients_given_up", 3);
}
END_TEST

START_TEST(server_that_dies_is_given_up)
{
	bench_server_start(&server, FAULT_DIE);
	bench("-c 3 -n 1000 -e 12", 1);
	bench_server_end(&server);
	expect("run.replies", 9);
	expect("run.failed", 2991);
	expect("run.clients_given_up", 3);
}
END_TEST

START_TEST(no_server_is_connection_refused)
{
	int fd = bench_server_hold_port(&server);

	bench("-c 10 -n 10", 1);
	close(fd);
	expect("connect.connects", 10);
	expect("connect.connects_failed.refused", 10);
	expect("run.not_sent", 100);
	expect("run.failed", 100);
}
END_TEST

START_TEST(full_backlog_is_a_connect_timeout)
{
	bench_server_start(&server, FAULT_FULL);
	bench("-c 5 -n 10 -D 300ms", 1);
	bench_server_end(&server);
	expect_at_least("connect.connects_failed.timeout", 3);
	expect("run.replies", 0);
	expect("run.failed", 50);
}
END_TEST

static void wait_for_requests(uint32_t n)
{
	while (__atomic_load_n(&server.counts->requests, __ATOMIC_RELAXED) < n)
		sched_yield();
}

START_TEST(interrupted_run_is_reported)
{
	pid_t pid;

	bench_server_start(&server, FAULT_NONE);
	pid = bench_start("-c 4 -d 60s -e 12 -t 2", -1);
	wait_for_requests(100);
	ck_assert_int_eq(kill(pid, _i == 0 ? SIGINT : SIGTERM), 0);
	ck_assert_int_eq(bench_wait(pid), 0);
	read_report();
	bench_server_end(&server);
	ck_assert(json_is_true(json_object_get(report, "interrupted")));
	expect_at_least("run.replies", 90);
	expect("run.failed", 0);
	ck_assert_double_lt(figure("run.seconds"), 30);
	expect_sums("run");
}
END_TEST

/* One of its load processes; 0: there is none yet. */
static pid_t first_child(pid_t parent)
{
	char path[64];
	int pid = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	if (fscanf(file, "%d", &pid) != 1)
		pid = 0;
	fclose(file);
	return (pid_t)pid;
}

/* Connecting to a full backlog takes its time. */
START_TEST(run_interrupted_while_it_connects_is_reported)
{
	pid_t pid;

	bench_server_start(&server, FAULT_FULL);
	pid = bench_start("-c 4 -n 10 -w 1", -1);
	/* It has a load process, so it looks for signals. */
	while (first_child(pid) == 0)
		sched_yield();
	ck_assert_int_eq(kill(pid, SIGINT), 0);
	ck_assert_int_eq(bench_wait(pid), 0);
	read_report();
	bench_server_end(&server);
	ck_assert(json_is_true(json_object_get(report, "interrupted")));
	expect("run.sent", 0);
	expect_sums("run");
}
END_TEST

START_TEST(killed_load_process_is_trouble)
{
	char text[256] = "";
	int fds[2];
	pid_t pid;

	bench_server_start(&server, FAULT_NONE);
	ck_assert_int_eq(pipe(fds), 0);
	pid = bench_start("-c 4 -d 60s -e 12 -P 2", fds[1]);
	close(fds[1]);
	wait_for_requests(100);
	ck_assert_int_eq(kill(first_child(pid), SIGKILL), 0);
	ck_assert_int_eq(bench_wait(pid), 2);
	ck_assert_int_gt(read(fds[0], text, sizeof(text) - 1), 0);
	ck_assert_ptr_nonnull(strstr(text, "killed by signal 9"));
	bench_server_end(&server);
}
END_TEST

static const struct {
	const char *line, *word;
} bad_runs[] = {
	{ "-c 0", "--connections" },
	{ "--no-such-option", "--no-such-option" },
	{ "-j /no/such/folder/file", "/no/such/folder/file" },
	{ "-S 999999999 -c 1 -n 1 -e 12", "999999999" },
	{ "--compare /no/such/file", "/no/such/file" },
};

START_TEST(trouble_is_one_line_and_status_two)
{
	char text[512] = "";
	int fds[2];

	bench_server_start(&server, FAULT_NONE);
	ck_assert_int_eq(pipe(fds), 0);
	ck_assert_int_eq(bench_wait(bench_start(bad_runs[_i].line, fds[1])), 2);
	close(fds[1]);
	ck_assert_int_gt(read(fds[0], text, sizeof(text) - 1), 0);
	ck_assert_msg(strstr(text, bad_runs[_i].word) != NULL, "%s", text);
	ck_assert_msg(strchr(text, '\n') == text + strlen(text) - 1, "%s", text);
	bench_server_end(&server);
}
END_TEST

static TCase *add_case(Suite *suite, const char *name)
{
	TCase *tests = tcase_create(name);

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_set_timeout(tests, TIMEOUT_S);
	suite_add_tcase(suite, tests);
	return tests;
}

int main(void)
{
	Suite *suite = suite_create("runnel-bench");
	TCase *right = add_case(suite, "right");
	TCase *wrong = add_case(suite, "wrong");
	TCase *ended = add_case(suite, "ended");
	SRunner *runner;
	int n_failed;

	tcase_add_test(right, all_options_at_once_do_what_they_say);
	tcase_add_loop_test(right, each_message_of_the_protocol_is_answered, 0, 4);
	tcase_add_test(right, deep_pipelines_are_written_in_pieces);
	tcase_add_loop_test(right, echo_is_verified_in_both_framings, 0, 2);
	tcase_add_test(right, reply_that_trickles_in_is_a_right_one);
	tcase_add_test(right, duration_ends_the_run);
	tcase_add_test(right, think_time_lies_between_requests);
	tcase_add_test(right, think_time_lies_between_bursts);
	tcase_add_test(right, reconnect_after_each_reply_makes_as_many_connections);
	tcase_add_test(right, reconnect_waits_for_what_is_in_flight);
	tcase_add_test(right, connects_are_ramped);
	tcase_add_loop_test(wrong, lost_connection_costs_its_request_and_is_replaced, 0,
	    (int)(sizeof(faults_at_fourth) / sizeof(faults_at_fourth[0])));
	tcase_add_test(wrong, wrong_byte_is_described);
	tcase_add_test(wrong, replies_in_the_wrong_order_are_wrong);
	tcase_add_test(wrong, second_copy_of_a_reply_is_wrong);
	tcase_add_test(wrong, bytes_that_nobody_asked_for_are_wrong);
	tcase_add_test(wrong, server_that_never_answers_runs_into_the_deadline);
	tcase_add_test(wrong, server_that_never_reads_runs_into_the_deadline);
	tcase_add_test(wrong, server_that_reads_in_sips_runs_into_the_deadline);
	tcase_add_test(wrong, request_that_was_lost_half_sent_leaves_nothing_behind);
	tcase_add_test(wrong, server_that_drops_connections_is_given_up);
	tcase_add_test(wrong, server_that_dies_is_given_up);
	tcase_add_test(wrong, no_server_is_connection_refused);
	tcase_add_test(wrong, full_backlog_is_a_connect_timeout);
	tcase_add_loop_test(ended, interrupted_run_is_reported, 0, 2);
	tcase_add_test(ended, run_interrupted_while_it_connects_is_reported);
	tcase_add_test(ended, killed_load_process_is_trouble);
	tcase_add_loop_test(ended, trouble_is_one_line_and_status_two, 0,
	    (int)(sizeof(bad_runs) / sizeof(bad_runs[0])));
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
