/*
 * The options of a module, as its RNL_MODULE declares them, by the same rules as
 * runneld's own.
 */
#ifndef RUNNEL_SETTINGS_MODULE_OPTIONS_H
#define RUNNEL_SETTINGS_MODULE_OPTIONS_H

#include <stddef.h>

#include "base/status.h"

#include "settings/value.h"

struct rnl_option;

/*
 * Refuse a table that no conf could be read by: odd or equal names, a name that is runneld's own,
 * an unknown type, a default that breaks its rule. It is a bug of the module.
 */
enum status module_options_check(
    const struct rnl_option *list, size_t n, struct reason *why) MUST_CHECK;

/* Of a checked table. */
struct value_rule module_option_rule(const struct rnl_option *option);

/* NULL: the module has no such option. Borrowed. */
const struct rnl_option *module_option_find(
    const struct rnl_option *list, size_t n, const char *name);

#endif
