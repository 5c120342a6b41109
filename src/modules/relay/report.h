/*
 * Log lines on trouble with backends. Each of them may have a cause many times a
 * second: one a second is logged, with how many were left out since the last.
 */
#ifndef RELAY_REPORT_H
#define RELAY_REPORT_H

#include <stddef.h>

#include <runnel/module.h>

#include "tally.h"

/* A request fails before it was sent, for that cause. */
void report_unsent(enum cause cause);

/* A connection on which replies come by order is given up. */
void report_late(struct rnl_conn *conn);

/* A connection has ended on which n requests were in flight. */
void report_in_flight(struct rnl_conn *conn, size_t n);

#endif
