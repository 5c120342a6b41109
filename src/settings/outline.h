/*
 * The outline of a conf: its sections and the keys in them, each with its line.
 *
 * libconfuse reads the conf, but it lets pass, or misreads, much that an operator
 * should hear of: it takes the end of the file for a missing '}' or '*' '/', drops
 * bytes it does not know, lets the last of two equal keys win, cuts a string at
 * "\0", follows "listen=main|address" as a path, refuses a comment within a list,
 * and counts each comment line three times. It also has to know the options of a
 * section before it reads it, and those of a module are known only when its path
 * is. So the text is walked once before: what is not in a strict subset of
 * libconfuse's grammar is refused, and comments are blanked.
 *
 *     conf    = { option | section }
 *     section = ( "listen" | "connect" | "module" ) name "{" { option | nested } "}"
 *     nested  = ( "htlv-crc" | "length-field" | "line" ) "{" { option } "}", not in module
 *     option  = key "=" ( value | "{" [ value { "," value } [ "," ] ] "}" )
 *     value   = word | "string" | 'string'
 */
#ifndef RUNNEL_SETTINGS_OUTLINE_H
#define RUNNEL_SETTINGS_OUTLINE_H

#include <stddef.h>

#include "base/status.h"

#include "settings/options.h"

#define OUTLINE_MAX_MODULES 64
#define OUTLINE_MAX_KEYS 512 /* in one section, and in all module sections together */

struct outline_key {
	char *name;
	unsigned int line;
};

struct outline_section {
	enum option_section kind;
	enum option_section around; /* of a nested one: the kind of the section around it */
	char *
	    name; /* empty for the global one; a nested one has that of the section around it */
	unsigned int line;
	struct outline_key *keys; /* in the conf's order, no name twice */
	size_t n_keys;
};

struct outline {
	const char *path; /* borrowed: what errors call the conf */
	struct outline_section
	    *sections; /* the first is the global one; no kind and name twice */
	size_t n_sections;
};

/*
 * Comments of text are overwritten with blanks. STATUS_INVALID: *why is "path:line: ...". Of a
 * text in memory, path is only what it is called.
 */
enum status outline_read(
    const char *path, char *text, struct outline **outline, struct reason *why) MUST_CHECK;

/* NULL: the section does not set it. Borrowed. */
const struct outline_key *outline_key(const struct outline_section *section, const char *name);

/* NULL: there is none. Borrowed. */
const struct outline_section *outline_section(
    const struct outline *outline, enum option_section kind, const char *name);

/* The section of that nested kind within a section. NULL: there is none. Borrowed. */
const struct outline_section *outline_nested(const struct outline *outline,
    const struct outline_section *around, enum option_section kind);

/*
 * Write "path:line: listen 'main': key: ..."; the line is the key's, or the section's when it
 * does not set the key. key NULL: about the section. Returns STATUS_INVALID.
 */
enum status outline_refuse(const struct outline *outline, const struct outline_section *section,
    const char *key, struct reason *why, const char *fmt, ...) PRINTF_LIKE(5, 6);

void outline_destroy(struct outline **outline);

#endif
