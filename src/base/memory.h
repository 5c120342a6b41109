/*
 * Allocation. Two kinds: what may fail and costs one connection, and what a
 * process cannot go on without: at a worker's start, and in the master, which
 * allocates little and only when generations change.
 */
#ifndef RUNNEL_BASE_MEMORY_H
#define RUNNEL_BASE_MEMORY_H

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

/*
 * Zeroed memory for n items of size, or one log line and exit(1). Owned by the
 * caller; free().
 */
void *must_alloc(size_t n, size_t size) MUST_CHECK;

/* A copy of text, or one log line and exit(1). NULL stays NULL. */
char *must_strdup(const char *text) MUST_CHECK;

/* printf into owned memory, likewise. */
char *must_printf(const char *fmt, ...) PRINTF_LIKE(1, 2) MUST_CHECK;

/* A stream into owned memory, which is there after fclose(), likewise. */
FILE *must_stream(char **text, size_t *size) MUST_CHECK;

#endif
