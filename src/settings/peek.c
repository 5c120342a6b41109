/*
 * All of the text but the wanted options is blanked, and the rest is read as any
 * conf is: so a value means here what it means to the daemon, and has its line.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#include "settings/conf.h"
#include "settings/file.h"
#include "settings/item.h"
#include "settings/options.h"
#include "settings/outline.h"
#include "settings/peek.h"
#include "settings/scan.h"

static const char *const wanted[] = { "control-socket", "pid-file", "drain-timeout" };

#define N_WANTED (sizeof(wanted) / sizeof(wanted[0]))

static bool token_equals(const struct token *token, const char *text)
{
	return token->len == strlen(text) && memcmp(token->text, text, token->len) == 0;
}

/* The text with its lines, but nothing in them. */
static char *blank(const char *text)
{
	char *copy = must_strdup(text);

	for (char *at = copy; *at != '\0'; at++) {
		if (*at != '\n')
			*at = ' ';
	}
	return copy;
}

/* Put an option of the text to its place in the copy, the quotes of its value included. */
static void keep(
    char *copy, const char *text, const struct token *key, const struct token *value)
{
	size_t begin = (size_t)(key->text - text);
	size_t end = (size_t)(value->text - text) + value->len + (value->kind == TOKEN_STRING);

	memcpy(copy + begin, text + begin, end - begin);
}

/* Of an option that is there twice the first counts: no daemon runs with such a conf. */
static void keep_if_wanted(char *copy, const char *text, const struct token *key,
    const struct token *value, bool is_kept[N_WANTED])
{
	for (size_t i = 0; i < N_WANTED; i++) {
		if (token_equals(key, wanted[i]) && !is_kept[i]) {
			keep(copy, text, key, value);
			is_kept[i] = true;
		}
	}
}

/* STATUS_INVALID: it could not be followed to its end; what came before is in the copy. */
static enum status pick(const char *path, char *text, char *copy, struct reason *why)
{
	struct token token = { .kind = TOKEN_MARK, .text = "}" }, before, key = token;
	bool is_kept[N_WANTED] = { false }, is_value_next = false;
	unsigned int depth = 0;
	struct scan scan;

	scan_init(&scan, path, text, why);
	for (;;) {
		before = token;
		if (scan_next(&scan, &token) != STATUS_OK)
			return STATUS_INVALID;
		if (token.kind == TOKEN_END)
			return STATUS_OK;
		if (is_value_next && token_is_value(&token))
			keep_if_wanted(copy, text, &key, &token, is_kept);
		is_value_next =
		    depth == 0 && token_is(&token, '=') && before.kind == TOKEN_WORD;
		key = before;
		if (token_is(&token, '{'))
			depth++;
		else if (token_is(&token, '}') && depth > 0)
			depth--;
	}
}

static struct item item_of(struct outline *outline, struct cfg_t *conf, const char *name)
{
	const struct option *option = option_find(OPTION_GLOBAL, name);

	return (struct item){
		.outline = outline,
		.conf = conf,
		.section = &outline->sections[0],
		.key = option->name,
		.standard = option->standard,
		.rule = option->rule,
	};
}

static enum status load(const char *path, char *copy, struct peek *peek, struct reason *why)
{
	struct outline *outline = NULL;
	struct cfg_t *conf = NULL;
	struct item socket, pid_file, drain;
	int64_t ms = 0;
	enum status status;

	status = outline_read(path, copy, &outline, why);
	if (status == STATUS_OK)
		status = conf_parse(outline, copy, &conf, why);
	if (status != STATUS_OK)
		goto out;
	socket = item_of(outline, conf, "control-socket");
	pid_file = item_of(outline, conf, "pid-file");
	drain = item_of(outline, conf, "drain-timeout");
	/* A bad value of one does not hide the others. */
	if (item_text(&socket, &peek->control_socket, why) != STATUS_OK)
		status = STATUS_INVALID;
	if (item_text(&pid_file, &peek->pid_file, why) != STATUS_OK)
		status = STATUS_INVALID;
	if (item_number(&drain, &ms, why) == STATUS_OK)
		peek->drain_timeout_ms = (uint32_t)ms;
	else
		status = STATUS_INVALID;
out:
	conf_destroy(&conf);
	outline_destroy(&outline);
	return status;
}

static uint32_t standard_drain_timeout(void)
{
	const struct option *option = option_find(OPTION_GLOBAL, "drain-timeout");
	int64_t ms = 0;

	if (value_parse_number(&option->rule, option->standard, &ms) != STATUS_OK)
		return 0;
	return (uint32_t)ms;
}

enum status peek_read(const char *path, const char *text, struct peek *peek, struct reason *why)
{
	char *own = must_strdup(text), *copy;
	struct reason bad = { "" };
	enum status status;

	*peek = (struct peek){ .drain_timeout_ms = standard_drain_timeout() };
	if (text == NULL && file_read(path, &own, why) != STATUS_OK)
		return STATUS_INVALID;
	copy = blank(own);
	status = pick(path, own, copy, why);
	if (load(path, copy, peek, &bad) != STATUS_OK && status == STATUS_OK)
		status = reason_set(why, "%s", bad.text);
	free(copy);
	free(own);
	return status;
}

void peek_free(struct peek *peek)
{
	free(peek->control_socket);
	free(peek->pid_file);
	*peek = (struct peek){ 0 };
}
