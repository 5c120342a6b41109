/*
 * conn: one connection's life, from accept to close, in one process.
 */
#include "config.h"

#include <stdlib.h>

#include "test_conn.h"

int main(void)
{
	Suite *suite = suite_create("conn");
	SRunner *runner;
	int n_failed;

	suite_add_tcase(suite, sending_tests());
	suite_add_tcase(suite, overflow_tests());
	suite_add_tcase(suite, shortage_tests());
	suite_add_tcase(suite, closing_tests());
	suite_add_tcase(suite, holding_tests());
	suite_add_tcase(suite, hooks_tests());
	suite_add_tcase(suite, receiving_tests());
	suite_add_tcase(suite, framings_tests());
	suite_add_tcase(suite, timeouts_tests());
	suite_add_tcase(suite, heartbeat_tests());
	suite_add_tcase(suite, names_tests());
	suite_add_tcase(suite, extras_tests());
	suite_add_tcase(suite, tally_tests());
	suite_add_tcase(suite, timers_tests());
	suite_add_tcase(suite, times_tests());
	suite_add_tcase(suite, accepting_tests());
	suite_add_tcase(suite, connecting_tests());
	suite_add_tcase(suite, mixture_tests());
	suite_add_tcase(suite, moving_tests());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
