/*
 * A request to the daemon and its answer, with what is said when there is none.
 */
#ifndef RUNNEL_CTL_EXCHANGE_H
#define RUNNEL_CTL_EXCHANGE_H

#include <jansson.h>
#include <stdio.h>

#include "base/status.h"
#include "call/call.h"

#include "ctl/options.h"

/* One exchange without a word. *answer is the caller's after CALL_ANSWERED. */
enum call_result exchange_try(const struct options *options, const char *socket,
    const json_t *request, json_t **answer, struct reason *why) MUST_CHECK;

/* The same, with a word and the exit status. *answer is the caller's after COMMAND_DONE. */
int exchange_ask(const struct options *options, const char *socket, const json_t *request,
    json_t **answer) MUST_CHECK;

/* Ask for the end that the command is, and wait for it; likewise. */
int exchange_end(const struct options *options, const char *socket);

/* Say why there is no answer; returns the exit status. */
int exchange_fail(const struct options *options, const struct reason *why);
int exchange_explain(
    const struct options *options, enum call_result result, const struct reason *why);

/* JSON on a line. */
void exchange_print(const json_t *answer, FILE *out);

/* The exit status: what was printed may not have got out. */
int exchange_flush(FILE *out);

#endif
