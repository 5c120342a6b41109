#include "config.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/status.h"

enum status reason_set(struct reason *reason, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(reason->text, sizeof(reason->text), fmt, args);
	va_end(args);
	return STATUS_INVALID;
}
