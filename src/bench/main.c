/*
 * runnel-bench: drives a server with many connections, checks every reply, and
 * reports. Exit status: 0 all went right, 1 a request or a connect failed, 2 the
 * command line or the set-up is no good.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/compare.h"
#include "bench/json.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/run.h"

enum { EXIT_CLEAN = 0, EXIT_FAILED = 1, EXIT_TROUBLE = 2 };

static int trouble(const struct reason *why)
{
	fprintf(stderr, "runnel-bench: %s\n", why->text);
	return EXIT_TROUBLE;
}

static int measure(const struct options *options)
{
	struct reason why;
	struct run *run;
	int json_fd = -1;
	int status;

	if (options->json_path != NULL &&
	    json_open(options->json_path, &json_fd, &why) != STATUS_OK)
		return trouble(&why);
	if (run_new(options, &run, &why) != STATUS_OK)
		return trouble(&why);
	if (!options->is_quiet)
		report_print(run, stdout);
	fflush(stdout);
	status = run_is_clean(run) ? EXIT_CLEAN : EXIT_FAILED;
	if (json_fd >= 0 && json_write(run, options->json_path, json_fd, &why) != STATUS_OK)
		status = trouble(&why);
	run_destroy(&run);
	return status;
}

static int compare(const char *const paths[2])
{
	struct summary before, after;
	struct reason why;

	if (json_read(paths[0], &before, &why) != STATUS_OK ||
	    json_read(paths[1], &after, &why) != STATUS_OK)
		return trouble(&why);
	compare_print(&before, &after, stdout);
	return EXIT_CLEAN;
}

int main(int argc, char **argv)
{
	struct options options;
	struct reason why;

	if (options_parse(argc, argv, &options, &why) != STATUS_OK)
		return trouble(&why);
	switch (options.command) {
	case COMMAND_RUN:
		return measure(&options);
	case COMMAND_COMPARE:
		return compare(options.compare_paths);
	case COMMAND_HELP:
		options_print_help(stdout);
		return EXIT_CLEAN;
	case COMMAND_VERSION:
	default:
		puts("runnel-bench " PACKAGE_VERSION);
		return EXIT_CLEAN;
	}
}
