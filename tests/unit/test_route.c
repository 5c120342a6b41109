/*
 * route: what is refused, chains, and random routes against a plain search.
 */
#include "config.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "route/router.h"

static enum rnl_verdict handler(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)msg;
	(void)arg;
	return RNL_NEXT;
}

static struct router *new_router(void)
{
	struct router *router = router_new();

	ck_assert_ptr_nonnull(router);
	return router;
}

static enum status try_add(struct router *router, const char *module, uint32_t first,
    uint32_t last, enum rnl_stage stage, struct reason *why)
{
	const struct rnl_route route = {
		.first = first, .last = last, .handler = handler, .stage = stage
	};

	return router_add(router, module, 0, &route, why);
}

static void add(struct router *router, const char *module, uint32_t first, uint32_t last,
    enum rnl_stage stage)
{
	struct reason why;

	ck_assert_int_eq(try_add(router, module, first, last, stage, &why), STATUS_OK);
}

static void seal(struct router *router)
{
	struct reason why;

	ck_assert_int_eq(router_seal(router, &why), STATUS_OK);
}

/* "audit > game": the modules of an id's chain; "": none. Valid until the next call. */
static const char *chain_of(const struct router *router, uint32_t id)
{
	static char text[256];
	const struct step *step = router_find(router, id);

	text[0] = '\0';
	for (; step != NULL && step->handler != NULL; step++) {
		if (text[0] != '\0')
			strcat(text, " > ");
		strcat(text, step->module);
	}
	return text;
}

START_TEST(an_empty_router_finds_nothing)
{
	struct router *router = new_router();

	seal(router);
	ck_assert_ptr_null(router_find(router, 0));
	ck_assert_ptr_null(router_find(router, UINT32_MAX));
	router_destroy(&router);
	ck_assert_ptr_null(router);
	router_destroy(&router);
}
END_TEST

START_TEST(single_ids_are_found)
{
	static const uint32_t ids[] = { 0, 1, 1001, 2001, 3001, 4001, UINT32_MAX };
	struct router *router = new_router();

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		add(router, "m", ids[i], ids[i], RNL_HANDLE);
	seal(router);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		ck_assert_str_eq(chain_of(router, ids[i]), "m");
	ck_assert_str_eq(chain_of(router, 2), "");
	ck_assert_str_eq(chain_of(router, 1000), "");
	ck_assert_str_eq(chain_of(router, UINT32_MAX - 1), "");
	router_destroy(&router);
}
END_TEST

START_TEST(every_id_can_be_one_range)
{
	struct router *router = new_router();

	add(router, "echo", 0, UINT32_MAX, RNL_HANDLE);
	seal(router);
	ck_assert_str_eq(chain_of(router, 0), "echo");
	ck_assert_str_eq(chain_of(router, 99999), "echo");
	ck_assert_str_eq(chain_of(router, UINT32_MAX), "echo");
	router_destroy(&router);
}
END_TEST

START_TEST(ranges_end_where_they_say)
{
	struct router *router = new_router();

	add(router, "high", 0x80000000, UINT32_MAX, RNL_HANDLE);
	add(router, "low", 10, 20, RNL_HANDLE);
	add(router, "next", 21, 21, RNL_HANDLE);
	seal(router);
	ck_assert_str_eq(chain_of(router, 9), "");
	ck_assert_str_eq(chain_of(router, 10), "low");
	ck_assert_str_eq(chain_of(router, 20), "low");
	ck_assert_str_eq(chain_of(router, 21), "next");
	ck_assert_str_eq(chain_of(router, 22), "");
	ck_assert_str_eq(chain_of(router, 0x7fffffff), "");
	ck_assert_str_eq(chain_of(router, 0x80000000), "high");
	router_destroy(&router);
}
END_TEST

START_TEST(thousands_of_single_ids_are_found)
{
	const uint32_t n = 5000, stride = UINT32_C(1) << 16;
	struct router *router = new_router();

	for (uint32_t i = 0; i < n; i++)
		add(router, "row", i, i, RNL_HANDLE);
	for (uint32_t i = 1; i < n; i++)
		add(router, "stride", i * stride, i * stride, RNL_HANDLE);
	seal(router);
	for (uint32_t i = 1; i < n; i++) {
		ck_assert_str_eq(chain_of(router, i), "row");
		ck_assert_str_eq(chain_of(router, i * stride), "stride");
		ck_assert_str_eq(chain_of(router, i * stride + n), "");
	}
	router_destroy(&router);
}
END_TEST

