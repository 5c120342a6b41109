#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "settings/outline.h"
#include "settings/scan.h"
#include "settings/settings.h"

#define KEY_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-"

#define N_NESTED (OPTION_N_SECTIONS - OPTION_FIRST_NESTED)
#define MAX_SECTIONS                                                              \
	(1 + (SETTINGS_MAX_LISTENERS + SETTINGS_MAX_UPSTREAMS) * (1 + N_NESTED) + \
	    OUTLINE_MAX_MODULES)

/* As much of an odd text as a message shows. */
#define SHOWN 40

struct reader {
	struct scan scan;
	struct outline *outline;
	struct outline_section *section; /* the one that is open */
	size_t n_module_keys;
};

/* "listen 'main': length-field: ", or nothing. */
static void section_format(const struct outline_section *section, char *buf, size_t size)
{
	const char *kind = option_section_name(section->kind);

	if (section->kind == OPTION_GLOBAL)
		buf[0] = '\0';
	else if (option_section_is_nested(section->kind))
		snprintf(buf, size, "%s '%s': %s: ", option_section_name(section->around),
		    section->name, kind);
	else
		snprintf(buf, size, "%s '%s': ", kind, section->name);
}

enum status outline_refuse(const struct outline *outline, const struct outline_section *section,
    const char *key, struct reason *why, const char *fmt, ...)
{
	const struct outline_key *place = key != NULL ? outline_key(section, key) : NULL;
	char what[sizeof(why->text)], where[VALUE_MAX_NAME + 48];
	va_list args;

	va_start(args, fmt);
	vsnprintf(what, sizeof(what), fmt, args);
	va_end(args);
	section_format(section, where, sizeof(where));
	return reason_set(why, "%s:%u: %s%s%s%s", outline->path,
	    place != NULL ? place->line : section->line, where, key != NULL ? key : "",
	    key != NULL ? ": " : "", what);
}

/* The last, so that a key set twice is refused where it is set again. */
const struct outline_key *outline_key(const struct outline_section *section, const char *name)
{
	for (size_t i = section->n_keys; i-- > 0;) {
		if (strcmp(section->keys[i].name, name) == 0)
			return &section->keys[i];
	}
	return NULL;
}

static const struct outline_section *find_section(const struct outline *outline,
    enum option_section around, enum option_section kind, const char *name)
{
	for (size_t i = 0; i < outline->n_sections; i++) {
		const struct outline_section *section = &outline->sections[i];

		if (section->kind == kind && section->around == around &&
		    strcmp(section->name, name) == 0)
			return section;
	}
	return NULL;
}

const struct outline_section *outline_section(
    const struct outline *outline, enum option_section kind, const char *name)
{
	return find_section(outline, OPTION_GLOBAL, kind, name);
}

const struct outline_section *outline_nested(const struct outline *outline,
    const struct outline_section *around, enum option_section kind)
{
	return find_section(outline, around->kind, kind, around->name);
}

/* "path:line: 'x' stands where <wanted>". */
static enum status refuse_token(
    struct reader *reader, const struct token *token, const char *wanted)
{
	int len = token->len > SHOWN ? SHOWN : (int)token->len;

	if (token->kind == TOKEN_END)
		return reason_set(reader->scan.why, "%s:%u: the file ends where %s",
		    reader->scan.path, token->line, wanted);
	return reason_set(reader->scan.why, "%s:%u: '%.*s' stands where %s", reader->scan.path,
	    token->line, len, token->text, wanted);
}

static enum status expect_mark(struct reader *reader, char mark, const char *wanted)
{
	struct token token;

	if (scan_next(&reader->scan, &token) != STATUS_OK)
		return STATUS_INVALID;
	return token_is(&token, mark) ? STATUS_OK : refuse_token(reader, &token, wanted);
}

static char *token_copy(const struct token *token)
{
	return must_printf("%.*s", (int)token->len, token->text);
}

/* The array grows from one power of two to the next. */
static void keys_append(struct outline_section *section, const struct token *token)
{
	size_t n = section->n_keys;
	struct outline_key *grown;

	if ((n & (n - 1)) == 0) {
		grown = must_alloc(n == 0 ? 1 : 2 * n, sizeof(*grown));
		if (n > 0)
			memcpy(grown, section->keys, n * sizeof(*grown));
		free(section->keys);
		section->keys = grown;
	}
	section->keys[section->n_keys++] =
	    (struct outline_key){ .name = token_copy(token), .line = token->line };
}

