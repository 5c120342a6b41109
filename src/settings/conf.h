/*
 * A conf as libconfuse has read it: all values are texts still, in lists of any
 * length. What they mean is decided by the loader.
 */
#ifndef RUNNEL_SETTINGS_CONF_H
#define RUNNEL_SETTINGS_CONF_H

#include <stddef.h>

#include "base/status.h"

struct cfg_t; /* of <confuse.h> */
struct outline;
struct outline_section;

/*
 * Parse a text that outline_read() has let pass; outline is its. Options of module sections are
 * taken as they are. STATUS_INVALID: libconfuse refuses it, *why is "path:line: ...".
 */
enum status conf_parse(const struct outline *outline, const char *text, struct cfg_t **conf,
    struct reason *why) MUST_CHECK;

/* Values of a key that the section sets; 0: it is set to an empty list. */
size_t conf_count(struct cfg_t *conf, const struct outline_section *section, const char *key);

/* The value at index, which is below conf_count(). Borrowed. */
const char *conf_value(
    struct cfg_t *conf, const struct outline_section *section, const char *key, size_t index);

void conf_destroy(struct cfg_t **conf);

#endif
