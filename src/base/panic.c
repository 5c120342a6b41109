#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/panic.h"

static struct panic_page *panic_page;

void panic_set_page(struct panic_page *page)
{
	panic_page = page;
}

void panic_enter(const char *fmt, ...)
{
	va_list args;

	if (panic_page == NULL)
		return;
	va_start(args, fmt);
	vsnprintf(panic_page->stage, sizeof(panic_page->stage), fmt, args);
	va_end(args);
}

void panic_leave(void)
{
	if (panic_page != NULL)
		panic_page->stage[0] = '\0';
}

void panic_at(const char *file, int line, const char *what)
{
	if (panic_page != NULL)
		snprintf(
		    panic_page->text, sizeof(panic_page->text), "%s:%d: %s", file, line, what);
	log_error("bug: %s:%d: %s does not hold", file, line, what);
	abort();
}

void panic_because(const char *fmt, ...)
{
	struct panic_page own = { .text = "" };
	struct panic_page *page = panic_page != NULL ? panic_page : &own;
	va_list args;

	va_start(args, fmt);
	vsnprintf(page->text, sizeof(page->text), fmt, args);
	va_end(args);
	log_error("bug: %s", page->text);
	abort();
}
