/*
 * wire: all of its tests.
 */
#include "config.h"

#include <stdlib.h>

#include "test_wire.h"

int main(void)
{
	Suite *suite = suite_create("wire");
	SRunner *runner;
	int n_failed;

	suite_add_tcase(suite, tlv_ltv_tests());
	suite_add_tcase(suite, htlv_crc_tests());
	suite_add_tcase(suite, length_field_tests());
	suite_add_tcase(suite, line_tests());
	suite_add_tcase(suite, every_framing_tests());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
