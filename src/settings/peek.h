/*
 * How to reach the daemon that was started with a conf, also when the conf is no
 * longer good: a broken conf must not keep an operator from stopping the daemon.
 */
#ifndef RUNNEL_SETTINGS_PEEK_H
#define RUNNEL_SETTINGS_PEEK_H

#include <stdint.h>

#include "base/status.h"

struct peek {
	char *control_socket; /* NULL: none, or not found */
	char *pid_file;       /* likewise */
	uint32_t drain_timeout_ms;
};

/*
 * Of the file at path, or of text when it is not NULL (path is then only what errors call it).
 * Only these options are looked at, up to the first place where the text cannot be followed.
 * *peek is filled in in any case, with the default of what was not found, and is the caller's:
 * peek_free(). STATUS_INVALID: *why says what could not be read.
 */
enum status peek_read(
    const char *path, const char *text, struct peek *peek, struct reason *why) MUST_CHECK;

void peek_free(struct peek *peek);

#endif
