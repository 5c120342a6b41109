/*
 * base: all of its tests, from what the others rest on upwards.
 */
#include "config.h"

#include <stdlib.h>

#include "test_base.h"

int main(void)
{
	Suite *suite = suite_create("base");
	SRunner *runner;
	int n_failed;

	suite_add_tcase(suite, status_tests());
	suite_add_tcase(suite, units_tests());
	suite_add_tcase(suite, list_tests());
	suite_add_tcase(suite, escape_tests());
	suite_add_tcase(suite, hash_tests());
	suite_add_tcase(suite, siphash_tests());
	suite_add_tcase(suite, wheel_tests());
	suite_add_tcase(suite, counters_tests());
	suite_add_tcase(suite, durations_tests());
	suite_add_tcase(suite, streams_tests());
	suite_add_tcase(suite, memory_tests());
	suite_add_tcase(suite, journal_tests());
	suite_add_tcase(suite, log_tests());
	suite_add_tcase(suite, panic_tests());
	suite_add_tcase(suite, parent_tests());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
