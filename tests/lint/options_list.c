/*
 * Lists the table of options, for options.sh: what the manual and the sample have
 * to say of each. One line an option: section, name, default, values. With an
 * argument, the names of those that connect sections share with listen sections.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "settings/options.h"

/* The texts show where things go when configure is told nothing else. */
#define SHOWN_MODULE_DIR "/usr/local/lib/runnel/modules"
#define SHOWN_HTTP_PROGRAM "/usr/local/libexec/runnel/runnel-http"

static const char *standard_of(const struct option *option)
{
	if (option->standard == NULL)
		return "none";
	if (strcmp(option->standard, MODULE_DIR) == 0)
		return SHOWN_MODULE_DIR;
	if (strcmp(option->standard, HTTP_PROGRAM) == 0)
		return SHOWN_HTTP_PROGRAM;
	return option->standard[0] == '\0' ? "\"\"" : option->standard;
}

static int list_shared(void)
{
	for (size_t i = 0; i < n_options; i++) {
		if (options[i].is_shared)
			puts(options[i].name);
	}
	return 0;
}

int main(int argc, char **argv)
{
	char values[VALUE_RULE_SIZE];

	(void)argv;
	if (argc > 1)
		return list_shared();
	for (size_t i = 0; i < n_options; i++) {
		const struct option *option = &options[i];

		printf("%s\t%s\tDefault: %s.\tValues: %s%s.\n",
		    option->section == OPTION_GLOBAL ? "daemon"
						     : option_section_name(option->section),
		    option->name, standard_of(option), option->is_list ? "one or more: " : "",
		    value_describe(&option->rule, values));
	}
	return 0;
}
