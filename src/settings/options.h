/*
 * The table of options: the one place where an option of runnel.conf is
 * declared. Parsing, checking, defaults and the dump are driven from it, and
 * tests/lint/options.sh holds runnel.conf(5) and the sample against it.
 *
 * A new option is one row here, one field of settings.h, one item in the manual
 * and one in the sample.
 */
#ifndef RUNNEL_SETTINGS_OPTIONS_H
#define RUNNEL_SETTINGS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "settings/value.h"

/*
 * Where an option may stand; OPTION_GLOBAL is outside of all sections. The last ones stand within
 * a listen or connect section, and are called by the framing that they describe.
 */
enum option_section {
	OPTION_GLOBAL,
	OPTION_MODULE,
	OPTION_LISTEN,
	OPTION_CONNECT,
	OPTION_HTLV_CRC,
	OPTION_LENGTH_FIELD,
	OPTION_LINE,
};
#define OPTION_N_SECTIONS 7
#define OPTION_FIRST_NESTED OPTION_HTLV_CRC

#define OPTION_MAX_LIST 64

struct option {
	const char *name;
	const char *standard; /* the default, as it would stand in the conf; NULL: the option
				 must be given */
	const char *text;     /* one line for people */
	struct value_rule rule;
	enum option_section section;
	/*
	 * Of a listen section's: a connect section has it too, in the struct that its own
	 * begins with.
	 */
	bool is_shared;
	bool is_list; /* one value or more, of texts */

	/*
	 * Where the value goes in the section's struct: a uint32_t, uint64_t or enum,
	 * a char *, or a char ** with its count.
	 */
	size_t offset, size, count_offset;
};

extern const struct option options[];
extern const size_t n_options;

/* May it stand there? */
bool option_is_in(const struct option *option, enum option_section section);

/* NULL: the section has no such option. */
const struct option *option_find(enum option_section section, const char *name);

/* "", "module", "listen", "connect", "length-field". */
const char *option_section_name(enum option_section section);

/* Does a section of this kind stand within a listen or connect section? */
static inline bool option_section_is_nested(enum option_section section)
{
	return section >= OPTION_FIRST_NESTED;
}

/* May such sections stand within one of this kind? */
static inline bool option_section_has_nested(enum option_section section)
{
	return section == OPTION_LISTEN || section == OPTION_CONNECT;
}

/* What the struct of the option's section has for it. Texts and lists are borrowed. */
int64_t option_number(const struct option *option, const void *base);
const char *option_text(const struct option *option, const void *base);
char *const *option_list(const struct option *option, const void *base, size_t *n);

/* Put it there; texts and lists are the struct's then. */
void option_set_number(const struct option *option, void *base, int64_t number);
void option_set_text(const struct option *option, void *base, char *text);
void option_set_list(const struct option *option, void *base, char **list, size_t n);

#endif
