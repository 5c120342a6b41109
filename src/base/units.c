#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/units.h"

struct unit {
	const char *name;
	int64_t factor;
};

/* Largest first, as the formatter wants them. */
static const struct unit sizes[] = {
	{ "G", INT64_C(1) << 30 },
	{ "M", INT64_C(1) << 20 },
	{ "k", INT64_C(1) << 10 },
	{ "", 1 },
	{ NULL, 0 },
};

static const struct unit durations[] = {
	{ "d", INT64_C(86400000) },
	{ "h", INT64_C(3600000) },
	{ "m", INT64_C(60000) },
	{ "s", INT64_C(1000) },
	{ "ms", 1 },
	{ NULL, 0 },
};

static enum status parse_digits(const char *text, int64_t *value, const char **rest)
{
	char *end;

	/* strtoll passes over white space, which no value has. */
	if (strspn(text, "+-0123456789") == 0)
		return STATUS_INVALID;
	errno = 0;
	*value = strtoll(text, &end, 10);
	if (end == text || errno != 0)
		return STATUS_INVALID;
	*rest = end;
	return STATUS_OK;
}

enum status units_parse_number(const char *text, int64_t *value)
{
	const char *rest;

	if (parse_digits(text, value, &rest) != STATUS_OK || *rest != '\0')
		return STATUS_INVALID;
	return STATUS_OK;
}

static enum status parse(const char *text, const struct unit *units,
    int (*compare)(const char *, const char *), int64_t *value)
{
	const char *rest;
	int64_t digits;

	if (parse_digits(text, &digits, &rest) != STATUS_OK || digits < 0)
		return STATUS_INVALID;
	if (digits == 0 && *rest == '\0') {
		*value = 0;
		return STATUS_OK;
	}
	for (; units->name != NULL; units++) {
		if (compare(rest, units->name) == 0)
			return __builtin_mul_overflow(digits, units->factor, value)
				   ? STATUS_INVALID
				   : STATUS_OK;
	}
	return STATUS_INVALID;
}

enum status units_parse_size(const char *text, int64_t *bytes)
{
	return parse(text, sizes, strcasecmp, bytes);
}

enum status units_parse_duration(const char *text, int64_t *ms)
{
	return parse(text, durations, strcmp, ms);
}

static const char *format(int64_t value, const struct unit *units, char buf[UNITS_TEXT_SIZE])
{
	while (value % units->factor != 0)
		units++;
	if (value == 0)
		snprintf(buf, UNITS_TEXT_SIZE, "0");
	else
		snprintf(
		    buf, UNITS_TEXT_SIZE, "%" PRId64 "%s", value / units->factor, units->name);
	return buf;
}

const char *units_format_size(int64_t bytes, char buf[UNITS_TEXT_SIZE])
{
	return format(bytes, sizes, buf);
}

const char *units_format_duration(int64_t ms, char buf[UNITS_TEXT_SIZE])
{
	return format(ms, durations, buf);
}

const char *units_format_age(int64_t ms, char buf[UNITS_TEXT_SIZE])
{
	int64_t s = ms / 1000, m = s / 60, h = m / 60, d = h / 24;

	if (d > 0)
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRId64 "d %" PRId64 "h", d, h % 24);
	else if (h > 0)
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRId64 "h %" PRId64 "m", h, m % 60);
	else if (m > 0)
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRId64 "m %" PRId64 "s", m, s % 60);
	else
		snprintf(buf, UNITS_TEXT_SIZE, "%" PRId64 "s", s);
	return buf;
}
