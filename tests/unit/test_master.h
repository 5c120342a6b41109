/*
 * master: the parts that can be tested without a daemon.
 */
#ifndef RUNNEL_TESTS_UNIT_TEST_MASTER_H
#define RUNNEL_TESTS_UNIT_TEST_MASTER_H

#include <check.h>

TCase *request_tests(void);
TCase *control_tests(void);
TCase *control_socket_tests(void);
TCase *inheritance_tests(void);
TCase *metrics_tests(void);
TCase *notify_tests(void);
TCase *outbox_tests(void);
TCase *module_metrics_tests(void);
TCase *pages_tests(void);

#endif