static enum status read_key(struct reader *reader, const struct token *token)
{
	struct outline_section *section = reader->section;
	const struct outline_key *first, *key;
	size_t n_keys;

	if (token->kind != TOKEN_WORD || strspn(token->text, KEY_BYTES) < token->len)
		return refuse_token(reader, token, "the name of an option is expected");
	keys_append(section, token);
	key = &section->keys[section->n_keys - 1];
	first = section->keys;
	while (strcmp(first->name, key->name) != 0)
		first++;
	if (first != key)
		return outline_refuse(reader->outline, section, key->name, reader->scan.why,
		    "line %u sets it already", first->line);
	n_keys = section->kind == OPTION_MODULE ? ++reader->n_module_keys : section->n_keys;
	if (n_keys > OUTLINE_MAX_KEYS)
		return reason_set(reader->scan.why, "%s:%u: more than %d options",
		    reader->scan.path, token->line, OUTLINE_MAX_KEYS);
	return STATUS_OK;
}

static enum status read_list(struct reader *reader)
{
	struct token token;

	for (;;) {
		if (scan_next(&reader->scan, &token) != STATUS_OK)
			return STATUS_INVALID;
		if (token_is(&token, '}'))
			return STATUS_OK;
		if (!token_is_value(&token))
			return refuse_token(
			    reader, &token, "a value or the '}' of a list is expected");
		if (scan_next(&reader->scan, &token) != STATUS_OK)
			return STATUS_INVALID;
		if (token_is(&token, '}'))
			return STATUS_OK;
		if (!token_is(&token, ','))
			return refuse_token(
			    reader, &token, "',' or the '}' of a list is expected");
	}
}

static enum status read_value(struct reader *reader)
{
	struct token token;

	if (scan_next(&reader->scan, &token) != STATUS_OK)
		return STATUS_INVALID;
	if (token_is(&token, '{'))
		return read_list(reader);
	return token_is_value(&token) ? STATUS_OK
				      : refuse_token(reader, &token, "a value is expected");
}

/* The kind from first to before last that has this name; OPTION_GLOBAL: none has. */
static enum option_section section_kind(const struct token *token, int first, int last)
{
	for (int kind = first; kind < last; kind++) {
		const char *name = option_section_name(kind);

		if (strlen(name) == token->len && memcmp(name, token->text, token->len) == 0)
			return kind;
	}
	return OPTION_GLOBAL;
}

static size_t count_sections(const struct outline *outline, enum option_section kind)
{
	size_t n = 0;

	for (size_t i = 0; i < outline->n_sections; i++)
		n += outline->sections[i].kind == kind;
	return n;
}

static enum status check_section(struct reader *reader, const struct outline_section *section)
{
	static const size_t limits[OPTION_N_SECTIONS] = {
		[OPTION_LISTEN] = SETTINGS_MAX_LISTENERS,
		[OPTION_CONNECT] = SETTINGS_MAX_UPSTREAMS,
		[OPTION_MODULE] = OUTLINE_MAX_MODULES,
	};
	const struct outline_section *first =
	    find_section(reader->outline, section->around, section->kind, section->name);

	if (first != section)
		return outline_refuse(reader->outline, section, NULL, reader->scan.why,
		    "there is one in line %u already", first->line);
	if (!option_section_is_nested(section->kind) &&
	    count_sections(reader->outline, section->kind) > limits[section->kind])
		return outline_refuse(reader->outline, section, NULL, reader->scan.why,
		    "one too many: there may be %zu %s sections", limits[section->kind],
		    option_section_name(section->kind));
	return STATUS_OK;
}

static enum status read_items(struct reader *reader);

/* token: what stands after the word that says the kind. */
static enum status read_section(
    struct reader *reader, enum option_section kind, const struct token *token)
{
	struct outline_section *section =
	    &reader->outline->sections[reader->outline->n_sections++];
	enum status status;

	section->kind = kind;
	section->line = token->line;
	section->name = token_copy(token);
	/* In this alphabet libconfuse sees the same name with quotes and without. */
	if (!token_is_value(token) || !value_is_name(section->name))
		return refuse_token(reader, token,
		    "the name of a section is expected, of letters, digits, '.', '_' and '-'");
	status = check_section(reader, section);
	if (status == STATUS_OK)
		status = expect_mark(reader, '{', "the '{' of a section is expected");
	if (status != STATUS_OK)
		return status;
	reader->section = section;
	status = read_items(reader);
	reader->section = &reader->outline->sections[0];
	return status;
}

