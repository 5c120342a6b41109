/*
 * The tests of base, one file a noun. Each function makes its case for the suite.
 */
#ifndef RUNNEL_TESTS_UNIT_TEST_BASE_H
#define RUNNEL_TESTS_UNIT_TEST_BASE_H

#include <check.h>

TCase *status_tests(void);
TCase *units_tests(void);
TCase *list_tests(void);
TCase *escape_tests(void);
TCase *hash_tests(void);
TCase *siphash_tests(void);
TCase *wheel_tests(void);
TCase *counters_tests(void);
TCase *durations_tests(void);
TCase *streams_tests(void);
TCase *memory_tests(void);
TCase *journal_tests(void);
TCase *log_tests(void);
TCase *panic_tests(void);
TCase *parent_tests(void);

#endif
