#include "config.h"

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

void panic_at(const char *file, int line, const char *what)
{
	if (panic_page != NULL)
		snprintf(
		    panic_page->text, sizeof(panic_page->text), "%s:%d: %s", file, line, what);
	log_error("bug: %s:%d: %s does not hold", file, line, what);
	abort();
}
