/*
 * The tests of conn, one file for each part of what a connection promises. Each
 * function makes its case for the suite.
 */
#ifndef RUNNEL_TESTS_UNIT_TEST_CONN_H
#define RUNNEL_TESTS_UNIT_TEST_CONN_H

#include <check.h>

TCase *sending_tests(void);
TCase *overflow_tests(void);
TCase *shortage_tests(void);
TCase *closing_tests(void);
TCase *holding_tests(void);
TCase *hooks_tests(void);
TCase *receiving_tests(void);
TCase *framings_tests(void);
TCase *timeouts_tests(void);
TCase *heartbeat_tests(void);
TCase *names_tests(void);
TCase *extras_tests(void);
TCase *tally_tests(void);
TCase *timers_tests(void);
TCase *times_tests(void);
TCase *accepting_tests(void);
TCase *connecting_tests(void);
TCase *mixture_tests(void);
TCase *moving_tests(void);

#endif
