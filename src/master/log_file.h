/*
 * The log of the daemon, and that of its connections: opened by the master, which does
 * so again when the file was moved away. Workers get the descriptor, so they need no right to
 * open it.
 */
#ifndef RUNNEL_MASTER_LOG_FILE_H
#define RUNNEL_MASTER_LOG_FILE_H

#include "base/log.h"
#include "base/status.h"

struct privileges;

/*
 * As log_open(), but a file that the user of the workers could replace is refused.
 */
enum status log_file_open(const char *target, enum log_level level, enum log_format format,
    const struct privileges *privileges, struct reason *why) MUST_CHECK;

/*
 * Open the file anew, and say so in it. Workers have to be told then:
 * succession_pass_log(). STATUS_INVALID: *why; lines go on as before. There has to be a file.
 */
enum status log_file_reopen(
    const char *target, const struct privileges *privileges, struct reason *why) MUST_CHECK;

/* The same for the file of the journal. */
enum status journal_file_open(const char *target, enum log_format format,
    const struct privileges *privileges, struct reason *why) MUST_CHECK;
enum status journal_file_reopen(
    const char *target, const struct privileges *privileges, struct reason *why) MUST_CHECK;

#endif