/* A section within a listen or connect section, whose '{' is read. */
static enum status read_nested(
    struct reader *reader, enum option_section kind, const struct token *word)
{
	struct outline_section *around = reader->section, *section;
	enum status status;

	if (!option_section_has_nested(around->kind))
		return reason_set(reader->scan.why,
		    "%s:%u: %s: it belongs in a listen or connect section", reader->scan.path,
		    word->line, option_section_name(kind));
	section = &reader->outline->sections[reader->outline->n_sections++];
	section->kind = kind;
	section->around = around->kind;
	section->line = word->line;
	section->name = must_strdup(around->name);
	if (check_section(reader, section) != STATUS_OK)
		return STATUS_INVALID;
	reader->section = section;
	status = read_items(reader);
	reader->section = around;
	return status;
}

/* An option, or a section: both begin with a word. */
static enum status read_item(struct reader *reader, const struct token *word)
{
	enum option_section kind = section_kind(word, OPTION_MODULE, OPTION_FIRST_NESTED);
	enum option_section nested = section_kind(word, OPTION_FIRST_NESTED, OPTION_N_SECTIONS);
	struct token next;
	bool is_nested;

	if (scan_next(&reader->scan, &next) != STATUS_OK)
		return STATUS_INVALID;
	if (nested != OPTION_GLOBAL && token_is(&next, '{'))
		return read_nested(reader, nested, word);
	/* Within a section these words may well be options of a module. */
	is_nested = reader->section->kind != OPTION_GLOBAL;
	if (kind != OPTION_GLOBAL && !(is_nested && token_is(&next, '='))) {
		if (is_nested)
			return outline_refuse(reader->outline, reader->section, NULL,
			    reader->scan.why,
			    "it is not closed before the section in line %u; '}' is missing",
			    word->line);
		return read_section(reader, kind, &next);
	}
	if (read_key(reader, word) != STATUS_OK)
		return STATUS_INVALID;
	if (!token_is(&next, '='))
		return refuse_token(reader, &next, "'=' is expected");
	return read_value(reader);
}

/* Up to the end of the open section. */
static enum status read_items(struct reader *reader)
{
	bool is_global = reader->section->kind == OPTION_GLOBAL;
	enum status status = STATUS_OK;
	struct token token;

	while (status == STATUS_OK) {
		status = scan_next(&reader->scan, &token);
		if (status != STATUS_OK)
			return status;
		if (token.kind == TOKEN_END && is_global)
			return STATUS_OK;
		if (token.kind == TOKEN_END)
			return outline_refuse(reader->outline, reader->section, NULL,
			    reader->scan.why,
			    "it is not closed before the end of the file; '}' is missing");
		if (token_is(&token, '}') && !is_global)
			return STATUS_OK;
		status = read_item(reader, &token);
	}
	return status;
}

enum status outline_read(
    const char *path, char *text, struct outline **outline, struct reason *why)
{
	struct reader reader = { .outline = must_alloc(1, sizeof(**outline)) };
	enum status status;

	reader.outline->path = path;
	/* One more than there may be: a section is checked in its place. */
	reader.outline->sections =
	    must_alloc(MAX_SECTIONS + 1, sizeof(*reader.outline->sections));
	reader.outline->n_sections = 1;
	reader.section = &reader.outline->sections[0];
	reader.section->kind = OPTION_GLOBAL;
	reader.section->name = must_strdup("");
	reader.section->line = 1;
	scan_init(&reader.scan, path, text, why);
	status = read_items(&reader);
	if (status != STATUS_OK)
		outline_destroy(&reader.outline);
	*outline = reader.outline;
	return status;
}

void outline_destroy(struct outline **outline)
{
	if (*outline == NULL)
		return;
	for (size_t i = 0; i < (*outline)->n_sections; i++) {
		struct outline_section *section = &(*outline)->sections[i];

		for (size_t k = 0; k < section->n_keys; k++)
			free(section->keys[k].name);
		free(section->keys);
		free(section->name);
	}
	free((*outline)->sections);
	free(*outline);
	*outline = NULL;
}
