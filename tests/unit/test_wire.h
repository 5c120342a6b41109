/*
 * The tests of wire, one file a framing, and one for what holds for all of them. Each
 * function makes its case for the suite.
 */
#ifndef RUNNEL_TESTS_UNIT_TEST_WIRE_H
#define RUNNEL_TESTS_UNIT_TEST_WIRE_H

#include <check.h>

#define N_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

TCase *tlv_ltv_tests(void);
TCase *htlv_crc_tests(void);
TCase *length_field_tests(void);
TCase *line_tests(void);
TCase *every_framing_tests(void);

#endif
