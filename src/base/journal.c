#include "config.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/journal.h"
#include "base/log_sink.h"

enum journal_target { TARGET_OFF, TARGET_LOG, TARGET_FILE };

static struct {
	enum journal_target target;
	enum log_format format;
	struct log_sink sink; /* of a file */
	char path[PATH_MAX];
	struct log_cap losses;
} journal = { .sink = { .fd = -1 } };

enum status journal_open(const char *target, enum log_format format, struct reason *why)
{
	enum journal_target kind = TARGET_FILE;

	if (strcmp(target, "off") == 0)
		kind = TARGET_OFF;
	else if (strcmp(target, "log") == 0)
		kind = TARGET_LOG;
	if (kind != TARGET_FILE)
		log_sink_close(&journal.sink);
	else if (log_sink_open(&journal.sink, target, "connection log", why) != STATUS_OK)
		return STATUS_INVALID;
	journal.target = kind;
	journal.format = format;
	snprintf(journal.path, sizeof(journal.path), "%s", target);
	return STATUS_OK;
}

enum status journal_reopen(struct reason *why)
{
	struct log_sink fresh = { .fd = -1 };

	if (journal.target != TARGET_FILE)
		return STATUS_OK;
	if (log_sink_open(&fresh, journal.path, "connection log", why) != STATUS_OK)
		return STATUS_INVALID;
	journal_adopt_fd(fresh.fd);
	return STATUS_OK;
}

int journal_fd(void)
{
	return journal.target == TARGET_FILE ? journal.sink.fd : -1;
}

void journal_adopt_fd(int fd)
{
	if (journal.target == TARGET_FILE)
		log_sink_adopt(&journal.sink, fd);
	else
		close(fd);
}

bool journal_is_open(void)
{
	return journal.target != TARGET_OFF;
}

static void write_file(
    const char *message, const struct log_field *fields, size_t n_fields, uint64_t now_ms)
{
	const struct log_head head = {
		.format = journal.format,
		.level = LOG_LEVEL_INFO,
		.process = log_process(),
	};
	char rest[LOG_REST_SIZE];

	if (log_sink_put(&journal.sink, &head, message, fields, n_fields))
		return;
	if (log_cap_allows(&journal.losses, now_ms, rest))
		log_warn("connection log %s: a line is lost: %s%s", journal.path,
		    strerror(journal.sink.error), rest);
}

void journal_write(
    const char *message, const struct log_field *fields, size_t n_fields, uint64_t now_ms)
{
	if (journal.target == TARGET_LOG)
		log_with_fields(LOG_LEVEL_INFO, message, fields, n_fields);
	else if (journal.target == TARGET_FILE)
		write_file(message, fields, n_fields, now_ms);
}
