/*
 * The other side of the control socket: one request to a daemon, and its answer.
 * Process: the command that an operator runs.
 */
#ifndef RUNNEL_CALL_CALL_H
#define RUNNEL_CALL_CALL_H

#include <jansson.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

enum call_result {
	CALL_ANSWERED, /* with success */
	CALL_NOBODY,   /* there is no socket, or nobody listens on it */
	CALL_ENDED,    /* the connection ended without an answer */
	CALL_FAILED,   /* with failure; or there was no answer in time, or another error */
};

struct call {
	int fd;
	pid_t pid; /* of the daemon; 0: it cannot be seen from here */
	uint64_t begin_ms;
};

/*
 * CALL_ANSWERED: somebody listens. Of all others *why says what it is. A daemon that does not
 * accept is waited for until then, by the monotonic clock, but no longer than 10 s.
 */
enum call_result call_open(
    struct call *call, const char *path, uint64_t deadline_ms, struct reason *why) MUST_CHECK;

/*
 * Ask for a verb and wait for the answer, up to deadline_ms of clock_ms(). *answer is the
 * caller's after CALL_ANSWERED, and NULL otherwise.
 */
enum call_result call_ask(struct call *call, const char *verb, uint64_t deadline_ms,
    json_t **answer, struct reason *why) MUST_CHECK;

/* The same with a whole request, an object with its verb and what else it takes. */
enum call_result call_ask_object(struct call *call, const json_t *request, uint64_t deadline_ms,
    json_t **answer, struct reason *why) MUST_CHECK;

void call_close(struct call *call);

#endif
