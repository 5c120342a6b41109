/*
 * The tests of bench, one file a noun. Each function makes its case for the suite.
 */
#ifndef RUNNEL_TESTS_UNIT_TEST_BENCH_H
#define RUNNEL_TESTS_UNIT_TEST_BENCH_H

#include <check.h>

TCase *histogram_tests(void);
TCase *protocol_tests(void);
TCase *options_tests(void);
TCase *address_tests(void);
TCase *cpu_tests(void);
TCase *json_tests(void);
TCase *compare_tests(void);

#endif
