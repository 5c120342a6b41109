/*
 * A line is put together in one buffer on the stack and written at once. Nothing
 * here allocates, so it works when memory has run out. A log that cannot be
 * written is no reason to stop serving: the line is lost.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define LINE_SIZE 2048
#define MESSAGE_SIZE 1024

enum log_target { TARGET_PLAIN, TARGET_STDERR, TARGET_FILE, TARGET_SYSLOG };

static struct {
	enum log_target target;
	enum log_level level;
	enum log_format format;
	int fd; /* owned when the target is a file */
	char process[32];
} log_state = { .target = TARGET_PLAIN, .level = LOG_LEVEL_INFO, .fd = STDERR_FILENO };

static const struct {
	const char *name;
	int priority;
} levels[] = {
	[LOG_LEVEL_ERROR] = { "error", LOG_ERR },
	[LOG_LEVEL_WARN] = { "warn", LOG_WARNING },
	[LOG_LEVEL_INFO] = { "info", LOG_INFO },
	[LOG_LEVEL_DEBUG] = { "debug", LOG_DEBUG },
};

enum status log_open(
    const char *target, enum log_level level, enum log_format format, struct reason *why)
{
	enum log_target kind = TARGET_FILE;
	int fd = STDERR_FILENO;

	if (strcmp(target, "stderr") == 0)
		kind = TARGET_STDERR;
	else if (strcmp(target, "syslog") == 0)
		kind = TARGET_SYSLOG;
	if (kind == TARGET_FILE) {
		fd = open(target,
		    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY, 0640);
		if (fd < 0)
			return reason_set(
			    why, "cannot open log file %s: %s", target, strerror(errno));
	} else if (kind == TARGET_SYSLOG) {
		openlog("runneld", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	}
	if (log_state.target == TARGET_FILE)
		close(log_state.fd);
	log_state.target = kind;
	log_state.fd = fd;
	log_state.level = level;
	log_state.format = format;
	return STATUS_OK;
}

void log_set_process(const char *name)
{
	snprintf(log_state.process, sizeof(log_state.process), "%s", name);
}

bool log_is_enabled(enum log_level level)
{
	return level <= log_state.level;
}

bool log_is_on_stderr(void)
{
	return log_state.target == TARGET_PLAIN || log_state.target == TARGET_STDERR;
}

/* Copy text to out with what JSON wants escaped, which is also what keeps a text line one line.
 */
static size_t escape(char *out, size_t size, const char *text, bool is_json)
{
	size_t len = 0;

	for (; *text != '\0' && len + 7 < size; text++) {
		unsigned char c = (unsigned char)*text;

		if (is_json && (c == '"' || c == '\\')) {
			out[len++] = '\\';
			out[len++] = (char)c;
		} else if (c < 0x20 || c == 0x7f) {
			len +=
			    (size_t)snprintf(out + len, 7, is_json ? "\\u%04x" : "\\x%02x", c);
		} else {
			out[len++] = (char)c;
		}
	}
	out[len] = '\0';
	return len;
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

static size_t format_line(char line[LINE_SIZE], enum log_level level, const char *message)
{
	char time_text[40], text[MESSAGE_SIZE * 6 / 4];
	bool is_json = log_state.format == LOG_FORMAT_JSON && log_state.target != TARGET_PLAIN;
	const char *process = log_state.process[0] != '\0' ? log_state.process : "runneld";
	int len;

	escape(text, sizeof(text), message, is_json);
	format_time(time_text);
	if (log_state.target == TARGET_PLAIN)
		len = snprintf(line, LINE_SIZE, "runneld: %s\n", text);
	else if (is_json)
		len = snprintf(line, LINE_SIZE,
		    "{\"time\":\"%s\",\"level\":\"%s\",\"process\":\"%s\",\"pid\":%d,"
		    "\"message\":\"%s\"}\n",
		    time_text, levels[level].name, process, (int)getpid(), text);
	else
		len = snprintf(line, LINE_SIZE, "%s %s %s[%d]: %s\n", time_text,
		    levels[level].name, process, (int)getpid(), text);
	return len < LINE_SIZE ? (size_t)len : LINE_SIZE - 1;
}

static void write_line(const char *line, size_t len)
{
	ssize_t n;

	do
		n = write(log_state.fd, line, len);
	while (n < 0 && errno == EINTR);
}

void log_va(enum log_level level, const char *fmt, va_list args)
{
	char message[MESSAGE_SIZE], line[LINE_SIZE];
	int saved_errno = errno;
	size_t len;

	if (!log_is_enabled(level))
		return;
	vsnprintf(message, sizeof(message), fmt, args);
	if (log_state.target == TARGET_SYSLOG && log_state.format == LOG_FORMAT_TEXT) {
		syslog(levels[level].priority, "%s: %s", log_state.process, message);
	} else {
		len = format_line(line, level, message);
		if (log_state.target == TARGET_SYSLOG)
			syslog(levels[level].priority, "%.*s", (int)(len - 1), line);
		else
			write_line(line, len);
	}
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
		snprintf(rest, LOG_REST_SIZE, " (%" PRIu64 " more were not logged)",
		    cap->n_left_out);
	cap->n_left_out = 0;
	cap->next_ms = now_ms + 1000;
	return true;
}
