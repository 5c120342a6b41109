/*
 * What a line looks like.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/log_line.h"

#define END_SIZE 8 /* kept free for what ends a line: "...\"}\n" */

const char *log_level_name(enum log_level level)
{
	static const char *const names[] = {
		[LOG_LEVEL_ERROR] = "error",
		[LOG_LEVEL_WARN] = "warn",
		[LOG_LEVEL_INFO] = "info",
		[LOG_LEVEL_DEBUG] = "debug",
	};

	return names[level];
}

/* A part that fits: all but the message is short. */
PRINTF_LIKE(2, 3) static void add(struct log_line *line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line->len +=
	    (size_t)vsnprintf(line->text + line->len, LOG_LINE_SIZE - line->len, fmt, args);
	va_end(args);
}

/* As much of text as there is room for; the last character is whole. */
static void add_escaped(struct log_line *line, const char *text, bool is_json)
{
	while (*text != '\0') {
		size_t len = utf8_length(text), n;
		char out[8];
		const char *escaped = escape_character(text, len, is_json, out);

		n = escaped != NULL ? strlen(escaped) : len;
		if (line->len + n > LOG_LINE_SIZE - END_SIZE) {
			add(line, "...");
			return;
		}
		memcpy(line->text + line->len, escaped != NULL ? escaped : text, n);
		line->len += n;
		text += len > 0 ? len : 1;
	}
}

/* RFC 3339, UTC, milliseconds. */
static void format_time(char out[40])
{
	struct timespec now;
	struct tm tm;
	size_t len;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	len = strftime(out, 40, "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out + len, 40 - len, ".%03dZ", (int)(now.tv_nsec / 1000000));
}

static bool has_room(const struct log_line *line, size_t size)
{
	return line->len + size <= LOG_LINE_SIZE - END_SIZE;
}

#define NUMBER_SIZE 24

/* A field that has no room for its name is left out, and all behind it. */
static void add_fields(
    struct log_line *line, const struct log_field *fields, size_t n, bool is_json)
{
	for (size_t i = 0; i < n; i++) {
		const struct log_field *field = &fields[i];

		if (!has_room(line, strlen(field->name) + NUMBER_SIZE))
			return;
		add(line, is_json ? ",\"%s\":" : " %s=", field->name);
		if (field->text == NULL) {
			add(line, "%" PRIu64, field->number);
			continue;
		}
		if (is_json)
			add(line, "\"");
		add_escaped(line, field->text, is_json);
		if (is_json)
			add(line, "\"");
	}
}

static void make_json(struct log_line *line, const struct log_head *head, const char *message,
    const struct log_field *fields, size_t n_fields)
{
	char time_text[40];

	format_time(time_text);
	add(line, "{\"time\":\"%s\",\"level\":\"%s\",\"process\":\"", time_text,
	    log_level_name(head->level));
	add_escaped(line, head->process, true);
	add(line, "\",\"pid\":%d,\"message\":\"", (int)getpid());
	add_escaped(line, message, true);
	add(line, "\"");
	add_fields(line, fields, n_fields, true);
	add(line, "}\n");
}

static void make_text(struct log_line *line, const struct log_head *head, const char *message,
    const struct log_field *fields, size_t n_fields)
{
	char time_text[40];

	if (!head->is_bare) {
		format_time(time_text);
		add(line, "%s %s ", time_text, log_level_name(head->level));
	}
	add_escaped(line, head->process, false);
	if (!head->is_bare)
		add(line, "[%d]", (int)getpid());
	add(line, ": ");
	add_escaped(line, message, false);
	add_fields(line, fields, n_fields, false);
	add(line, "\n");
}

void log_line_make(struct log_line *line, const struct log_head *head, const char *message,
    const struct log_field *fields, size_t n_fields)
{
	line->len = 0;
	if (head->format == LOG_FORMAT_JSON)
		make_json(line, head, message, fields, n_fields);
	else
		make_text(line, head, message, fields, n_fields);
}
