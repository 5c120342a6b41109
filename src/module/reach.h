/*
 * Whether what is said of a listener is within reach of its framing: heartbeats that
 * cannot be sent are refused, routes that no message can take are warned of.
 */
#ifndef RUNNEL_MODULE_REACH_H
#define RUNNEL_MODULE_REACH_H

#include "base/log.h"
#include "base/status.h"
#include "conn/listener.h"
#include "module/modules.h"

/* STATUS_INVALID: heartbeats are in use and cannot be sent; *why names the place. */
enum status reach_check(const struct listener *listener, struct reason *why) MUST_CHECK;

/* A line in the log for each module that has such routes. */
void reach_warn(const struct listener *listener, const struct modules *modules);

#endif
