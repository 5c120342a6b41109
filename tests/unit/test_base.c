/*
 * base: units, the wheel, the hash table, the log.
 */
#include "config.h"

#include <check.h>
#include <stdlib.h>

#include "base/units.h"

START_TEST(size_is_parsed_with_its_unit)
{
	int64_t bytes;

	ck_assert_int_eq(units_parse_size("64k", &bytes), STATUS_OK);
	ck_assert_int_eq(bytes, 65536);
	ck_assert_int_eq(units_parse_size("64kb", &bytes), STATUS_INVALID);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base");
	TCase *units = tcase_create("units");
	SRunner *runner;
	int n_failed;

	tcase_add_test(units, size_is_parsed_with_its_unit);
	suite_add_tcase(suite, units);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
