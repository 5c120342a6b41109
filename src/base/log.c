/*
 * A line is put together in one buffer on the stack and written at once. Nothing
 * here allocates, so it works when memory has run out. A log that cannot be
 * written is no reason to stop serving, nor to wait: the line is lost.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"

#define LINE_SIZE 2048
#define END_SIZE 8 /* kept free for what ends a line: "...\"}\n" */

/* Cut to LINE_SIZE: the prefix is far shorter, the message takes what is left. */
struct line {
	size_t len;
	char text[LINE_SIZE];
};

enum log_target { TARGET_PLAIN, TARGET_STDERR, TARGET_FILE, TARGET_SYSLOG };

static struct {
	enum log_target target;
	enum log_level level;
	enum log_format format;
	int fd;              /* owned when the target is a file */
	char path[PATH_MAX]; /* of the file */
	char process[32];
} log_state = { .target = TARGET_PLAIN,
	.level = LOG_LEVEL_INFO,
	.fd = STDERR_FILENO,
	.process = "runneld" };

static const struct {
	const char *name;
	int priority;
} levels[] = {
	[LOG_LEVEL_ERROR] = { "error", LOG_ERR },
	[LOG_LEVEL_WARN] = { "warn", LOG_WARNING },
	[LOG_LEVEL_INFO] = { "info", LOG_INFO },
	[LOG_LEVEL_DEBUG] = { "debug", LOG_DEBUG },
};

static const char *open_error(int error)
{
	if (error == ELOOP)
		return "it is a symbolic link; name the file it points to";
	if (error == ENXIO)
		return "nobody reads this pipe";
	return strerror(error);
}

static enum status open_file(const char *path, int *fd, struct reason *why)
{
	/* Non-blocking: it may be a pipe. */
	*fd = open(path,
	    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
	    0640);
	if (*fd < 0)
		return reason_set(why, "cannot open log file %s: %s", path, open_error(errno));
	return STATUS_OK;
}

enum status log_open(
    const char *target, enum log_level level, enum log_format format, struct reason *why)
{
	enum log_target kind = TARGET_FILE;
	int fd = STDERR_FILENO;

	if (strcmp(target, "stderr") == 0)
		kind = TARGET_STDERR;
	else if (strcmp(target, "syslog") == 0)
		kind = TARGET_SYSLOG;
	if (kind == TARGET_FILE && open_file(target, &fd, why) != STATUS_OK)
		return STATUS_INVALID;
	if (kind == TARGET_SYSLOG)
		openlog("runneld", LOG_PID | LOG_NDELAY, LOG_DAEMON);
	if (log_state.target == TARGET_FILE)
		close(log_state.fd);
	log_state.target = kind;
	log_state.fd = fd;
	log_state.level = level;
	log_state.format = format;
	snprintf(log_state.path, sizeof(log_state.path), "%s", target);
	return STATUS_OK;
}

enum status log_reopen(struct reason *why)
{
	int fd;

	if (log_state.target != TARGET_FILE)
		return STATUS_OK;
	if (open_file(log_state.path, &fd, why) != STATUS_OK)
		return STATUS_INVALID;
	log_adopt_fd(fd);
	return STATUS_OK;
}

int log_fd(void)
{
	return log_state.target == TARGET_FILE ? log_state.fd : -1;
}

void log_adopt_fd(int fd)
{
	/* In one step: whatever thread logs meanwhile, its line goes to one file or the other. */
	if (log_state.target == TARGET_FILE)
		dup3(fd, log_state.fd, O_CLOEXEC);
	close(fd);
}

void log_set_process(const char *name)
{
	snprintf(log_state.process, sizeof(log_state.process), "%s", name);
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

/* The bytes of the UTF-8 character (RFC 3629, 4) that text begins with; 0: it is none. */
static size_t utf8_length(const char *text)
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

/*
 * What stands in a line for the character at text, of len bytes (0: a byte that is no UTF-8):
 * NULL for itself, or an escape, made in out. Escaped is what JSON wants escaped, control
 * characters, with those of C1 (U+0080 to U+009F, which terminals obey), and what is not UTF-8.
 */
static const char *escape(const char *text, size_t len, bool is_json, char out[8])
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

/* A part that fits: all but the message is short. */
PRINTF_LIKE(2, 3) static void add(struct line *line, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	line->len +=
	    (size_t)vsnprintf(line->text + line->len, LINE_SIZE - line->len, fmt, args);
	va_end(args);
}

/* As much of text as there is room for; the last character is whole. */
static void add_escaped(struct line *line, const char *text, bool is_json)
{
	while (*text != '\0') {
		size_t len = utf8_length(text), n;
		char out[8];
		const char *escaped = escape(text, len, is_json, out);

		n = escaped != NULL ? strlen(escaped) : len;
		if (line->len + n > LINE_SIZE - END_SIZE) {
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

static void format_json(struct line *line, enum log_level level, const char *message)
{
	char time_text[40];

	format_time(time_text);
	add(line, "{\"time\":\"%s\",\"level\":\"%s\",\"process\":\"", time_text,
	    levels[level].name);
	add_escaped(line, log_state.process, true);
	add(line, "\",\"pid\":%d,\"message\":\"", (int)getpid());
	add_escaped(line, message, true);
	add(line, "\"}\n");
}

/* syslog adds time, level and pid itself. */
static void format_text(struct line *line, enum log_level level, const char *message)
{
	char time_text[40];

	if (log_state.target == TARGET_PLAIN) {
		add_escaped(line, log_state.process, false);
		add(line, ": ");
	} else if (log_state.target == TARGET_SYSLOG) {
		add_escaped(line, log_state.process, false);
		add(line, ": ");
	} else {
		format_time(time_text);
		add(line, "%s %s ", time_text, levels[level].name);
		add_escaped(line, log_state.process, false);
		add(line, "[%d]: ", (int)getpid());
	}
	add_escaped(line, message, false);
	add(line, "\n");
}

static void write_line(const struct line *line)
{
	ssize_t n;

	do
		n = write(log_state.fd, line->text, line->len);
	while (n < 0 && errno == EINTR);
}

void log_va(enum log_level level, const char *fmt, va_list args)
{
	char message[LINE_SIZE]; /* more than a line has room for, so a cut shows */
	int saved_errno = errno;
	struct line line;

	if (!log_is_enabled(level))
		return;
	vsnprintf(message, sizeof(message), fmt, args);
	line.len = 0;
	if (log_state.format == LOG_FORMAT_JSON && log_state.target != TARGET_PLAIN)
		format_json(&line, level, message);
	else
		format_text(&line, level, message);
	if (log_state.target == TARGET_SYSLOG)
		syslog(levels[level].priority, "%.*s", (int)line.len - 1, line.text);
	else
		write_line(&line);
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
