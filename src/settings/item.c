#include "config.h"

#include <stdlib.h>

#include "base/memory.h"

#include "settings/conf.h"
#include "settings/item.h"
#include "settings/options.h"
#include "settings/outline.h"

#define REFUSE(item, why, ...) \
	outline_refuse((item)->outline, (item)->section, (item)->key, (why), __VA_ARGS__)

static enum status refuse_value(const struct item *item, const char *text, struct reason *why)
{
	char wanted[VALUE_RULE_SIZE];

	return REFUSE(item, why, "'%.40s' is refused; give %s", text,
	    value_describe(&item->rule, wanted));
}

static bool is_set(const struct item *item)
{
	return outline_key(item->section, item->key) != NULL;
}

/* Values in force: at least one, at most max. */
static enum status count_values(
    const struct item *item, size_t max, size_t *n, struct reason *why)
{
	char wanted[VALUE_RULE_SIZE];

	value_describe(&item->rule, wanted);
	if (!is_set(item) && item->standard == NULL)
		return REFUSE(item, why, "it must be given: %s", wanted);
	*n = is_set(item) ? conf_count(item->conf, item->section, item->key) : 1;
	if (*n == 0)
		return REFUSE(item, why, "an empty list is refused; give %s", wanted);
	if (*n > max && max == 1)
		return REFUSE(item, why, "a list is refused; give %s", wanted);
	if (*n > max)
		return REFUSE(item, why, "a list of %zu is refused; give at most %zu", *n, max);
	return STATUS_OK;
}

static const char *value_at(const struct item *item, size_t index)
{
	if (!is_set(item))
		return item->standard;
	return conf_value(item->conf, item->section, item->key, index);
}

enum status item_number(const struct item *item, int64_t *number, struct reason *why)
{
	size_t n;

	if (count_values(item, 1, &n, why) != STATUS_OK)
		return STATUS_INVALID;
	if (value_parse_number(&item->rule, value_at(item, 0), number) != STATUS_OK)
		return refuse_value(item, value_at(item, 0), why);
	return STATUS_OK;
}

enum status item_text(const struct item *item, char **text, struct reason *why)
{
	size_t n;

	if (count_values(item, 1, &n, why) != STATUS_OK)
		return STATUS_INVALID;
	if (value_parse_text(&item->rule, value_at(item, 0), text) != STATUS_OK)
		return refuse_value(item, value_at(item, 0), why);
	if ((item->rule.type == VALUE_PATH || item->rule.type == VALUE_OBJECT) &&
	    (*text)[0] == '\0') {
		free(*text);
		*text = NULL;
	}
	return STATUS_OK;
}

enum status item_list(const struct item *item, char ***list, size_t *n, struct reason *why)
{
	size_t n_values;

	*list = NULL;
	*n = 0;
	if (count_values(item, OPTION_MAX_LIST, &n_values, why) != STATUS_OK)
		return STATUS_INVALID;
	*list = must_alloc(n_values, sizeof(**list));
	for (size_t i = 0; i < n_values; i++) {
		if (value_parse_text(&item->rule, value_at(item, i), &(*list)[i]) != STATUS_OK)
			return refuse_value(item, value_at(item, i), why);
		*n = i + 1;
	}
	return STATUS_OK;
}
