/*
 * bench: all of its tests that need no server.
 */
#include "config.h"

#include <stdlib.h>

#include "test_bench.h"

int main(void)
{
	Suite *suite = suite_create("bench");
	SRunner *runner;
	int n_failed;

	suite_add_tcase(suite, histogram_tests());
	suite_add_tcase(suite, protocol_tests());
	suite_add_tcase(suite, options_tests());
	suite_add_tcase(suite, address_tests());
	suite_add_tcase(suite, cpu_tests());
	suite_add_tcase(suite, json_tests());
	suite_add_tcase(suite, compare_tests());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
