/*
 * Allocation. Two kinds: what may fail and costs one connection, and what a
 * process cannot start without.
 */
#ifndef RUNNEL_BASE_MEMORY_H
#define RUNNEL_BASE_MEMORY_H

#include <stddef.h>

#include "base/status.h"

/*
 * At start only: zeroed memory for n items of size, or one log line and exit(1). Owned by the
 * caller; free().
 */
void *must_alloc(size_t n, size_t size) MUST_CHECK;

/* At start only: a copy of text, or one log line and exit(1). NULL stays NULL. */
char *must_strdup(const char *text) MUST_CHECK;

/* At start only: printf into owned memory. */
char *must_printf(const char *fmt, ...) PRINTF_LIKE(1, 2) MUST_CHECK;

#endif
