#include "config.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "master/postponed.h"
#include "master/state.h"

#define N_OPTIONS 3
#define LINE_SIZE 100

struct lines {
	char texts[N_OPTIONS][LINE_SIZE];
	size_t n;
};

static bool is_same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void compare(
    struct lines *lines, const char *name, const char *in_force, const char *wanted)
{
	if (!is_same(in_force, wanted))
		snprintf(lines->texts[lines->n++], LINE_SIZE,
		    "%s: it changes at the next start or upgrade", name);
}

static struct lines compare_all(const struct master *master, const struct settings *settings)
{
	struct lines lines = { .n = 0 };

	compare(&lines, "pid-file", master->pid_file, settings->pid_file);
	compare(&lines, "control-socket", master->control_socket, settings->control_socket);
	compare(&lines, "control-group", master->control_group, settings->control_group);
	return lines;
}

void postponed_warn(const struct master *master, const struct settings *settings)
{
	const struct lines lines = compare_all(master, settings);

	for (size_t i = 0; i < lines.n; i++)
		log_warn("%s", lines.texts[i]);
}

void postponed_tell(
    const struct master *master, const struct settings *settings, json_t *object)
{
	const struct lines lines = compare_all(master, settings);
	json_t *warnings;

	if (lines.n == 0)
		return;
	warnings = json_array();
	for (size_t i = 0; i < lines.n; i++)
		json_array_append_new(warnings, json_string(lines.texts[i]));
	json_object_set_new(object, "warnings", warnings);
}
