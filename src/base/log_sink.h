/*
 * Where the lines of a log go: a file, a pipe or a socket, one write for each line.
 * Nobody waits for it: a line that is not taken at once is lost, and the next one
 * that is taken has a line before it that says how many are missing.
 */
#ifndef RUNNEL_BASE_LOG_SINK_H
#define RUNNEL_BASE_LOG_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log_line.h"
#include "base/status.h"

struct log_sink {
	int fd;         /* -1: none */
	bool is_owned;  /* fd is closed with the sink */
	bool is_file;   /* a regular one, which other processes write, too */
	bool is_socket; /* send(2) has a flag for what open(2) cannot say of it */
	bool is_torn;   /* the last line went in part: the disk is full */
	uint64_t n_lost;
	int error; /* errno of the last loss */
};

/*
 * A file, created with mode 0640, appended to, never through a symbolic link; what is "log file"
 * or the like. STATUS_INVALID: *why, and the sink is as it was.
 */
enum status log_sink_open(
    struct log_sink *sink, const char *path, const char *what, struct reason *why) MUST_CHECK;

/* Standard error. Where it is a pipe, with a description of its own that does not block. */
void log_sink_open_stderr(struct log_sink *sink);

/*
 * Go on with a descriptor, which is closed: the sink's own keeps its number. In one step, so that
 * a line goes to one file or the other, whatever thread logs meanwhile.
 */
void log_sink_adopt(struct log_sink *sink, int fd);

/* False: the line is lost. */
bool log_sink_put(struct log_sink *sink, const struct log_head *head, const char *message,
    const struct log_field *fields, size_t n_fields);

/* Does nothing to one that is closed. */
void log_sink_close(struct log_sink *sink);

#endif
