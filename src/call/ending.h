/*
 * The end of a daemon that was asked for it. Process: the command that an operator
 * runs.
 */
#ifndef RUNNEL_CALL_ENDING_H
#define RUNNEL_CALL_ENDING_H

#include <stdint.h>

#include "base/status.h"

#include "call/call.h"

/*
 * Ask for a verb that ends the daemon, and wait for the answer, up to deadline_ms of
 * clock_ms(). The answer is the last thing that the daemon does; its process is waited for, too,
 * if it can be seen from here. One that has ended without an answer has ended as well:
 * CALL_ANSWERED.
 */
enum call_result ending_ask(
    struct call *call, const char *verb, uint64_t deadline_ms, struct reason *why) MUST_CHECK;

#endif
