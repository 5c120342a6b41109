/*
 * One value of the conf: from the text an operator writes, and back. Options of
 * runneld and of modules go through here, so that a value is read, refused and
 * written the same way wherever it stands.
 */
#ifndef RUNNEL_SETTINGS_VALUE_H
#define RUNNEL_SETTINGS_VALUE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/* Listeners and modules are called by it; it goes into file names, logs and counters. */
#define VALUE_MAX_NAME 63

#define VALUE_RULE_SIZE 128

enum value_type {
	/* Kept as a number. */
	VALUE_NUMBER,
	VALUE_SIZE,
	VALUE_DURATION,
	VALUE_BOOL,
	VALUE_CHOICE, /* one of the words; its index */

	/* Kept as a text. */
	VALUE_TEXT,
	VALUE_PATH,    /* absolute: the daemon leaves the directory it was started in */
	VALUE_OBJECT,  /* that, or a file's name; empty: none is given */
	VALUE_ADDRESS, /* of TCP; see address.h */
	VALUE_TARGET,  /* any address */
	VALUE_NAME,
	VALUE_CPUS, /* see cpus.h */
};

struct value_rule {
	enum value_type type;
	int64_t min, max; /* of numbers, sizes and durations; both included */

	/*
	 * Ends with NULL. A choice: all there are. A number: one word that stands for
	 * 0. A path, an address or a set of CPUs: words that may stand for one. A name: names to tell of.
	 */
	const char *const *words;
};

/* Is a value of this type kept as a text? */
bool value_is_text(enum value_type type);

/* STATUS_INVALID: the rule is broken; value_describe() tells what it asks for. */
enum status value_parse_number(
    const struct value_rule *rule, const char *text, int64_t *number) MUST_CHECK;

/* *copy is the caller's, in the one spelling that an address or a path has; free(). */
enum status value_parse_text(
    const struct value_rule *rule, const char *text, char **copy) MUST_CHECK;

/*
 * "a number from 1 to 256, or auto": what stands after "give" in messages, and in lists of
 * options. Returns buf.
 */
const char *value_describe(const struct value_rule *rule, char buf[VALUE_RULE_SIZE]);

/* Write a value as it would stand in a conf. NULL is an empty text. */
void value_print_number(const struct value_rule *rule, int64_t number, FILE *out);
void value_print_text(const char *text, FILE *out);

/* May it be the name of a listener or a module? */
bool value_is_name(const char *text);

#endif
