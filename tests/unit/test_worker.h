/*
 * worker's tests, a file for each subject.
 */
#ifndef RUNNEL_TESTS_UNIT_TEST_WORKER_H
#define RUNNEL_TESTS_UNIT_TEST_WORKER_H

#include <check.h>

TCase *handover_tests(void);
TCase *receiver_tests(void);

#endif
