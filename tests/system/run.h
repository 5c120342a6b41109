/*
 * What the system test programs share: a main that leaves nothing behind.
 *
 * Each test runs in a process of its own (check's fork mode). A test that fails
 * just exits; its daemons' folders stay, and run_suite shows their logs, ends
 * every process that is still there, and removes the folders.
 */
#ifndef TESTS_SYSTEM_RUN_H
#define TESTS_SYSTEM_RUN_H

#include <check.h>
#include <stdbool.h>

#include "system/wait.h"

/*
 * Run the one suite of a program; its main returns what this returns. Each test
 * case has RUN_TIMEOUT_S for each of its tests.
 */
int run_suite(Suite *suite);

#define RUN_TIMEOUT_S 60

/* A test case of tests that run once, added to suite. */
TCase *run_case(Suite *suite, const char *name);

/*
 * Add a test that takes its number of workers from run_workers(_i): it runs with
 * one worker and with four.
 */
#define run_add_workers(tcase, test) tcase_add_loop_test(tcase, test, 0, 2)
unsigned run_workers(int i);

/* Whether there is a sanitizer, whose allocator gives no memory back. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define RUN_IS_SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define RUN_IS_SANITIZED true
#endif
#endif
#ifndef RUN_IS_SANITIZED
#define RUN_IS_SANITIZED false
#endif

/* The folder that holds the folders of this program's daemons. */
const char *run_folder(void);

#endif
