/*
 * base/status: reasons are written whole, or cut.
 */
#include "config.h"

#include <string.h>

#include "base/status.h"

#include "test_base.h"

START_TEST(a_reason_is_formatted)
{
	struct reason why;

	ck_assert_int_eq(reason_set(&why, "%s:%d: what", "runnel.conf", 12), STATUS_INVALID);
	ck_assert_str_eq(why.text, "runnel.conf:12: what");
}
END_TEST

START_TEST(a_long_reason_is_cut)
{
	struct reason why;

	ck_assert_int_eq(reason_set(&why, "%2000d", 1), STATUS_INVALID);
	ck_assert_uint_eq(strlen(why.text), sizeof(why.text) - 1);
}
END_TEST

TCase *status_tests(void)
{
	TCase *tests = tcase_create("status");

	tcase_add_test(tests, a_reason_is_formatted);
	tcase_add_test(tests, a_long_reason_is_cut);
	return tests;
}
