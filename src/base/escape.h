/*
 * Text of others that terminals, logs and JSON get: what they would obey is escaped.
 */
#ifndef RUNNEL_BASE_ESCAPE_H
#define RUNNEL_BASE_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* The bytes of the UTF-8 character (RFC 3629, 4) that text begins with; 0: it is none. */
size_t utf8_length(const char *text);

bool utf8_is_valid(const char *text);

/*
 * What stands for the character at text, of len bytes (0: a byte that is no UTF-8): NULL for
 * itself, or an escape, made in out. Escaped is what JSON wants escaped, control characters, with
 * those of C1 (U+0080 to U+009F, which terminals obey), and what is not UTF-8.
 */
const char *escape_character(const char *text, size_t len, bool is_json, char out[8]);

/* Print it on one line; of a text of lines, newlines and tabs are kept. */
void escape_print(const char *text, FILE *out);
void escape_print_lines(const char *text, FILE *out);

#endif
