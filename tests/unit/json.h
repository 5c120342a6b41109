/*
 * Is this JSON? Strict (RFC 8259), for tests of what writes JSON.
 */
#ifndef RUNNEL_TESTS_UNIT_JSON_H
#define RUNNEL_TESTS_UNIT_JSON_H

#include <stdbool.h>
#include <stddef.h>

/* One flat object of strings and whole numbers, in valid UTF-8, and nothing after it. */
bool json_is_flat_object(const char *text, size_t len);

#endif
