#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include "base/memory.h"
#include "base/panic.h"
#include "base/units.h"

#include "settings/address.h"
#include "settings/cpus.h"
#include "settings/value.h"

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

static const char *const booleans[] = { "false", "true", NULL };

bool value_is_text(enum value_type type)
{
	return type >= VALUE_TEXT;
}

bool value_is_name(const char *text)
{
	size_t len = strlen(text);

	return len > 0 && len <= VALUE_MAX_NAME && strspn(text, NAME_BYTES) == len &&
	       text[0] != '.' && text[0] != '-';
}

/* The index of text in words, or -1. */
static int word_find(const char *const *words, const char *text)
{
	for (int i = 0; words != NULL && words[i] != NULL; i++) {
		if (strcmp(words[i], text) == 0)
			return i;
	}
	return -1;
}

static enum status word_parse(const char *const *words, const char *text, int64_t *number)
{
	int index = word_find(words, text);

	if (index < 0)
		return STATUS_INVALID;
	*number = index;
	return STATUS_OK;
}

static enum status unit_parse(enum value_type type, const char *text, int64_t *number)
{
	if (type == VALUE_SIZE)
		return units_parse_size(text, number);
	if (type == VALUE_DURATION)
		return units_parse_duration(text, number);
	CHECK(type == VALUE_NUMBER);
	return units_parse_number(text, number);
}

enum status value_parse_number(const struct value_rule *rule, const char *text, int64_t *number)
{
	if (rule->type == VALUE_BOOL)
		return word_parse(booleans, text, number);
	if (rule->type == VALUE_CHOICE)
		return word_parse(rule->words, text, number);
	if (word_find(rule->words, text) >= 0) {
		*number = 0;
		return STATUS_OK;
	}
	if (unit_parse(rule->type, text, number) != STATUS_OK || *number < rule->min ||
	    *number > rule->max)
		return STATUS_INVALID;
	return STATUS_OK;
}

static enum status address_copy(enum value_type type, const char *text, char **copy)
{
	struct sockaddr_storage address;
	char buf[ADDRESS_TEXT_SIZE];
	socklen_t len;

	if ((address_is_unix(text) && type != VALUE_TARGET) ||
	    address_parse(text, &address, &len) != STATUS_OK)
		return STATUS_INVALID;
	*copy = must_strdup(address_format(&address, buf));
	return STATUS_OK;
}

enum status value_parse_text(const struct value_rule *rule, const char *text, char **copy)
{
	if ((rule->type == VALUE_ADDRESS || rule->type == VALUE_TARGET) &&
	    word_find(rule->words, text) < 0)
		return address_copy(rule->type, text, copy);
	if (rule->type == VALUE_OBJECT && text[0] != '/' && strchr(text, '/') != NULL)
		return STATUS_INVALID;
	if (rule->type == VALUE_NAME && !value_is_name(text))
		return STATUS_INVALID;
	if (rule->type == VALUE_PATH && text[0] != '/' && word_find(rule->words, text) < 0)
		return STATUS_INVALID;
	if (rule->type == VALUE_CPUS && word_find(rule->words, text) < 0 &&
	    cpus_parse(text, &(struct cpus){ 0 }) != STATUS_OK)
		return STATUS_INVALID;
	*copy = must_strdup(text);
	return STATUS_OK;
}

static const char *number_format(
    const struct value_rule *rule, int64_t number, char buf[UNITS_TEXT_SIZE])
{
	if (rule->type == VALUE_SIZE)
		return units_format_size(number, buf);
	if (rule->type == VALUE_DURATION)
		return units_format_duration(number, buf);
	snprintf(buf, UNITS_TEXT_SIZE, "%" PRId64, number);
	return buf;
}

PRINTF_LIKE(2, 3)
static void append(char buf[VALUE_RULE_SIZE], const char *fmt, ...)
{
	size_t len = strlen(buf);
	va_list args;

	va_start(args, fmt);
	vsnprintf(buf + len, VALUE_RULE_SIZE - len, fmt, args);
	va_end(args);
}