START_TEST(a_chain_is_before_handle_after)
{
	struct router *router = new_router();

	add(router, "log", 0, UINT32_MAX, RNL_AFTER);
	add(router, "game", 2000, 2999, RNL_HANDLE);
	add(router, "audit", 2500, 2600, RNL_BEFORE);
	add(router, "auth", 0, UINT32_MAX, RNL_BEFORE);
	add(router, "trace", 2600, 2600, RNL_AFTER);
	seal(router);
	ck_assert_str_eq(chain_of(router, 2000), "auth > game > log");
	ck_assert_str_eq(chain_of(router, 2499), "auth > game > log");
	ck_assert_str_eq(chain_of(router, 2500), "audit > auth > game > log");
	ck_assert_str_eq(chain_of(router, 2600), "audit > auth > game > log > trace");
	ck_assert_str_eq(chain_of(router, 2601), "auth > game > log");
	ck_assert_str_eq(chain_of(router, 2999), "auth > game > log");
	router_destroy(&router);
}
END_TEST

START_TEST(around_nothing_is_no_chain)
{
	struct router *router = new_router();

	add(router, "auth", 0, UINT32_MAX, RNL_BEFORE);
	add(router, "log", 5, 5, RNL_AFTER);
	add(router, "game", 7, 7, RNL_HANDLE);
	seal(router);
	ck_assert_ptr_null(router_find(router, 5));
	ck_assert_ptr_null(router_find(router, UINT32_MAX));
	ck_assert_str_eq(chain_of(router, 7), "auth > game");
	router_destroy(&router);
}
END_TEST

START_TEST(a_default_takes_what_nobody_handles)
{
	struct router *router = new_router();

	add(router, "relay", 0, UINT32_MAX, RNL_DEFAULT);
	add(router, "game", 0, 0, RNL_HANDLE);
	add(router, "game", 10, 20, RNL_HANDLE);
	add(router, "shop", 21, 21, RNL_HANDLE);
	add(router, "last", UINT32_MAX, UINT32_MAX, RNL_HANDLE);
	add(router, "auth", 15, 25, RNL_BEFORE);
	seal(router);
	ck_assert_str_eq(chain_of(router, 0), "game");
	ck_assert_str_eq(chain_of(router, 1), "relay");
	ck_assert_str_eq(chain_of(router, 9), "relay");
	ck_assert_str_eq(chain_of(router, 10), "game");
	ck_assert_str_eq(chain_of(router, 20), "auth > game");
	ck_assert_str_eq(chain_of(router, 21), "auth > shop");
	ck_assert_str_eq(chain_of(router, 25), "auth > relay");
	ck_assert_str_eq(chain_of(router, 26), "relay");
	ck_assert_str_eq(chain_of(router, UINT32_MAX - 1), "relay");
	ck_assert_str_eq(chain_of(router, UINT32_MAX), "last");
	router_destroy(&router);
}
END_TEST

START_TEST(a_default_may_be_for_a_range)
{
	struct router *router = new_router();

	add(router, "low", 0, 99, RNL_DEFAULT);
	add(router, "high", 200, 299, RNL_DEFAULT);
	add(router, "game", 50, 249, RNL_HANDLE);
	add(router, "all", 1000, 1999, RNL_HANDLE);
	add(router, "never", 1000, 1999, RNL_DEFAULT);
	seal(router);
	ck_assert_str_eq(chain_of(router, 49), "low");
	ck_assert_str_eq(chain_of(router, 50), "game");
	ck_assert_str_eq(chain_of(router, 249), "game");
	ck_assert_str_eq(chain_of(router, 250), "high");
	ck_assert_str_eq(chain_of(router, 299), "high");
	ck_assert_str_eq(chain_of(router, 300), "");
	ck_assert_str_eq(chain_of(router, 1999), "all");
	router_destroy(&router);
}
END_TEST

START_TEST(two_defaults_may_not_overlap)
{
	struct router *router = new_router();
	struct reason why;

	add(router, "a", 0, UINT32_MAX, RNL_DEFAULT);
	add(router, "b", 10, 20, RNL_DEFAULT);
	ck_assert_int_eq(router_seal(router, &why), STATUS_INVALID);
	ck_assert_str_eq(why.text,
	    "message ids 10-20: both module 'a' and module 'b' handle them by default");
	router_destroy(&router);
}
END_TEST

