/*
 * The master: owns the conf, the listening sockets, the slots' pages and the pid
 * file, and has generations of workers serve. It touches no client's bytes and
 * loads no module.
 */
#ifndef RUNNEL_MASTER_MASTER_H
#define RUNNEL_MASTER_MASTER_H

#include <stdbool.h>

struct master_options {
	const char *conf_path;
	const char *program; /* as it was called: argv[0] */
	bool is_foreground;
	bool is_verbose; /* log debug lines too, whatever the conf says */
};

/* Serve until a signal says stop. Returns the exit status. */
int master_run(const struct master_options *options);

/*
 * Check the conf and the modules; print the conf in force if is_printing. Returns the exit
 * status.
 */
int master_check(const struct master_options *options, bool is_printing);

#endif
