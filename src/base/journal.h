/*
 * The journal: lines about connections, with fields for programs to read. It is a file of its
 * own, or goes to the log, in the format of the log. As the log, it belongs to the process:
 * workers inherit what the master has opened.
 */
#ifndef RUNNEL_BASE_JOURNAL_H
#define RUNNEL_BASE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "base/status.h"

/* Direct it: "off", "log" or a file's path. STATUS_INVALID: *why; it stays where it was. */
enum status journal_open(
    const char *target, enum log_format format, struct reason *why) MUST_CHECK;

/* As log_reopen(). */
enum status journal_reopen(struct reason *why) MUST_CHECK;

/* The file's descriptor, borrowed; -1: it has no file. */
int journal_fd(void);

/* As log_adopt_fd(). */
void journal_adopt_fd(int fd);

/* False: nobody reads it. */
bool journal_is_open(void);

/*
 * Lines of level info. One that a file does not take at once is lost, which the log says, at most
 * once a second. now_ms is the monotonic clock.
 */
void journal_write(
    const char *message, const struct log_field *fields, size_t n_fields, uint64_t now_ms);

#endif
