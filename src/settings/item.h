/*
 * One option where a conf may set it, with its default: an item is asked for the
 * value in force, and refuses what the option's rule does not allow.
 */
#ifndef RUNNEL_SETTINGS_ITEM_H
#define RUNNEL_SETTINGS_ITEM_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#include "settings/value.h"

struct cfg_t; /* of <confuse.h> */
struct outline;
struct outline_section;

/* All borrowed. */
struct item {
	const struct outline *outline;
	struct cfg_t *conf; /* parsed from what the outline is of */
	const struct outline_section *section;
	const char *key;
	const char *standard; /* the default; NULL: the option must be given */
	struct value_rule rule;
};

/* STATUS_INVALID: see outline_refuse(). */
enum status item_number(
    const struct item *item, int64_t *number, struct reason *why) MUST_CHECK;

/* *text is the caller's; free(). An empty path is NULL: there is none. */
enum status item_text(const struct item *item, char **text, struct reason *why) MUST_CHECK;

/* *list and its *n texts are the caller's, also when one of them is refused. */
enum status item_list(
    const struct item *item, char ***list, size_t *n, struct reason *why) MUST_CHECK;

#endif
