/*
 * The command line of runneld; see runneld(8).
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <ev.h>
#include <runnel/module.h>

#include "base/streams.h"
#include "master/master.h"
#include "master/send.h"

#define EXIT_USAGE 2

static const char usage[] =
    "usage: runneld [-FtTvV] [-c file]\n"
    "       runneld -s verb [-c file | -P file]\n"
    "  -c file  the conf (default " DEFAULT_CONF ")\n"
    "  -F       stay in the foreground\n"
    "  -P file  with -s: the control socket or pid file of the daemon\n"
    "  -s verb  tell the daemon that runs: stop, fast-stop, quit, reload,\n"
    "           reopen, upgrade; or ask for its status\n"
    "  -t       check the conf and the modules, and exit\n"
    "  -T       print the conf in force, with all defaults, and exit\n"
    "  -v       log debug lines too\n"
    "  -V       print version and build options, and exit\n"
    "See runneld(8).\n";

static void print_version(void)
{
	printf("runneld " PACKAGE_VERSION "\n"
	       "module ABI %d.%d\n"
	       "libev %d.%d\n"
	       "modules in " MODULE_DIR "\n"
	       "built with " BUILD_OPTIONS "\n",
	    RNL_ABI_MAJOR, RNL_ABI_MINOR, ev_version_major(), ev_version_minor());
}

static _Noreturn void refuse_usage(void)
{
	fputs(usage, stderr);
	exit(EXIT_USAGE);
}

/*
 * Whoever started us may have left signals blocked or ignored, and exec keeps
 * both: TERM would not be heard, nor the end of a child.
 */
static void reset_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGCHLD, SIG_DFL);
	/* Beyond the limit of file sizes a write fails: that ends no process, master or worker. */
	signal(SIGXFSZ, SIG_IGN);
}

static int send_verb(struct send_options *send, const struct master_options *options)
{
	if (!send_knows(send->verb)) {
		fprintf(stderr, "runneld: -s does not know '%s'\n", send->verb);
		refuse_usage();
	}
	send->conf_path = options->conf_path;
	return send_run(send);
}

int main(int argc, char **argv)
{
	struct master_options options = { .conf_path = DEFAULT_CONF, .program = argv[0] };
	bool is_checking = false, is_printing = false;
	struct send_options send = { 0 };
	int opt;

	streams_ensure();
	reset_signals();
	while ((opt = getopt(argc, argv, "c:FP:s:tTvVh")) != -1) {
		switch (opt) {
		case 'c':
			options.conf_path = optarg;
			break;
		case 'F':
			options.is_foreground = true;
			break;
		case 'P':
			send.target = optarg;
			break;
		case 's':
			send.verb = optarg;
			break;
		case 't':
			is_checking = true;
			break;
		case 'T':
			is_printing = true;
			break;
		case 'v':
			options.is_verbose = true;
			break;
		case 'V':
			print_version();
			return 0;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			refuse_usage();
		}
	}
	if (optind < argc) {
		fprintf(stderr, "runneld: unexpected argument '%s'\n", argv[optind]);
		refuse_usage();
	}
	/* -s is for another process, and does not go with what this one would do. */
	if (send.verb != NULL ? is_checking || is_printing || options.is_foreground
			      : send.target != NULL) {
		fputs("runneld: -s goes with -c and -P only, and -P with -s\n", stderr);
		refuse_usage();
	}
	if (send.verb != NULL)
		return send_verb(&send, &options);
	if (is_checking || is_printing)
		return master_check(&options, is_printing);
	return master_run(&options);
}
