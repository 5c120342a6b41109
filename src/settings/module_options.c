#include "config.h"

#include <stdlib.h>
#include <string.h>

#include <runnel/module.h>

#include "settings/module_options.h"
#include "settings/options.h"

static const enum value_type types[] = {
	[RNL_NUMBER] = VALUE_NUMBER,
	[RNL_SIZE] = VALUE_SIZE,
	[RNL_DURATION] = VALUE_DURATION,
	[RNL_BOOL] = VALUE_BOOL,
	[RNL_STRING] = VALUE_TEXT,
};

struct value_rule module_option_rule(const struct rnl_option *option)
{
	struct value_rule rule = {
		.type = types[option->type],
		.min = option->min,
		.max = option->max,
	};

	if (rule.min == 0 && rule.max == 0)
		rule.max = INT64_MAX;
	return rule;
}

const struct rnl_option *module_option_find(
    const struct rnl_option *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(list[i].name, name) == 0)
			return &list[i];
	}
	return NULL;
}

static enum status check_name(const struct rnl_option *list, size_t i, struct reason *why)
{
	const char *name = list[i].name;

	if (name == NULL || name[0] == '\0')
		return reason_set(why, "its option %zu has no name", i);
	if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(name))
		return reason_set(why,
		    "its option '%s' is not named by lower case letters, digits and hyphens",
		    name);
	if (option_find(OPTION_MODULE, name) != NULL)
		return reason_set(why, "its option '%s' is runneld's own", name);
	if (module_option_find(list, i, name) != NULL)
		return reason_set(why, "it has two options '%s'", name);
	return STATUS_OK;
}

static enum status check_standard(const struct rnl_option *option, struct reason *why)
{
	struct value_rule rule;
	int64_t number;

	if ((size_t)option->type >= sizeof(types) / sizeof(types[0]))
		return reason_set(why, "its option '%s' is of an unknown type", option->name);
	rule = module_option_rule(option);
	if (option->standard == NULL || value_is_text(rule.type))
		return STATUS_OK;
	if (value_parse_number(&rule, option->standard, &number) != STATUS_OK)
		return reason_set(why, "the default of its option '%s', '%s', breaks its rule",
		    option->name, option->standard);
	return STATUS_OK;
}

enum status module_options_check(const struct rnl_option *list, size_t n, struct reason *why)
{
	for (size_t i = 0; i < n; i++) {
		if (check_name(list, i, why) != STATUS_OK ||
		    check_standard(&list[i], why) != STATUS_OK)
			return STATUS_INVALID;
	}
	return STATUS_OK;
}