START_TEST(a_step_carries_its_argument)
{
	int mine;
	const struct rnl_route route = {
		.first = 1, .last = 1, .handler = handler, .arg = &mine
	};
	struct router *router = new_router();
	const struct step *step;
	struct reason why;

	ck_assert_int_eq(router_add(router, "m", 0, &route, &why), STATUS_OK);
	seal(router);
	step = router_find(router, 1);
	ck_assert_ptr_nonnull(step);
	ck_assert_ptr_eq(step->arg, &mine);
	ck_assert(step->handler == handler);
	ck_assert(step[1].handler == NULL);
	router_destroy(&router);
}
END_TEST

START_TEST(bad_routes_are_refused)
{
	const struct rnl_route no_handler = { .first = 5, .last = 5 };
	struct router *router = new_router();
	struct reason why;

	ck_assert_int_eq(try_add(router, "m", 6, 5, RNL_HANDLE, &why), STATUS_INVALID);
	ck_assert_str_eq(
	    why.text, "module 'm': route 6-5: the first id is greater than the last");
	ck_assert_int_eq(router_add(router, "m", 0, &no_handler, &why), STATUS_INVALID);
	ck_assert_str_eq(why.text, "module 'm': route 5: there is no handler");
	ck_assert_int_eq(try_add(router, "m", 5, 9, (enum rnl_stage)4, &why), STATUS_INVALID);
	ck_assert_str_eq(why.text, "module 'm': route 5-9: there is no stage 4");
	router_destroy(&router);
}
END_TEST

static const struct {
	struct {
		const char *module;
		uint32_t first, last;
	} one, other;
	const char *text;
} overlaps[] = {
	{ { "a", 1001, 1001 }, { "b", 1001, 1001 },
	    "message id 1001: both module 'a' and module 'b' handle it" },
	{ { "z", 1001, 1001 }, { "b", 1000, 1999 },
	    "message id 1001: both module 'z' and module 'b' handle it" },
	{ { "a", 0, UINT32_MAX }, { "b", 10, 20 },
	    "message ids 10-20: both module 'a' and module 'b' handle them" },
	{ { "a", 15, 30 }, { "b", 10, 20 },
	    "message ids 15-20: both module 'a' and module 'b' handle them" },
	{ { "a", 0, UINT32_MAX }, { "b", UINT32_MAX, UINT32_MAX },
	    "message id 4294967295: both module 'a' and module 'b' handle it" },
	{ { "a", 7, 7 }, { "a", 7, 7 }, "message id 7: module 'a' handles it twice" },
	{ { "a", 7, 9 }, { "a", 8, 20 }, "message ids 8-9: module 'a' handles them twice" },
};

START_TEST(an_overlap_names_ids_and_modules)
{
	struct router *router = new_router();
	struct reason why;

	add(router, overlaps[_i].one.module, overlaps[_i].one.first, overlaps[_i].one.last,
	    RNL_HANDLE);
	add(router, overlaps[_i].other.module, overlaps[_i].other.first,
	    overlaps[_i].other.last, RNL_HANDLE);
	ck_assert_int_eq(router_seal(router, &why), STATUS_INVALID);
	ck_assert_str_eq(why.text, overlaps[_i].text);
	router_destroy(&router);
}
END_TEST

START_TEST(the_print_is_one_range_a_line)
{
	struct router *router = new_router();
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(out);
	add(router, "audit", 2000, 2499, RNL_BEFORE);
	add(router, "game", 2000, 2999, RNL_HANDLE);
	add(router, "log", 2000, 2499, RNL_AFTER);
	add(router, "c10k", 1001, 1001, RNL_HANDLE);
	add(router, "relay", 2500, UINT32_MAX, RNL_DEFAULT);
	seal(router);
	router_print(router, "# ", out);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_str_eq(text, "# 1001 c10k\n"
			       "# 2000-2499 audit (before) > game > log (after)\n"
			       "# 2500-2999 game\n"
			       "# 3000-4294967295 relay (default)\n");
	free(text);
	router_destroy(&router);
}
END_TEST

/*
 * The model: routes in the order they were added, searched from end to end. Ids come from a
 * narrow span at either end of all ids, so that ranges meet, nest and touch.
 */
#define MAX_ROUTES 40
#define SPAN 64

struct model {
	struct rnl_route routes[MAX_ROUTES];
	size_t n;
};

