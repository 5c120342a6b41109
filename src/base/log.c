/*
 * A line is put together in one buffer on the stack and written at once. Nothing
 * here allocates, so it works when memory has run out. A log that cannot be
 * written is no reason to stop serving, nor to wait: the line is lost.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "base/log.h"
#include "base/log_sink.h"

enum log_target { TARGET_PLAIN, TARGET_STDERR, TARGET_FILE, TARGET_SYSLOG };

static struct {
	enum log_target target;
	enum log_level level;
	enum log_format format;
	struct log_sink sink;
	char path[PATH_MAX]; /* of the file */
	char process[32];
} log_state = { .target = TARGET_PLAIN,
	.level = LOG_LEVEL_INFO,
	.sink = { .fd = STDERR_FILENO },
	.process = "runneld" };

enum status log_open(
    const char *target, enum log_level level, enum log_format format, struct reason *why)
{
	if (strcmp(target, "stderr") == 0) {
		log_sink_open_stderr(&log_state.sink);
		log_state.target = TARGET_STDERR;
	} else if (strcmp(target, "syslog") == 0) {
		openlog("runneld", LOG_PID | LOG_NDELAY, LOG_DAEMON);
		log_sink_close(&log_state.sink);
		log_state.target = TARGET_SYSLOG;
	} else {
		if (log_sink_open(&log_state.sink, target, "log file", why) != STATUS_OK)
			return STATUS_INVALID;
		log_state.target = TARGET_FILE;
	}
	log_state.level = level;
	log_state.format = format;
	snprintf(log_state.path, sizeof(log_state.path), "%s", target);
	return STATUS_OK;
}

enum status log_reopen(struct reason *why)
{
	struct log_sink fresh = { .fd = -1 };

	if (log_state.target != TARGET_FILE)
		return STATUS_OK;
	if (log_sink_open(&fresh, log_state.path, "log file", why) != STATUS_OK)
		return STATUS_INVALID;
	log_adopt_fd(fresh.fd);
	return STATUS_OK;
}

int log_fd(void)
{
	return log_state.target == TARGET_FILE ? log_state.sink.fd : -1;
}

void log_adopt_fd(int fd)
{
	if (log_state.target == TARGET_FILE)
		log_sink_adopt(&log_state.sink, fd);
	else
		close(fd);
}

void log_set_process(const char *name)
{
	snprintf(log_state.process, sizeof(log_state.process), "%s", name);
}

const char *log_process(void)
{
	return log_state.process;
}

void log_set_level(enum log_level level)
{
	log_state.level = level;
}

bool log_is_enabled(enum log_level level)
{
	return level <= log_state.level;
}

bool log_is_on_stderr(void)
{
	return log_state.target == TARGET_PLAIN || log_state.target == TARGET_STDERR;
}

static void put_syslog(const struct log_head *head, const char *message,
    const struct log_field *fields, size_t n_fields)
{
	static const int priorities[] = {
		[LOG_LEVEL_ERROR] = LOG_ERR,
		[LOG_LEVEL_WARN] = LOG_WARNING,
		[LOG_LEVEL_INFO] = LOG_INFO,
		[LOG_LEVEL_DEBUG] = LOG_DEBUG,
	};
	struct log_line line;

	log_line_make(&line, head, message, fields, n_fields);
	syslog(priorities[head->level], "%.*s", (int)line.len - 1, line.text);
}

void log_with_fields(
    enum log_level level, const char *message, const struct log_field *fields, size_t n_fields)
{
	bool is_plain = log_state.target == TARGET_PLAIN;
	const struct log_head head = {
		.format = is_plain ? LOG_FORMAT_TEXT : log_state.format,
		/* syslog adds time, level and pid itself. */
		.is_bare = is_plain || log_state.target == TARGET_SYSLOG,
		.level = level,
		.process = log_state.process,
	};
	int saved_errno = errno;

	if (!log_is_enabled(level))
		return;
	if (log_state.target == TARGET_SYSLOG)
		put_syslog(&head, message, fields, n_fields);
	else
		(void)log_sink_put(&log_state.sink, &head, message, fields, n_fields);
	errno = saved_errno;
}

void log_va(enum log_level level, const char *fmt, va_list args)
{
	/* More than a line has room for, so a cut shows. */
	char message[LOG_LINE_SIZE];
	int saved_errno = errno;

	if (!log_is_enabled(level))
		return;
	vsnprintf(message, sizeof(message), fmt, args);
	log_with_fields(level, message, NULL, 0);
	errno = saved_errno;
}

#define LOG_AT(level)                       \
	do {                                \
		va_list args;               \
		va_start(args, fmt);        \
		log_va((level), fmt, args); \
		va_end(args);               \
	} while (0)

void log_error(const char *fmt, ...)
{
	LOG_AT(LOG_LEVEL_ERROR);
}

void log_warn(const char *fmt, ...)
{
	LOG_AT(LOG_LEVEL_WARN);
}

void log_info(const char *fmt, ...)
{
	LOG_AT(LOG_LEVEL_INFO);
}

void log_debug(const char *fmt, ...)
{
	LOG_AT(LOG_LEVEL_DEBUG);
}

bool log_cap_allows(struct log_cap *cap, uint64_t now_ms, char rest[LOG_REST_SIZE])
{
	if (now_ms < cap->next_ms) {
		cap->n_left_out++;
		return false;
	}
	rest[0] = '\0';
	if (cap->n_left_out > 0)
		snprintf(rest, LOG_REST_SIZE, " (%" PRIu64 " more %s not logged)",
		    cap->n_left_out, cap->n_left_out == 1 ? "was" : "were");
	cap->n_left_out = 0;
	cap->next_ms = now_ms + 1000;
	return true;
}

bool log_budget_allows(struct log_budget *budget, uint64_t now_ms)
{
	if (now_ms >= budget->next_ms) {
		budget->next_ms = now_ms + 1000;
		budget->n_lines = 0;
		if (budget->n_left_out > 0)
			log_warn("%" PRIu64 " line%s left out: %s", budget->n_left_out,
			    budget->n_left_out == 1 ? "" : "s", budget->what);
		budget->n_left_out = 0;
	}
	if (budget->n_lines < LOG_BUDGET_LINES) {
		budget->n_lines++;
		return true;
	}
	budget->n_left_out++;
	return false;
}
