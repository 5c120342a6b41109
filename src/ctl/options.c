#include "config.h"

#include <ctype.h>
#include <getopt.h>
#include <string.h>

#include "base/escape.h"
#include "base/units.h"

#include "ctl/command.h"
#include "ctl/options.h"

#define INTERVAL_MS 1000

/* Of connections in an answer: the daemon's. */
#define MAX_LIMIT 10000

static const struct option long_options[] = {
	{ "conf", required_argument, NULL, 'c' },
	{ "filter", required_argument, NULL, 'f' },
	{ "help", no_argument, NULL, 'h' },
	{ "interval", required_argument, NULL, 'i' },
	{ "json", no_argument, NULL, 'j' },
	{ "limit", required_argument, NULL, 'l' },
	{ "socket", required_argument, NULL, 's' },
	{ "sort", required_argument, NULL, 'o' },
	{ "version", no_argument, NULL, 'V' },
	{ "wait", required_argument, NULL, 'w' },
	{ "watch", no_argument, NULL, 'W' },
	{ NULL, 0, NULL, 0 },
};

static enum status parse_duration(
    const char *name, const char *text, int64_t *ms, struct reason *why)
{
	if (units_parse_duration(text, ms) != STATUS_OK)
		return reason_set(why,
		    "--%s: '%s' is no duration; give one with its unit, as 500ms or 2s", name,
		    text);
	return STATUS_OK;
}

/* The orders that runneld knows. */
static enum status parse_sort(const char *text, const char **sort, struct reason *why)
{
	static const char *const orders[] = { "id", "age", "idle", "queue" };

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++) {
		if (strcmp(orders[i], text) == 0) {
			*sort = text;
			return STATUS_OK;
		}
	}
	return reason_set(why, "--sort: there is no '%s'; give id, age, idle or queue", text);
}

/* After getopt_long(): a letter among others is told by optopt alone. */
static enum status refuse_option(char **argv, struct reason *why)
{
	if (optopt == 0)
		return reason_set(why, "there is no option %s", argv[optind - 1]);
	if (isdigit(optopt))
		return reason_set(why, "no number that a command takes is negative");
	return reason_set(why, "there is no option -%c", optopt);
}

static enum status take_option(
    int letter, char **argv, struct options *options, struct reason *why)
{
	switch (letter) {
	case 'c':
		options->conf_path = optarg;
		break;
	case 'f':
		options->filter = optarg;
		break;
	case 'h':
		options->is_help = true;
		break;
	case 'i':
		return parse_duration("interval", optarg, &options->interval_ms, why);
	case 'j':
		options->is_json = true;
		break;
	case 'l':
		if (units_parse_number(optarg, &options->limit) != STATUS_OK ||
		    options->limit < 1 || options->limit > MAX_LIMIT)
			return reason_set(
			    why, "--limit: '%s' is no number from 1 to %d", optarg, MAX_LIMIT);
		break;
	case 'o':
		return parse_sort(optarg, &options->sort, why);
	case 's':
		if (optarg[0] == '\0')
			return reason_set(why, "--socket: '' is no path");
		options->socket = optarg;
		break;
	case 'V':
		options->is_version = true;
		break;
	case 'w':
		return parse_duration("wait", optarg, &options->wait_ms, why);
	case 'W':
		options->is_watch = true;
		break;
	case ':':
		return reason_set(why, "%s wants a value", argv[optind - 1]);
	default:
		return refuse_option(argv, why);
	}
	return STATUS_OK;
}

/* The command, its argument, and nothing else. */
static enum status take_words(int n, char **words, struct options *options, struct reason *why)
{
	const struct command *command = n > 0 ? command_find(words[0]) : NULL;
	int n_wanted;

	if (n == 0)
		return reason_set(why, "no command is given");
	if (command == NULL)
		return reason_set(why, "there is no command '%s'", words[0]);
	n_wanted = command->argument != NULL ? 2 : 1;
	if (n < n_wanted)
		return reason_set(why, "%s wants its %s", command->name, command->argument);
	if (n > n_wanted)
		return reason_set(why, "unexpected argument '%s'", words[n_wanted]);
	options->command = command;
	options->argument = n_wanted == 2 ? words[1] : NULL;
	return STATUS_OK;
}

/* The request is JSON. */
static bool is_sendable(const char *text)
{
	return text == NULL || utf8_is_valid(text);
}

static enum status check(const struct options *options, bool has_interval, struct reason *why)
{
	if (!options->command->is_watched && (options->is_watch || has_interval))
		return reason_set(
		    why, "%s has no --watch and no --interval", options->command->name);
	if (!options->command->is_query &&
	    (options->sort != NULL || options->filter != NULL || options->limit > 0))
		return reason_set(
		    why, "%s has no --sort, --filter and --limit", options->command->name);
	if (!is_sendable(options->argument) || !is_sendable(options->filter) ||
	    !is_sendable(options->sort))
		return reason_set(
		    why, "what is given to %s is not UTF-8", options->command->name);
	if (options->is_watch && options->interval_ms == 0)
		return reason_set(why, "--interval: 0 is nothing to wait between two looks");
	return STATUS_OK;
}

enum status options_parse(int argc, char **argv, struct options *options, struct reason *why)
{
	bool has_interval = false;
	int letter;

	*options = (struct options){ .interval_ms = INTERVAL_MS, .wait_ms = -1 };
	optind = 1;
	opterr = 0;
	while ((letter = getopt_long(argc, argv, ":c:f:hi:jl:o:s:Vw:W", long_options, NULL)) !=
	       -1) {
		has_interval |= letter == 'i';
		if (take_option(letter, argv, options, why) != STATUS_OK)
			return STATUS_INVALID;
	}
	if (options->is_help || options->is_version)
		return STATUS_OK;
	if (take_words(argc - optind, argv + optind, options, why) != STATUS_OK)
		return STATUS_INVALID;
	return check(options, has_interval, why);
}

void options_print_help(const char *conf_path, FILE *out)
{
	fputs("usage: runnelctl [options] command\n\ncommands\n", out);
	for (size_t i = 0; i < n_commands; i++) {
		const struct command *command = &commands[i];
		char words[32];

		snprintf(words, sizeof(words), "%s%s%s", command->name,
		    command->argument != NULL ? " " : "",
		    command->argument != NULL ? command->argument : "");
		fprintf(out, "  %-16s %s\n", words, command->text);
	}
	fprintf(out,
	    "\noptions\n"
	    "  -c, --conf FILE      the conf that names the control socket\n"
	    "                       (default %s)\n"
	    "  -f, --filter TEXT    conns: those whose peer or listener has TEXT in it\n"
	    "  -i, --interval TIME  between two looks of status (default 1s); 0: one look\n"
	    "  -j, --json           print the answer as it came\n"
	    "  -l, --limit NUMBER   conns: no more than so many (default 100)\n"
	    "  -o, --sort ORDER     conns: by id, age, idle or queue (default id)\n"
	    "  -s, --socket PATH    the control socket\n"
	    "  -w, --wait TIME      wait no longer for an answer\n"
	    "  -W, --watch          status: look again and again, until Ctrl-C\n"
	    "  -h, --help           this\n"
	    "  -V, --version        print the version of runnelctl\n"
	    "See runnelctl(8).\n",
	    conf_path);
}
