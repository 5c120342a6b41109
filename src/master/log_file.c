#include "config.h"

#include "master/guard.h"
#include "master/log_file.h"

static enum status guard(
    const char *target, const struct privileges *privileges, struct reason *why)
{
	/* stderr and syslog have no path. */
	return target[0] == '/' ? guard_path(target, "log file", privileges, why) : STATUS_OK;
}

enum status log_file_open(const char *target, enum log_level level, enum log_format format,
    const struct privileges *privileges, struct reason *why)
{
	if (guard(target, privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	return log_open(target, level, format, why);
}

enum status log_file_reopen(
    const char *target, const struct privileges *privileges, struct reason *why)
{
	if (log_fd() < 0)
		return reason_set(why, "the log is no file: nothing to open anew");
	if (guard(target, privileges, why) != STATUS_OK || log_reopen(why) != STATUS_OK)
		return STATUS_INVALID;
	log_info("log file opened anew");
	return STATUS_OK;
}
