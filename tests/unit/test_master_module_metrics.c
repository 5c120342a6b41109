/*
 * master/module_metrics: what the checker has written is learned, and what modules
 * count is told as Prometheus wants it.
 */
#include "config.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/metrics.h"
#include "master/module_metrics.h"
#include "master/pages.h"

#include "test_master.h"

static struct pages pages;

static void set_up(void)
{
	ck_assert_int_eq(pages_open(&pages), STATUS_OK);
}

static void tear_down(void)
{
	pages_close(&pages);
}

static void learn(const char *text)
{
	struct reason why = { "" };

	ck_assert_msg(module_metrics_learn(&pages, text, 1, 0, &why) == STATUS_OK,
	    "refused: %s", why.text);
}

static void expect_text(const char *expected)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	module_metrics_print(&pages, out);
	fclose(out);
	ck_assert_str_eq(text, expected);
	free(text);
}

/* A process that has the metrics of these places. */
static struct seat *declare(unsigned int slot, uint64_t declared)
{
	struct seat *seat = pages_take_seat(&pages, slot, 1);

	ck_assert_ptr_nonnull(seat);
	seat->metrics.declared = declared;
	return seat;
}

START_TEST(what_stands_in_the_conf_is_learned)
{
	learn("workers = 1\n# a comment\n#metric counter a x_total help of it\n"
	      "#metric gauge b y \xc3\xa9\n#metric gauge c\n");
	ck_assert_uint_eq(pages.directory->n, 2);
	ck_assert_int_eq(metric_find(pages.directory, "a", "x_total"), 0);
	ck_assert_int_eq(metric_find(pages.directory, "b", "y"), 1);
	ck_assert_int_eq(metric_find(pages.directory, "b", "x_total"), -1);
	ck_assert_str_eq(pages.directory->list[0].help, "help of it");
	/* Of a process that has not got as far, there is nothing to tell. */
	expect_text("");
}
END_TEST

START_TEST(levels_are_numbers_that_prometheus_reads)
{
	static const struct {
		double level;
		const char *text;
	} known[] = {
		{ 0, "0" },
		{ 0.1, "0.1" },
		{ -1.5e300, "-1.5e+300" },
		{ 9007199254740993., "9007199254740992" },
		{ 1 / 3., "0.3333333333333333" },
		{ INFINITY, "+Inf" },
		{ -INFINITY, "-Inf" },
		{ NAN, "NaN" },
	};
	char expected[256];
	json_t *modules, *json;

	learn("#metric gauge a y help\n");
	declare(5, 1)->metrics.list[0].level = known[_i].level;
	snprintf(expected, sizeof(expected),
	    "# HELP runnel_module_a_y help\n# TYPE runnel_module_a_y gauge\n"
	    "runnel_module_a_y{worker=\"5\",module=\"a\"} %s\n",
	    known[_i].text);
	expect_text(expected);
	modules = module_metrics_to_json(&pages, 5);
	json = json_object_get(json_object_get(modules, "a"), "y");
	ck_assert(isfinite(known[_i].level) ? json_is_real(json) : json_is_null(json));
	json_decref(modules);
}
END_TEST

START_TEST(sections_of_like_names_share_a_family)
{
	learn("#metric counter a.b x_total help\n#metric gauge a y other\n"
	      "#metric counter a-b x_total help too\n");
	declare(0, 7)->metrics.list[0].count = 1;
	declare(1, 4)->metrics.list[2].count = UINT64_MAX;
	expect_text("# HELP runnel_module_a_b_x_total help\n"
		    "# TYPE runnel_module_a_b_x_total counter\n"
		    "runnel_module_a_b_x_total{worker=\"0\",module=\"a.b\"} 1\n"
		    "runnel_module_a_b_x_total{worker=\"0\",module=\"a-b\"} 0\n"
		    "runnel_module_a_b_x_total{worker=\"1\",module=\"a-b\"} "
		    "18446744073709551615\n"
		    "# HELP runnel_module_a_y other\n# TYPE runnel_module_a_y gauge\n"
		    "runnel_module_a_y{worker=\"0\",module=\"a\"} 0\n");
}
END_TEST

