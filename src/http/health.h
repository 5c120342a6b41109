/*
 * Whether a daemon is well, from what it answers to `status`.
 */
#ifndef RUNNEL_HTTP_HEALTH_H
#define RUNNEL_HTTP_HEALTH_H

#include <jansson.h>

#include "base/status.h"

/* STATUS_INVALID: it is not, and *why is a line that says what is wrong. */
enum status health_judge(const json_t *status, struct reason *why) MUST_CHECK;

#endif
