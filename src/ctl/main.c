/*
 * runnelctl: an operator's requests to a daemon that runs; see runnelctl(8).
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>

#include "base/log.h"
#include "base/streams.h"

#include "ctl/command.h"
#include "ctl/exchange.h"
#include "ctl/options.h"

int main(int argc, char **argv)
{
	struct options options;
	struct reason why = { "" };

	streams_ensure();
	/* Then the write fails, which is told. */
	signal(SIGXFSZ, SIG_IGN);
	log_set_process("runnelctl");
	if (options_parse(argc, argv, &options, &why) != STATUS_OK) {
		log_error("%s; runnelctl -h shows how to use it", why.text);
		return COMMAND_USAGE;
	}
	if (options.conf_path == NULL)
		options.conf_path = DEFAULT_CONF;
	if (options.is_help)
		options_print_help(DEFAULT_CONF, stdout);
	else if (options.is_version)
		puts("runnelctl " PACKAGE_VERSION);
	else
		return command_run(&options);
	return exchange_flush(stdout);
}
