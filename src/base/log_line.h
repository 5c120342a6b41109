/*
 * One line of a log, as text or JSON with the same fields. It is put together in
 * memory of its caller: nothing here allocates.
 */
#ifndef RUNNEL_BASE_LOG_LINE_H
#define RUNNEL_BASE_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

#define LOG_LINE_SIZE 2048

struct log_line {
	size_t len;
	char text[LOG_LINE_SIZE]; /* ends with a newline, and has no end of its own */
};

/* What stands before the message. */
struct log_head {
	enum log_format format;
	bool is_bare; /* of text: process and message only */
	enum log_level level;
	const char *process;
};

const char *log_level_name(enum log_level level);

/*
 * Control characters of the message and of texts, and bytes that are not UTF-8, are escaped; what
 * is too long for a line is cut and ends in "...".
 */
void log_line_make(struct log_line *line, const struct log_head *head, const char *message,
    const struct log_field *fields, size_t n_fields);

#endif
