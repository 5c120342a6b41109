/*
 * What runnelctl can do: a table, which command line, help and completion are held
 * against.
 */
#ifndef RUNNEL_CTL_COMMAND_H
#define RUNNEL_CTL_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl/options.h"

/* Exit statuses; 3 and 4 are LSB's for the status of a service. */
enum {
	COMMAND_DONE = 0,
	COMMAND_FAILED = 1,
	COMMAND_USAGE = 2,
	COMMAND_NOT_RUNNING = 3,
	COMMAND_UNKNOWN = 4,
};

#define COMMAND_NO_LIMIT INT64_MAX

struct command {
	const char *name;     /* also the verb of the request */
	const char *argument; /* what it wants; NULL: nothing */
	const char *text;     /* one line for people */
	int64_t limit_ms;     /* of the wait for its answer */
	bool is_watched;      /* it takes --watch and --interval */
	bool is_query;        /* it takes --sort, --filter and --limit */
	/* Returns the exit status; says on standard error what went wrong. */
	int (*run)(const struct options *options, const char *socket);
};

extern const struct command commands[];
extern const size_t n_commands;

/* NULL: there is none. */
const struct command *command_find(const char *name);

/* Find the socket and run the command; likewise. */
int command_run(const struct options *options);

#endif
