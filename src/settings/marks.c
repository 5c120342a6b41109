/*
 * Of the normalised form it is known that each option and each end of a section is
 * a line of its own, so nothing has to be parsed.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "settings/marks.h"
#include "settings/options.h"
#include "settings/settings.h"

#define NAME_SIZE 64

#define MAX_DEPTH 2

/* Where a line stands. */
struct place {
	unsigned int depth; /* sections that are open */
	struct {
		bool is_known; /* it is one of options.h, where it may stand */
		enum option_section kind;
	} sections[MAX_DEPTH + 1]; /* by their depth */
	const char *name;          /* of the section of depth 1, with its quotes; borrowed */
	int name_len;
	const char *module_dir; /* the option's value, with its quotes; borrowed */
	int module_dir_len;
};

static bool is_here(const struct place *place)
{
	return place->depth <= MAX_DEPTH && place->sections[place->depth].is_known;
}

static bool find_kind(const char *word, size_t len, enum option_section *kind)
{
	for (int i = OPTION_GLOBAL + 1; i < OPTION_N_SECTIONS; i++) {
		const char *name = option_section_name((enum option_section)i);

		if (len == strlen(name) && memcmp(word, name, len) == 0) {
			*kind = (enum option_section)i;
			return true;
		}
	}
	return false;
}

/* 'module "echo" {', or within a listener 'line {' */
static void enter(struct place *place, const char *line, size_t len)
{
	bool is_outer_known = is_here(place);
	size_t word = strcspn(line, " ");
	enum option_section kind = OPTION_GLOBAL;

	if (++place->depth > MAX_DEPTH)
		return;
	place->sections[place->depth].is_known =
	    is_outer_known && find_kind(line, word, &kind) &&
	    option_section_is_nested(kind) == (place->depth > 1);
	place->sections[place->depth].kind = kind;
	if (place->depth == 1 && len > word + strlen("  {")) {
		place->name = line + word + 1;
		place->name_len = (int)(len - word - strlen("  {"));
	}
}

/* The default as it stands in the normalised form. */
static void print_standard(const struct option *option, const struct place *place, FILE *out)
{
	const char *standard = option->standard;
	int64_t number = 0;

	if (option->section == OPTION_GLOBAL && strcmp(option->name, "workers") == 0) {
		fprintf(out, "%u", settings_auto_workers());
	} else if (option->section == OPTION_MODULE && strcmp(option->name, "path") == 0) {
		/* A quote less at the end of the one and at the begin of the other. */
		fprintf(out, "%.*s/%.*s.so\"", place->module_dir_len - 1, place->module_dir,
		    place->name_len - 2, place->name + 1);
	} else if (option->is_list) {
		fputs("{ ", out);
		value_print_text(standard, out);
		fputs(" }", out);
	} else if (value_is_text(option->rule.type)) {
		value_print_text(standard, out);
	} else if (value_parse_number(&option->rule, standard, &number) == STATUS_OK) {
		value_print_number(&option->rule, number, out);
	}
}

static void mark(const struct option *option, const struct place *place, const char *value,
    size_t len, FILE *out)
{
	char *standard;
	size_t size;
	FILE *stream = must_stream(&standard, &size);

	print_standard(option, place, stream);
	fclose(stream);
	if (size != len || memcmp(standard, value, len) != 0)
		fprintf(out, " # default: %s", standard);
	free(standard);
}

/* 'max-message = 4096' */
static void mark_line(struct place *place, const char *line, size_t len, FILE *out)
{
	const char *value = memmem(line, len, " = ", 3);
	const struct option *option;
	char name[NAME_SIZE];

	if (value == NULL || !is_here(place))
		return;
	snprintf(name, sizeof(name), "%.*s", (int)(value - line), line);
	value += 3;
	len -= (size_t)(value - line);
	if (place->depth == 0 && strcmp(name, "module-dir") == 0) {
		place->module_dir = value;
		place->module_dir_len = (int)len;
	}
	option = option_find(place->sections[place->depth].kind, name);
	if (option != NULL && option->standard != NULL)
		mark(option, place, value, len, out);
}

static void print_line(struct place *place, const char *line, size_t len, FILE *out)
{
	size_t indent = 0;

	while (indent < len && line[indent] == '\t')
		indent++;
	fwrite(line, 1, len, out);
	if (len > 0 && line[0] == '#') {
		fputc('\n', out);
		return;
	}
	line += indent;
	len -= indent;
	if (len == 1 && line[0] == '}')
		place->depth -= place->depth > 0;
	else if (len > 0 && line[len - 1] == '{')
		enter(place, line, len);
	else
		mark_line(place, line, len, out);
	fputc('\n', out);
}

void marks_print(const char *text, FILE *out)
{
	struct place place = {
		.sections[0] = { .is_known = true, .kind = OPTION_GLOBAL },
		.name = "\"\"",
		.name_len = 2,
		.module_dir = "\"\"",
		.module_dir_len = 2,
	};

	while (*text != '\0') {
		size_t len = strcspn(text, "\n");

		print_line(&place, text, len, out);
		text += len + (text[len] == '\n');
	}
}
