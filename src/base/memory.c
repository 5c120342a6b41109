#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/memory.h"

static _Noreturn void out_of_memory(void)
{
	log_error("out of memory");
	exit(1);
}

void *must_alloc(size_t n, size_t size)
{
	void *memory = calloc(n == 0 ? 1 : n, size);

	if (memory == NULL)
		out_of_memory();
	return memory;
}

char *must_strdup(const char *text)
{
	char *copy;

	if (text == NULL)
		return NULL;
	copy = strdup(text);
	if (copy == NULL)
		out_of_memory();
	return copy;
}

char *must_printf(const char *fmt, ...)
{
	va_list args;
	char *text;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	if (len < 0)
		out_of_memory();
	return text;
}

FILE *must_stream(char **text, size_t *size)
{
	FILE *stream = open_memstream(text, size);

	if (stream == NULL)
		out_of_memory();
	return stream;
}