static void append_range(
    char buf[VALUE_RULE_SIZE], const struct value_rule *rule, const char *noun)
{
	char min[UNITS_TEXT_SIZE], max[UNITS_TEXT_SIZE];

	number_format(rule, rule->min, min);
	number_format(rule, rule->max, max);
	append(buf, "a %s from %s to %s", noun, min, max);
	if (rule->words != NULL)
		append(buf, ", or %s", rule->words[0]);
}

static void append_words(char buf[VALUE_RULE_SIZE], const char *const *words)
{
	for (size_t i = 0; words[i] != NULL; i++) {
		const char *join = i == 0 ? "" : words[i + 1] != NULL ? ", " : " or ";

		append(buf, "%s%s", join, words[i][0] == '\0' ? "\"\"" : words[i]);
	}
}

const char *value_describe(const struct value_rule *rule, char buf[VALUE_RULE_SIZE])
{
	buf[0] = '\0';
	switch (rule->type) {
	case VALUE_NUMBER:
		append_range(buf, rule, "number");
		break;
	case VALUE_SIZE:
		append_range(buf, rule, "size");
		break;
	case VALUE_DURATION:
		append_range(buf, rule, "duration");
		append(buf, ", with its unit: ms, s, m, h or d");
		break;
	case VALUE_BOOL:
		append_words(buf, booleans);
		break;
	case VALUE_CHOICE:
		append_words(buf, rule->words);
		break;
	case VALUE_TEXT:
		append(buf, "a text");
		break;
	case VALUE_PATH:
		append(buf, "an absolute path");
		if (rule->words != NULL) {
			append(buf, "%s", rule->words[1] == NULL ? " or " : ", ");
			append_words(buf, rule->words);
		}
		break;
	case VALUE_OBJECT:
		append(buf, "an absolute path, the name of a file in module-dir or \"\"");
		break;
	case VALUE_TARGET:
	case VALUE_ADDRESS:
		if (rule->type == VALUE_TARGET)
			append(buf, "\"" ADDRESS_UNIX "/PATH\", ");
		append(buf, "\"127.0.0.1:8888\" or \"[::1]:8888\", numeric, port 0 to 65535");
		if (rule->words != NULL) {
			append(buf, ", or ");
			append_words(buf, rule->words);
		}
		break;
	case VALUE_CPUS:
		append(buf, "CPUs such as 3, 0-3 or \"0,2-3\", ");
		append_words(buf, rule->words);
		break;
	case VALUE_NAME:
		for (size_t i = 0; rule->words != NULL && rule->words[i] != NULL; i++)
			append(buf, "%s%s", rule->words[i],
			    rule->words[i + 1] != NULL ? ", " : " or ");
		append(buf, "a name of at most %d letters, digits, '.', '_' and '-'",
		    VALUE_MAX_NAME);
		break;
	}
	return buf;
}

void value_print_number(const struct value_rule *rule, int64_t number, FILE *out)
{
	char buf[UNITS_TEXT_SIZE];

	if (rule->type == VALUE_BOOL)
		fputs(booleans[number != 0], out);
	else if (rule->type == VALUE_CHOICE || (rule->words != NULL && number == 0))
		fputs(rule->words[number], out);
	else
		fputs(number_format(rule, number, buf), out);
}

/*
 * In double quotes, where libconfuse undoes C's escapes and puts in the environment
 * for "${NAME}". Hexadecimal escapes take two digits at most, so the digits of the
 * text that may follow are safe.
 */
void value_print_text(const char *text, FILE *out)
{
	fputc('"', out);
	for (; text != NULL && *text != '\0'; text++) {
		unsigned char byte = (unsigned char)*text;

		if (byte == '"' || byte == '\\' || byte == '$')
			fprintf(out, "\\%c", byte);
		else if (byte == '\n')
			fputs("\\n", out);
		else if (byte < 0x20 || byte == 0x7f)
			fprintf(out, "\\x%02x", byte);
		else
			fputc(byte, out);
	}
	fputc('"', out);
}
