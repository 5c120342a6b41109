/*
 * Answers on the control socket: objects of JSON, a line each. Process: the master.
 */
#ifndef RUNNEL_MASTER_ANSWER_H
#define RUNNEL_MASTER_ANSWER_H

#include <jansson.h>
#include <stddef.h>

/* A text that may have bytes that are not UTF-8, which JSON cannot have: with '?' for them. */
json_t *answer_text(const char *text);

/* With the members of an object, which is taken over; NULL: none. NULL: out of memory. */
json_t *answer_success(json_t *object);

json_t *answer_failure(const char *text);

/*
 * As a line, with its newline, of *len bytes; free(). The answer is taken over.
 * NULL: out of memory, and *len is as it was.
 */
char *answer_to_line(json_t *answer, size_t *len);

#endif
