#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "settings/scan.h"

#define DIGITS "0123456789"
#define HEX_DIGITS DIGITS "abcdefABCDEF"
#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "_"
#define WORD_BYTES NAME_BYTES "-./:[]@%~"

void scan_init(struct scan *scan, const char *path, char *text, struct reason *why)
{
	scan->path = path;
	scan->at = text;
	scan->line = 1;
	scan->why = why;
}

bool token_is(const struct token *token, char mark)
{
	return token->kind == TOKEN_MARK && token->text[0] == mark;
}

bool token_is_value(const struct token *token)
{
	return token->kind == TOKEN_WORD || token->kind == TOKEN_STRING;
}

static bool is_line_end(const char *at)
{
	return at[0] == '\0' || at[0] == '\n' || (at[0] == '\r' && at[1] == '\n');
}

static void blank_line_comment(struct scan *scan)
{
	while (!is_line_end(scan->at))
		*scan->at++ = ' ';
}

static enum status blank_long_comment(struct scan *scan)
{
	char *end = strstr(scan->at + 2, "*/");

	if (end == NULL)
		return reason_set(scan->why, "%s:%u: the comment that begins here has no end",
		    scan->path, scan->line);
	for (end += 2; scan->at < end; scan->at++) {
		if (*scan->at == '\n')
			scan->line++;
		else
			*scan->at = ' ';
	}
	return STATUS_OK;
}

/* To the next token, or the end. */
static enum status skip_blanks(struct scan *scan)
{
	enum status status = STATUS_OK;

	while (status == STATUS_OK) {
		const char *at = scan->at;

		if (*at == '\n') {
			scan->line++;
			scan->at++;
		} else if (*at == ' ' || *at == '\t' || (at[0] == '\r' && at[1] == '\n')) {
			scan->at++;
		} else if (*at == '#' || (at[0] == '/' && at[1] == '/')) {
			blank_line_comment(scan);
		} else if (at[0] == '/' && at[1] == '*') {
			status = blank_long_comment(scan);
		} else {
			break;
		}
	}
	return status;
}

/*
 * Bytes of the escape whose backslash stands before at; 0: it is none. libconfuse
 * cuts the string at an escaped NUL, and takes a backslash before any other letter
 * for nothing.
 */
static size_t escape_len(const char *at)
{
	size_t len;
	long byte;

	if (*at >= '0' && *at <= '9') {
		len = strspn(at, DIGITS);
		byte = strtol(at, NULL, 8);
		return len <= 3 && strspn(at, "01234567") == len && byte > 0 && byte <= 0xff
			   ? len
			   : 0;
	}
	if (*at == 'x') {
		len = strspn(at + 1, HEX_DIGITS);
		if (len > 2)
			len = 2;
		return strspn(at + 1, "0") < len ? 1 + len : 0;
	}
	return strchr("\"\\'$nrtbfaev", *at) != NULL ? 1 : 0;
}

static enum status scan_escape(struct scan *scan)
{
	size_t len = escape_len(scan->at + 1);

	if (len == 0)
		return reason_set(scan->why,
		    "%s:%u: '%.2s' is no escape; write \\\\ for a backslash", scan->path,
		    scan->line, scan->at);
	scan->at += 1 + len;
	return STATUS_OK;
}

/*
 * "${NAME}" or "${NAME:-text}", which libconfuse replaces from the environment. It
 * looks for the closing brace beyond the quote, too.
 */
static enum status scan_variable(struct scan *scan)
{
	char *at = scan->at + 2;
	size_t len = strspn(at, NAME_BYTES);

	at += len;
	if (at[0] == ':' && at[1] == '-')
		at += strcspn(at, "}\"\\\r\n");
	if (len == 0 || *at != '}')
		return reason_set(scan->why,
		    "%s:%u: '${' does not go on as ${NAME} or ${NAME:-text}; "
		    "write \\$ for a dollar",
		    scan->path, scan->line);
	scan->at = at + 1;
	return STATUS_OK;
}

/* One byte of a string, or what stands for some. */
static enum status scan_string_part(struct scan *scan, char quote)
{
	const char *at = scan->at;
	unsigned char byte = (unsigned char)*at;

	if (is_line_end(at) || (byte == '\\' && is_line_end(at + 1)))
		return reason_set(scan->why,
		    "%s:%u: a string is not closed on its line; %c is missing", scan->path,
		    scan->line, quote);
	if ((byte < 0x20 && byte != '\t') || byte == 0x7f)
		return reason_set(scan->why,
		    "%s:%u: byte 0x%02x in a string; write it as \\x%02x in double quotes",
		    scan->path, scan->line, byte, byte);
	if (quote == '"' && byte == '\\')
		return scan_escape(scan);
	if (quote == '"' && byte == '$' && at[1] == '{')
		return scan_variable(scan);
	/* In single quotes a backslash is one, but before a backslash or a quote. */
	scan->at += byte == '\\' && (at[1] == '\\' || at[1] == '\'') ? 2 : 1;
	return STATUS_OK;
}

static enum status scan_string(struct scan *scan, struct token *token)
{
	char quote = *scan->at++;

	token->kind = TOKEN_STRING;
	token->text = scan->at;
	while (*scan->at != quote) {
		if (scan_string_part(scan, quote) != STATUS_OK)
			return STATUS_INVALID;
	}
	token->len = (size_t)(scan->at - token->text);
	scan->at++;
	return STATUS_OK;
}

/* libconfuse takes the slashes of "a//b" into the word, and drops the star of "a/" "*b". */
static bool holds_comment_mark(const struct token *word)
{
	const char *end = word->text + word->len;

	return memmem(word->text, word->len, "//", 2) != NULL ||
	       (end[-1] == '/' && *end == '*');
}

static enum status scan_word(struct scan *scan, struct token *token)
{
	unsigned char byte = (unsigned char)*scan->at;

	token->kind = TOKEN_WORD;
	token->len = strspn(scan->at, WORD_BYTES);
	if (token->len == 0 && byte > 0x20 && byte < 0x7f)
		return reason_set(scan->why, "%s:%u: '%c' outside of quotes; quote the text",
		    scan->path, scan->line, byte);
	if (token->len == 0)
		return reason_set(scan->why, "%s:%u: byte 0x%02x outside of quotes", scan->path,
		    scan->line, byte);
	if (holds_comment_mark(token))
		return reason_set(scan->why,
		    "%s:%u: a comment begins within a word; quote the text, or put a blank "
		    "before the comment",
		    scan->path, scan->line);
	scan->at += token->len;
	return STATUS_OK;
}

enum status scan_next(struct scan *scan, struct token *token)
{
	if (skip_blanks(scan) != STATUS_OK)
		return STATUS_INVALID;
	token->line = scan->line;
	token->text = scan->at;
	token->len = 0;
	switch (*scan->at) {
	case '\0':
		token->kind = TOKEN_END;
		return STATUS_OK;
	case '{':
	case '}':
	case '=':
	case ',':
		token->kind = TOKEN_MARK;
		token->len = 1;
		scan->at++;
		return STATUS_OK;
	case '"':
	case '\'':
		return scan_string(scan, token);
	default:
		return scan_word(scan, token);
	}
}
