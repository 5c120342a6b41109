/*
 * A conf file, read once into memory: it may be replaced at any time, and what
 * was checked must be what is used.
 */
#ifndef RUNNEL_SETTINGS_FILE_H
#define RUNNEL_SETTINGS_FILE_H

#include "base/status.h"

#define FILE_MAX_BYTES (1024u * 1024u)

/*
 * *text is the caller's, ends with a NUL and has no other; free(). STATUS_INVALID: it cannot be
 * read, is longer than FILE_MAX_BYTES, or has a NUL byte.
 */
enum status file_read(const char *path, char **text, struct reason *why) MUST_CHECK;

#endif