static uint32_t random_id(void)
{
	uint32_t id = (uint32_t)rand() % SPAN;

	return rand() % 2 == 0 ? id : UINT32_MAX - id;
}

static struct rnl_route random_route(struct model *model)
{
	struct rnl_route route = { .handler = handler, .stage = (enum rnl_stage)(rand() % 4) };

	/* As in life, many handlers are for one id. */
	route.first = random_id();
	route.last = rand() % 2 == 0 ? route.first : random_id();
	if (route.first > route.last) {
		uint32_t first = route.last;

		route.last = route.first;
		route.first = first;
	}
	route.arg = &model->routes[model->n];
	return route;
}

static bool model_takes(const struct model *model, const struct rnl_route *route)
{
	if (route->stage != RNL_HANDLE && route->stage != RNL_DEFAULT)
		return true;
	for (size_t i = 0; i < model->n; i++) {
		if (model->routes[i].stage == route->stage &&
		    model->routes[i].first <= route->last &&
		    route->first <= model->routes[i].last)
			return false;
	}
	return true;
}

static const struct step *check_stage(
    const struct model *model, enum rnl_stage stage, uint32_t id, const struct step *step)
{
	for (size_t i = 0; i < model->n; i++) {
		const struct rnl_route *route = &model->routes[i];

		if (route->stage == stage && route->first <= id && id <= route->last) {
			ck_assert_ptr_eq(step->arg, route);
			step++;
		}
	}
	return step;
}

static bool has_stage(const struct model *model, enum rnl_stage stage, uint32_t id)
{
	for (size_t i = 0; i < model->n; i++) {
		const struct rnl_route *route = &model->routes[i];

		if (route->stage == stage && route->first <= id && id <= route->last)
			return true;
	}
	return false;
}

static void check_id(const struct model *model, const struct router *router, uint32_t id)
{
	const struct step *step = router_find(router, id);
	enum rnl_stage handle = has_stage(model, RNL_HANDLE, id) ? RNL_HANDLE : RNL_DEFAULT;

	ck_assert_int_eq(step != NULL, has_stage(model, handle, id));
	if (step == NULL)
		return;
	step = check_stage(model, RNL_BEFORE, id, step);
	step = check_stage(model, handle, id, step);
	step = check_stage(model, RNL_AFTER, id, step);
	ck_assert(step->handler == NULL);
}

START_TEST(random_routes_agree_with_a_plain_search)
{
	struct router *router = new_router();
	struct model model = { .n = 0 };
	struct reason why;
	size_t n_tries;

	srand((unsigned int)_i);
	n_tries = (size_t)rand() % MAX_ROUTES;
	for (size_t i = 0; i < n_tries; i++) {
		struct rnl_route route = random_route(&model);

		if (!model_takes(&model, &route))
			continue;
		model.routes[model.n++] = route;
		ck_assert_int_eq(router_add(router, "m", 0, &route, &why), STATUS_OK);
	}
	seal(router);
	for (uint32_t i = 0; i <= SPAN; i++) {
		check_id(&model, router, i);
		check_id(&model, router, UINT32_MAX - i);
	}
	for (size_t i = 0; i < 100; i++)
		check_id(&model, router, (uint32_t)rand() * 2u);
	router_destroy(&router);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("route");
	TCase *router = tcase_create("router");
	SRunner *runner;
	int n_failed;

	tcase_add_test(router, an_empty_router_finds_nothing);
	tcase_add_test(router, single_ids_are_found);
	tcase_add_test(router, every_id_can_be_one_range);
	tcase_add_test(router, ranges_end_where_they_say);
	tcase_add_test(router, thousands_of_single_ids_are_found);
	tcase_add_test(router, a_chain_is_before_handle_after);
	tcase_add_test(router, around_nothing_is_no_chain);
	tcase_add_test(router, a_default_takes_what_nobody_handles);
	tcase_add_test(router, a_default_may_be_for_a_range);
	tcase_add_test(router, two_defaults_may_not_overlap);
	tcase_add_test(router, a_step_carries_its_argument);
	tcase_add_test(router, bad_routes_are_refused);
	tcase_add_loop_test(router, an_overlap_names_ids_and_modules, 0,
	    sizeof(overlaps) / sizeof(overlaps[0]));
	tcase_add_test(router, the_print_is_one_range_a_line);
	tcase_add_loop_test(router, random_routes_agree_with_a_plain_search, 0, 500);
	suite_add_tcase(suite, router);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