/* In a reload a slot has two processes. */
START_TEST(processes_of_a_slot_are_added_up)
{
	struct seat *old, *new;

	learn("#metric counter a x_total help\n#metric gauge a y help\n");
	old = declare(0, 3);
	new = declare(0, 3);
	old->metrics.list[0].count = 5;
	old->metrics.list[1].level = 2.5;
	new->metrics.list[0].count = 1;
	new->metrics.list[1].level = 1;
	for (int round = 0; round < 2; round++) {
		struct metric_cells sum;

		pages_sum_metrics(&pages, 0, &sum);
		ck_assert_uint_eq(sum.list[0].count, 6);
		ck_assert(sum.list[1].level == (round == 0 ? 3.5 : 1));
		if (round == 0)
			pages_leave_seat(&pages, 0, old);
	}
	pages_leave_seat(&pages, 0, new);
	expect_text("# HELP runnel_module_a_x_total help\n"
		    "# TYPE runnel_module_a_x_total counter\n"
		    "runnel_module_a_x_total{worker=\"0\",module=\"a\"} 6\n");
}
END_TEST

/* None of a conf that does not fit is learned. */
START_TEST(full_directory_stays_as_it_is)
{
	struct reason why = { "" };
	char text[64];

	for (int i = 0; i < METRICS_MAX - 1; i++) {
		snprintf(text, sizeof(text), "#metric gauge a y%d help\n", i);
		learn(text);
	}
	ck_assert_int_eq(module_metrics_learn(&pages,
			     "#metric gauge a z help\n#metric gauge a z2 help\n", 2, 1, &why),
	    STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "module 'a': metric 'z2': "));
	ck_assert_uint_eq(pages.directory->n, METRICS_MAX - 1);
	learn("#metric gauge a z help\n");
	learn("#metric gauge a z other help\n");
	ck_assert_str_eq(pages.directory->list[METRICS_MAX - 1].help, "other help");
}
END_TEST

/* Not that of one which a process has, or which is of the generation that serves. */
START_TEST(place_that_nobody_needs_is_given_to_another)
{
	struct reason why = { "" };
	struct metric_cells sum;
	struct seat *seat;
	char text[64];

	for (int i = 0; i < METRICS_MAX; i++) {
		snprintf(text, sizeof(text), "#metric counter a x%d_total help\n", i);
		learn(text);
	}
	seat = declare(0, UINT64_MAX);
	seat->metrics.list[2].count = 5;
	ck_assert_int_eq(
	    module_metrics_learn(&pages, "#metric counter a x0_total help\n", 2, 1, &why),
	    STATUS_OK);
	/* The process has them all; then only two of them. */
	ck_assert_int_eq(
	    module_metrics_learn(&pages, "#metric counter b y_total help\n", 3, 2, &why),
	    STATUS_INVALID);
	pages_leave_seat(&pages, 0, seat);
	declare(0, 2);
	/* Those of generation 1, while it serves, are needed. */
	ck_assert_int_eq(
	    module_metrics_learn(&pages, "#metric counter b y_total help\n", 3, 1, &why),
	    STATUS_INVALID);
	ck_assert_int_eq(
	    module_metrics_learn(&pages, "#metric counter b y_total help\n", 3, 2, &why),
	    STATUS_OK);
	ck_assert_int_eq(metric_find(pages.directory, "a", "x0_total"), 0);
	ck_assert_int_eq(metric_find(pages.directory, "a", "x1_total"), 1);
	ck_assert_int_eq(metric_find(pages.directory, "b", "y_total"), 2);
	/* It begins anew. */
	pages_sum_metrics(&pages, 0, &sum);
	ck_assert_uint_eq(sum.declared, UINT64_MAX & ~UINT64_C(4));
	declare(0, 4);
	pages_sum_metrics(&pages, 0, &sum);
	ck_assert_uint_eq(sum.list[2].count, 0);
}
END_TEST

TCase *module_metrics_tests(void)
{
	TCase *tcase = tcase_create("module_metrics");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, what_stands_in_the_conf_is_learned);
	tcase_add_loop_test(tcase, levels_are_numbers_that_prometheus_reads, 0, 8);
	tcase_add_test(tcase, sections_of_like_names_share_a_family);
	tcase_add_test(tcase, processes_of_a_slot_are_added_up);
	tcase_add_test(tcase, full_directory_stays_as_it_is);
	tcase_add_test(tcase, place_that_nobody_needs_is_given_to_another);
	return tcase;
}
