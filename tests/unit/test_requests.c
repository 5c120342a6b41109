/*
 * relay's requests in flight: their order, their places and their tags.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "modules/relay/requests.h"

/* At once. */
#define MOST 50

static struct requests *requests;

static void set_up(void)
{
	requests = requests_new(MOST);
	ck_assert_ptr_nonnull(requests);
}

static void tear_down(void)
{
	requests_free(requests);
}

START_TEST(there_are_so_many_places)
{
	struct request *first;

	for (size_t i = 0; i < MOST; i++) {
		ck_assert_uint_eq(requests_count(requests), i);
		ck_assert_ptr_nonnull(requests_add(requests));
	}
	ck_assert_ptr_null(requests_add(requests));
	first = requests_first(requests);
	requests_remove(requests, first);
	ck_assert_ptr_eq(requests_add(requests), first);
	ck_assert_ptr_null(requests_add(requests));
}
END_TEST

/* The place is that of the next request, the tag is not. */
START_TEST(a_tag_is_good_once)
{
	uint64_t tags[1000];

	for (int i = 0; i < 1000; i++) {
		struct request *request = requests_add(requests);

		tags[i] = request->tag;
		ck_assert_uint_ne(tags[i], 0);
		for (int k = 0; k < i; k++)
			ck_assert_ptr_null(requests_find(requests, tags[k]));
		ck_assert_ptr_eq(requests_find(requests, tags[i]), request);
		requests_remove(requests, request);
		ck_assert_ptr_null(requests_find(requests, tags[i]));
	}
}
END_TEST

/* Also those that a server might send by itself. */
START_TEST(what_is_no_tag_is_not_found)
{
	uint64_t state = 1;

	for (size_t i = 0; i < MOST; i++)
		(void)requests_add(requests);
	for (uint64_t small = 0; small < 2 * MOST; small++) {
		ck_assert_ptr_null(requests_find(requests, small));
		ck_assert_ptr_null(requests_find(requests, ~small));
		ck_assert_ptr_null(requests_find(requests, small << 32 | small));
	}
	for (int i = 0; i < 100000; i++) {
		state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
		ck_assert_ptr_null(requests_find(requests, state));
	}
}
END_TEST

/* Against a plain array: what is in flight, the oldest first. */
START_TEST(any_mixture_keeps_the_order)
{
	struct request *model[MOST];
	size_t n = 0;

	srand((unsigned)_i);
	for (int step = 0; step < 20000; step++) {
		if (rand() % 2 == 0) {
			struct request *request = requests_add(requests);

			ck_assert((request == NULL) == (n == MOST));
			if (request != NULL)
				model[n++] = request;
		} else if (n > 0) {
			size_t at = (size_t)rand() % n;

			requests_remove(requests, model[at]);
			n--;
			for (; at < n; at++)
				model[at] = model[at + 1];
		}
		ck_assert_uint_eq(requests_count(requests), n);
		ck_assert_ptr_eq(requests_first(requests), n > 0 ? model[0] : NULL);
		for (size_t i = 0; i < n; i++) {
			ck_assert_ptr_eq(requests_find(requests, model[i]->tag), model[i]);
			ck_assert_ptr_eq(model[i]->next, i + 1 < n ? model[i + 1] : NULL);
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("requests");
	TCase *tcase = tcase_create("requests");
	SRunner *runner;
	int n_failed;

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, there_are_so_many_places);
	tcase_add_test(tcase, a_tag_is_good_once);
	tcase_add_test(tcase, what_is_no_tag_is_not_found);
	tcase_add_loop_test(tcase, any_mixture_keeps_the_order, 0, 4);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
