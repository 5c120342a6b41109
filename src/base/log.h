/*
 * The log of this process: lines to stderr, syslog or a file, as text or JSON.
 * One line is one write(2), so processes that share a file do not mix lines.
 *
 * Text: 2026-11-30T09:15:02.123Z info worker 0[1234]: listening on 127.0.0.1:8888
 * JSON: {"time":"...","level":"info","process":"worker 0","pid":1234,"message":"..."}
 *
 * Control characters of a message, and bytes that are not UTF-8, are escaped: a
 * line stays one line, and valid JSON, whatever a peer sent. A message that is too
 * long for a line of 2 KiB is cut and ends in "...".
 */
#ifndef RUNNEL_BASE_LOG_H
#define RUNNEL_BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

/*
 * Direct the log: "stderr", "syslog" or a file's path (created with mode 0640,
 * appended to, never through a symbolic link). Until the first call it goes to
 * stderr as plain "runneld: message" lines without time, which is how a
 * command line tool speaks; one of another name sets that as its process. On failure the log stays where it was.
 */
enum status log_open(const char *target, enum log_level level, enum log_format format,
    struct reason *why) MUST_CHECK;

/*
 * Open the file anew by its name, after somebody has moved it away; without a file, nothing
 * happens. STATUS_INVALID: lines go on to the old one.
 */
enum status log_reopen(struct reason *why) MUST_CHECK;

/* The file's descriptor, borrowed; -1: the log goes elsewhere. */
int log_fd(void);

/* Go on in a file that another process has opened; fd is closed. */
void log_adopt_fd(int fd);

/* What this process is called in its lines: "master", "worker 0". Copied. */
void log_set_process(const char *name);

/* What it was given last. */
const char *log_process(void);

/* From now on, till log_open() sets another. */
void log_set_level(enum log_level level);

bool log_is_enabled(enum log_level level);

/* Does a line appear on standard error? */
bool log_is_on_stderr(void);

void log_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
void log_debug(const char *fmt, ...) PRINTF_LIKE(1, 2);
/*
 * A line with more than a message, for programs to read. In text " name=value" follows the
 * message, in JSON a member of that name. Names, and texts, have no spaces and quotes.
 */
struct log_field {
	const char *name;
	const char *text; /* NULL: number is the value */
	uint64_t number;
};

void log_with_fields(
    enum log_level level, const char *message, const struct log_field *fields, size_t n_fields);
void log_va(enum log_level level, const char *fmt, va_list args) PRINTF_LIKE(2, 0);

/*
 * At most one line a second of a kind. When it may be written now, rest is what to
 * put at its end: nothing, or how many were left out since the last.
 */
struct log_cap {
	uint64_t next_ms;
	uint64_t n_left_out;
};

#define LOG_REST_SIZE 48
bool log_cap_allows(struct log_cap *cap, uint64_t now_ms, char rest[LOG_REST_SIZE]);

/*
 * So many lines a second for what each of many connections may log under a cap of its own. What is
 * left out is counted, and said in a line of its own before the next that is not.
 */
#define LOG_BUDGET_LINES 20

struct log_budget {
	const char *what; /* the lines are about */
	uint64_t next_ms;
	unsigned int n_lines;
	uint64_t n_left_out;
};

bool log_budget_allows(struct log_budget *budget, uint64_t now_ms);

#endif
