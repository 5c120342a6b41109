/*
 * bench/json: what is written is read back, and what is no report is refused with a reason.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wire/framing.h"

#include "bench/json.h"
#include "bench/options.h"
#include "bench/run.h"

#include "test_bench.h"

#define STEPS "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21]"

#define REPORT(run) "{\"program\": \"runnel-bench\", \"format\": 1, \"run\": {" run "}}"

#define FIGURES                                                                           \
	"\"seconds\": 2, \"requests_per_second\": 50.5, \"replies\": 101, \"failed\": 3," \
	"\"latency_us\": {\"mean\": 1, \"p50\": 2.5, \"p99\": 3, \"max\": 4}"

static struct summary summary;
static struct reason why;
static char path[] = "/tmp/runnel-bench-json.XXXXXX";

static void setup(void)
{
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

static void teardown(void)
{
	unlink(path);
}

static void write_file(const char *text)
{
	FILE *file = fopen(path, "w");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text, 1, strlen(text), file), strlen(text));
	ck_assert_int_eq(fclose(file), 0);
}

static struct run *make_run(struct options *options)
{
	struct run *run = calloc(1, sizeof(*run));
	struct tally *tally = &run->tallies[PHASE_RUN];
	size_t i;

	*options = (struct options){ .framing = &framing_tlv, .title = "a \"title\"" };
	run->options = options;
	run->n_lanes = 1;
	run->lane_shares = calloc(1, sizeof(double));
	for (i = 0; i < N_PHASES; i++)
		tally_init(&run->tallies[i]);
	tally->started_ns = 1000000000;
	tally->ended_ns = 3000000000;
	tally->replies = 4;
	tally->failed[FAILURE_TIMEOUT] = 2;
	tally->requests_unsent = 5;
	for (i = 0; i < 4; i++)
		histogram_add(&tally->latency, (i + 1) * 30000000);
	return run;
}

START_TEST(report_is_read_back)
{
	struct options options;
	struct run *run = make_run(&options);
	int fd;

	write_file("what was there before, and is much longer than nothing");
	ck_assert_int_eq(json_open(path, &fd, &why), STATUS_OK);
	ck_assert_int_eq(json_write(run, path, fd, &why), STATUS_OK);
	ck_assert_msg(json_read(path, &summary, &why) == STATUS_OK, "%s", why.text);
	ck_assert_str_eq(summary.title, "a \"title\"");
	ck_assert_double_eq_tol(summary.seconds, 2, 1e-9);
	ck_assert_double_eq_tol(summary.requests_per_second, 2, 1e-9);
	ck_assert_uint_eq(summary.replies, 4);
	ck_assert_uint_eq(summary.failed, 7);
	ck_assert_double_eq_tol(summary.mean_ns, 75e6, 1);
	ck_assert_double_eq_tol(summary.p50_ns, 60e6, 60e4);
	ck_assert_double_eq_tol(summary.max_ns, 120e6, 1);
	ck_assert_uint_eq(summary.steps[0], 1);
	ck_assert_uint_eq(summary.steps[1], 2);
	ck_assert_uint_eq(summary.steps[2], 1);
	ck_assert_uint_eq(summary.steps[3], 0);
	run_destroy(&run);
}
END_TEST

/* A title that cannot stand in JSON must not cost the report. */
START_TEST(title_that_is_not_utf8_is_marked)
{
	struct options options;
	struct run *run = make_run(&options);
	int fd;

	options.title = "\xff\xfe";
	ck_assert_int_eq(json_open(path, &fd, &why), STATUS_OK);
	ck_assert_int_eq(json_write(run, path, fd, &why), STATUS_OK);
	ck_assert_msg(json_read(path, &summary, &why) == STATUS_OK, "%s", why.text);
	ck_assert_ptr_nonnull(strstr(summary.title, "not UTF-8"));
	run_destroy(&run);
}
END_TEST

