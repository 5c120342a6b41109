#include "config.h"

#include <string.h>

#include "base/escape.h"

size_t utf8_length(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
	size_t len;

	if (c[0] < 0x80)
		return 1;
	if (c[0] < 0xc2 || c[0] > 0xf4)
		return 0;
	len = c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : 4;
	if (c[0] == 0xe0)
		low = 0xa0;
	else if (c[0] == 0xed)
		high = 0x9f;
	else if (c[0] == 0xf0)
		low = 0x90;
	else if (c[0] == 0xf4)
		high = 0x8f;
	if (c[1] < low || c[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++) {
		if ((c[i] & 0xc0) != 0x80)
			return 0;
	}
	return len;
}

bool utf8_is_valid(const char *text)
{
	size_t len;

	for (; *text != '\0'; text += len) {
		len = utf8_length(text);
		if (len == 0)
			return false;
	}
	return true;
}

const char *escape_character(const char *text, size_t len, bool is_json, char out[8])
{
	unsigned int byte = (unsigned char)text[len == 2];
	bool is_c1 = len == 2 && text[0] == '\xc2' && byte < 0xa0;

	if (len == 0 && is_json)
		return "\\ufffd";
	if (len == 0 || is_c1 || (len == 1 && (byte < 0x20 || byte == 0x7f))) {
		snprintf(out, 8, is_json ? "\\u%04x" : "\\x%02x", byte);
		return out;
	}
	if (is_json && len == 1 && (byte == '"' || byte == '\\'))
		return byte == '"' ? "\\\"" : "\\\\";
	return NULL;
}

/* What needs no escape is written in one piece. */
static void print(const char *text, const char *kept, FILE *out)
{
	const char *piece = text;

	while (*text != '\0') {
		size_t len = utf8_length(text);
		const char *escaped = NULL;
		char escape[8];

		if (strchr(kept, *text) == NULL)
			escaped = escape_character(text, len, false, escape);
		if (escaped != NULL) {
			fwrite(piece, 1, (size_t)(text - piece), out);
			fputs(escaped, out);
		}
		text += len > 0 ? len : 1;
		if (escaped != NULL)
			piece = text;
	}
	fwrite(piece, 1, (size_t)(text - piece), out);
}

void escape_print(const char *text, FILE *out)
{
	print(text, "", out);
}

void escape_print_lines(const char *text, FILE *out)
{
	print(text, "\n\t", out);
}
