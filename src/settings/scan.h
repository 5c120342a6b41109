/*
 * The tokens of a conf. What the scanner takes, libconfuse 3.3 (its lexer.l) reads
 * as the same tokens; where it would drop bytes or lose count, the scanner
 * refuses. See outline.h for why.
 */
#ifndef RUNNEL_SETTINGS_SCAN_H
#define RUNNEL_SETTINGS_SCAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,
	TOKEN_STRING,
	TOKEN_MARK, /* one of { } = , */
};

struct token {
	enum token_kind kind;
	unsigned int line;
	const char *text; /* borrowed from the conf's text; a string without its quotes */
	size_t len;
};

/* All borrowed. */
struct scan {
	const char *path; /* what errors call the text */
	char *at;         /* the first byte not yet scanned */
	unsigned int line;
	struct reason *why;
};

void scan_init(struct scan *scan, const char *path, char *text, struct reason *why);

/* Comments on the way are overwritten with blanks. STATUS_INVALID: *why is "path:line: ...". */
enum status scan_next(struct scan *scan, struct token *token) MUST_CHECK;

/* Is it this one of { } = , ? */
bool token_is(const struct token *token, char mark);

/* Is it a word or a string? */
bool token_is_value(const struct token *token);

#endif
