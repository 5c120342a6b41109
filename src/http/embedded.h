/*
 * The files of the status page, which the build puts into the program (embed.sh).
 */
#ifndef RUNNEL_HTTP_EMBEDDED_H
#define RUNNEL_HTTP_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
	const char *name; /* page.html */
	const unsigned char *bytes;
	size_t len;
};

extern const struct embedded_file embedded_files[];
extern const size_t n_embedded_files;

#endif
