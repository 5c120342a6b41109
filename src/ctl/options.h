/*
 * The command line of runnelctl; see runnelctl(8).
 */
#ifndef RUNNEL_CTL_OPTIONS_H
#define RUNNEL_CTL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

struct command;

struct options {
	const struct command *command; /* NULL: only help or the version is wanted */
	const char *argument;          /* the command's; NULL: it takes none */
	const char *conf_path;
	const char *socket;        /* NULL: the conf names it */
	bool is_json;              /* print answers as they came */
	bool is_watch;             /* look again and again */
	int64_t interval_ms;       /* between two looks; 0: one look has to do */
	int64_t wait_ms;           /* for an answer; -1: as the command does by itself */
	const char *sort, *filter; /* of conns; NULL: not given */
	int64_t limit;             /* likewise; 0 */
	bool is_help, is_version;
};

/* STATUS_INVALID: *why says what is wrong. Pointers are borrowed from argv. */
enum status options_parse(
    int argc, char **argv, struct options *options, struct reason *why) MUST_CHECK;

void options_print_help(const char *conf_path, FILE *out);

#endif
