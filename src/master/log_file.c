#include "config.h"

#include "base/journal.h"
#include "master/guard.h"
#include "master/log_file.h"

/* stderr, syslog and the like have no path. */
static enum status guard(const char *target, const char *what,
    const struct privileges *privileges, struct reason *why)
{
	return target[0] == '/' ? guard_path(target, what, privileges, why) : STATUS_OK;
}

enum status log_file_open(const char *target, enum log_level level, enum log_format format,
    const struct privileges *privileges, struct reason *why)
{
	if (guard(target, "log file", privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	return log_open(target, level, format, why);
}

enum status log_file_reopen(
    const char *target, const struct privileges *privileges, struct reason *why)
{
	if (guard(target, "log file", privileges, why) != STATUS_OK ||
	    log_reopen(why) != STATUS_OK)
		return STATUS_INVALID;
	log_info("log file opened anew");
	return STATUS_OK;
}

enum status journal_file_open(const char *target, enum log_format format,
    const struct privileges *privileges, struct reason *why)
{
	if (guard(target, "connection log", privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	return journal_open(target, format, why);
}

enum status journal_file_reopen(
    const char *target, const struct privileges *privileges, struct reason *why)
{
	if (guard(target, "connection log", privileges, why) != STATUS_OK ||
	    journal_reopen(why) != STATUS_OK)
		return STATUS_INVALID;
	log_info("connection log opened anew");
	return STATUS_OK;
}
