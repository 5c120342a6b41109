/*
 * The command line of runnel-bench.
 */
#ifndef RUNNEL_BENCH_OPTIONS_H
#define RUNNEL_BENCH_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/status.h"

struct framing;

#define OPTIONS_SERVER_PIDS_MAX 16

enum command { COMMAND_RUN, COMMAND_COMPARE, COMMAND_HELP, COMMAND_VERSION };

/* What is sent: one c10k message, all four at random, or bytes for an echo. */
enum load { LOAD_ID, LOAD_MIX, LOAD_ECHO };

struct options {
	enum command command;
	char host[256];                /* without the brackets of [::1] */
	char service[32];              /* port number or name */
	const char *compare_paths[2];  /* borrowed from argv, like all texts here */
	const char *json_path;         /* NULL: none */
	const char *title;             /* NULL: none */
	const struct framing *framing; /* a static one */
	enum load load;
	uint64_t message_id; /* with LOAD_ID */
	uint64_t echo_bytes; /* with LOAD_ECHO */
	uint64_t n_connections;
	uint64_t n_requests;   /* per connection; 0: as many as duration_ns allows */
	uint64_t n_warmup;     /* requests per connection before the measured ones */
	uint64_t n_in_flight;  /* requests per connection */
	uint64_t n_connecting; /* connects in flight, of all threads together */
	uint64_t n_threads;    /* 0: auto */
	uint64_t n_processes;  /* 0: auto */
	uint64_t duration_ns;  /* 0: bound by n_requests only */
	uint64_t think_ns;
	uint64_t deadline_ns;
	double reconnect_percent; /* of the replies are followed by a new connection */
	uint64_t seed;
	pid_t server_pids[OPTIONS_SERVER_PIDS_MAX];
	size_t n_server_pids;
	bool is_quiet;       /* no report, no progress */
	bool shows_progress; /* even where stderr is no terminal */
	bool hides_progress;
};

/*
 * Read the command line. STATUS_INVALID: *why says in one line what is wrong. Changes the order
 * of argv as getopt_long does.
 */
enum status options_parse(
    int argc, char **argv, struct options *options, struct reason *why) MUST_CHECK;

void options_print_help(FILE *out);

#endif