START_TEST(figures_are_read)
{
	write_file(REPORT(FIGURES ", \"steps_50ms\": " STEPS));
	ck_assert_msg(json_read(path, &summary, &why) == STATUS_OK, "%s", why.text);
	ck_assert_str_eq(summary.title, "");
	ck_assert_double_eq_tol(summary.requests_per_second, 50.5, 1e-9);
	ck_assert_double_eq_tol(summary.p50_ns, 2500, 1e-6);
	ck_assert_uint_eq(summary.failed, 3);
	ck_assert_uint_eq(summary.steps[0], 1);
	ck_assert_uint_eq(summary.steps[20], 21);
}
END_TEST

/* A file's text, and a word that its error must have beside the file's name. */
static const struct {
	const char *text, *word;
} bad_files[] = {
	{ "", "line" },
	{ "{", "line 1" },
	{ "[1, 2]", "not a report" },
	{ "{}", "not a report" },
	{ "{\"program\": \"wrk\", \"format\": 1}", "not a report" },
	{ "{\"program\": \"runnel-bench\"}", "format" },
	{ "{\"program\": \"runnel-bench\", \"format\": 2}", "format 2" },
	{ "{\"program\": \"runnel-bench\", \"format\": 1}", "seconds" },
	{ "{\"program\": \"runnel-bench\", \"format\": 1, \"run\": 5}", "seconds" },
	{ REPORT("\"seconds\": 1"), "requests_per_second" },
	{ REPORT(FIGURES), "steps_50ms" },
	{ REPORT(FIGURES ", \"steps_50ms\": 5"), "steps_50ms" },
	{ REPORT(FIGURES ", \"steps_50ms\": [1, 2]"), "steps_50ms" },
	{ REPORT("\"steps_50ms\": " STEPS ", \"seconds\": \"fast\""), "seconds" },
	{ REPORT("\"replies\": -1, \"seconds\": 2, \"requests_per_second\": 1, \"failed\": 0,"
		 "\"latency_us\": {\"mean\": 1, \"p50\": 2, \"p99\": 3, \"max\": 4},"
		 "\"steps_50ms\": " STEPS),
	    "replies" },
	{ REPORT(FIGURES ", \"steps_50ms\": [-1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,"
			 "20,21]"),
	    "steps_50ms[0]" },
};

START_TEST(bad_file_is_refused_with_a_word_on_why)
{
	write_file(bad_files[_i].text);
	ck_assert_msg(
	    json_read(path, &summary, &why) == STATUS_INVALID, "taken: %s", bad_files[_i].text);
	ck_assert_ptr_nonnull(strstr(why.text, path));
	ck_assert_msg(strstr(why.text, bad_files[_i].word) != NULL, "'%s': %s",
	    bad_files[_i].text, why.text);
	ck_assert_ptr_null(strchr(why.text, '\n'));
}
END_TEST

START_TEST(missing_file_and_folder_are_refused)
{
	int fd;

	ck_assert_int_eq(json_read("/no/such/file", &summary, &why), STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "/no/such/file"));
	ck_assert_int_eq(json_read("/tmp", &summary, &why), STATUS_INVALID);
	ck_assert_int_eq(json_open("/no/such/file", &fd, &why), STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "/no/such/file"));
}
END_TEST

START_TEST(full_disk_is_an_error)
{
	struct options options;
	struct run *run = make_run(&options);
	int fd;

	ck_assert_int_eq(json_open("/dev/full", &fd, &why), STATUS_OK);
	ck_assert_int_eq(json_write(run, "/dev/full", fd, &why), STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "/dev/full"));
	run_destroy(&run);
}
END_TEST

TCase *json_tests(void)
{
	TCase *tests = tcase_create("json");

	tcase_add_checked_fixture(tests, setup, teardown);
	tcase_add_test(tests, report_is_read_back);
	tcase_add_test(tests, title_that_is_not_utf8_is_marked);
	tcase_add_test(tests, figures_are_read);
	tcase_add_loop_test(tests, bad_file_is_refused_with_a_word_on_why, 0,
	    (int)(sizeof(bad_files) / sizeof(bad_files[0])));
	tcase_add_test(tests, missing_file_and_folder_are_refused);
	tcase_add_test(tests, full_disk_is_an_error);
	return tests;
}
