/*
 * One row per option says all about it: how it is spelt, what it takes, where the
 * value goes, and its line of help.
 */
#include "config.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "wire/framing.h"

#include "bench/options.h"

#define NS_PER_MS UINT64_C(1000000)
#define DURATION_MAX_MS (INT64_C(86400000) * 365)
#define ECHO_BYTES_MAX (INT64_C(16) << 20)

/* Set one option from its argument (NULL where it has none); false: the value is bad. */
typedef bool set_f(struct options *options, const char *text);

struct row {
	const char *name;
	char letter;          /* 0: has no short form */
	const char *argument; /* NULL: takes none */
	const char *help;
	set_f *set;    /* or, where NULL, a number: */
	size_t offset; /* of an uint64_t in struct options */
	uint64_t min, max;
	const char *wants; /* what a good value is, for an error */
};

static bool parse_u64(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return errno == 0 && *end == '\0';
}

/* Like units_parse_duration(), and "us" besides. */
static bool parse_duration_ns(const char *text, uint64_t *ns)
{
	size_t n_digits = strspn(text, "0123456789");
	int64_t ms;

	if (n_digits > 0 && n_digits < 10 && strcmp(text + n_digits, "us") == 0) {
		*ns = strtoull(text, NULL, 10) * 1000;
		return true;
	}
	if (units_parse_duration(text, &ms) != STATUS_OK || ms > DURATION_MAX_MS)
		return false;
	*ns = (uint64_t)ms * NS_PER_MS;
	return true;
}

/* "host:port", "[::1]:port"; a host without brackets has no colon. */
static bool set_target(struct options *options, const char *text)
{
	const char *colon = strrchr(text, ':');
	const char *host = text, *host_end = colon;

	if (colon == NULL || colon[1] == '\0' || strlen(colon + 1) >= sizeof(options->service))
		return false;
	if (text[0] == '[') {
		if (colon[-1] != ']')
			return false;
		host++;
		host_end--;
	} else if (strchr(text, ':') != colon) {
		return false;
	}
	if (host_end <= host || (size_t)(host_end - host) >= sizeof(options->host))
		return false;
	memcpy(options->host, host, (size_t)(host_end - host));
	options->host[host_end - host] = '\0';
	strcpy(options->service, colon + 1);
	return true;
}

static bool set_framing(struct options *options, const char *text)
{
	const struct framing *framings[] = { &framing_tlv, &framing_ltv };
	size_t i;

	for (i = 0; i < sizeof(framings) / sizeof(framings[0]); i++) {
		if (strcmp(text, framings[i]->name) == 0) {
			options->framing = framings[i];
			return true;
		}
	}
	return false;
}

static bool set_id(struct options *options, const char *text)
{
	options->load = LOAD_ID;
	return parse_u64(text, &options->message_id) &&
	       (options->message_id == 1001 || options->message_id == 2001 ||
		   options->message_id == 3001 || options->message_id == 4001);
}

static bool set_mix(struct options *options, const char *text)
{
	(void)text;
	options->load = LOAD_MIX;
	return true;
}

static bool set_echo(struct options *options, const char *text)
{
	int64_t bytes;

	options->load = LOAD_ECHO;
	if (units_parse_size(text, &bytes) != STATUS_OK || bytes > ECHO_BYTES_MAX)
		return false;
	options->echo_bytes = (uint64_t)bytes;
	return true;
}

static bool set_duration(struct options *options, const char *text)
{
	return parse_duration_ns(text, &options->duration_ns) && options->duration_ns > 0;
}

static bool set_think(struct options *options, const char *text)
{
	return parse_duration_ns(text, &options->think_ns);
}

static bool set_deadline(struct options *options, const char *text)
{
	return parse_duration_ns(text, &options->deadline_ns) &&
	       options->deadline_ns >= NS_PER_MS;
}

static bool set_reconnect(struct options *options, const char *text)
{
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return false;
	options->reconnect_percent = strtod(text, &end);
	return strcmp(end, "%") == 0 && options->reconnect_percent <= 100;
}

/* "12", "12,34": added to those of earlier options. */
static bool set_server_pids(struct options *options, const char *text)
{
	char *end;
	long pid;

	do {
		if (!isdigit((unsigned char)text[0]))
			return false;
		errno = 0;
		pid = strtol(text, &end, 10);
		if (errno != 0 || pid < 1 || pid > INT_MAX ||
		    options->n_server_pids == OPTIONS_SERVER_PIDS_MAX)
			return false;
		options->server_pids[options->n_server_pids++] = (pid_t)pid;
		text = end + 1;
	} while (*end == ',');
	return *end == '\0';
}

static bool set_json(struct options *options, const char *text)
{
	options->json_path = text;
	return text[0] != '\0';
}

static bool set_title(struct options *options, const char *text)
{
	options->title = text;
	return true;
}

static bool set_quiet(struct options *options, const char *text)
{
	(void)text;
	options->is_quiet = true;
	return true;
}

static bool set_progress(struct options *options, const char *text)
{
	(void)text;
	options->shows_progress = true;
	options->hides_progress = false;
	return true;
}

static bool set_no_progress(struct options *options, const char *text)
{
	(void)text;
	options->shows_progress = false;
	options->hides_progress = true;
	return true;
}

static bool set_compare(struct options *options, const char *text)
{
	(void)text;
	options->command = COMMAND_COMPARE;
	return true;
}

static bool set_help(struct options *options, const char *text)
{
	(void)text;
	options->command = COMMAND_HELP;
	return true;
}

static bool set_version(struct options *options, const char *text)
{
	(void)text;
	options->command = COMMAND_VERSION;
	return true;
}

#define FLAG(name_, letter_, set_, help_)                                    \
	{                                                                    \
		.name = name_, .letter = letter_, .set = set_, .help = help_ \
	}
#define VALUE(name_, letter_, argument_, set_, wants_, help_)                         \
	{                                                                             \
		.name = name_, .letter = letter_, .argument = argument_, .set = set_, \
		.wants = wants_, .help = help_                                        \
	}
#define NUMBER(name_, letter_, field, min_, max_, help_)                             \
	{                                                                            \
		.name = name_, .letter = letter_, .argument = "N",                   \
		.offset = offsetof(struct options, field), .min = min_, .max = max_, \
		.help = help_                                                        \
	}

static const struct row rows[] = {
	VALUE("connect", 'C', "HOST:PORT", set_target, "HOST:PORT or [IPv6]:PORT",
	    "the server; or give it as the argument"),
	NUMBER("connections", 'c', n_connections, 1, 10000000, "connections (100)"),
	NUMBER("requests", 'n', n_requests, 1, 1000000000000, "requests per connection (1000)"),
	VALUE("duration", 'd', "TIME", set_duration, "a time such as 30s",
	    "stop after this time; without -n the only bound"),
	NUMBER("warmup", 'w', n_warmup, 0, 1000000000000,
	    "requests per connection before those measured (0)"),
	NUMBER("pipeline", 'p', n_in_flight, 1, 65536, "requests in flight per connection (1)"),
	VALUE("think", 'k', "TIME", set_think, "a time such as 1ms or 250us",
	    "wait after a reply before the next request (0)"),
	VALUE("id", 'i', "ID", set_id, "1001, 2001, 3001 or 4001",
	    "which message of the c10k protocol (1001)"),
	FLAG("mix", 'm', set_mix, "all four messages at random"),
	VALUE("echo", 'e', "BYTES", set_echo, "a size of at most 16M",
	    "id 1 with so much payload, to come back as it is"),
	VALUE("framing", 'f', "NAME", set_framing, "tlv or ltv", "tlv or ltv (tlv)"),
	VALUE("reconnect", 'r', "P%", set_reconnect, "a percentage such as 5%",
	    "connect anew after this share of the replies (0%)"),
	VALUE("deadline", 'D', "TIME", set_deadline, "a time of at least 1ms",
	    "when a reply or a connect counts as failed (15s)"),
	NUMBER("threads", 't', n_threads, 1, 1024, "threads (half the CPUs)"),
	NUMBER("processes", 'P', n_processes, 1, 1024,
	    "processes (as many as the descriptor limit demands)"),
	NUMBER("connecting", 'b', n_connecting, 1, 65536,
	    "connects in flight, and begun within 10 ms (128)"),
	NUMBER("seed", 's', seed, 0, UINT64_MAX, "seed of --mix and --reconnect (1)"),
	VALUE("server-pid", 'S', "PID[,PID]", set_server_pids, "one or more process ids",
	    "measure this process and its descendants"),
	VALUE("json", 'j', "FILE", set_json, "a file's name", "write the report as JSON, too"),
	VALUE("title", 'T', "TEXT", set_title, NULL, "a name for this run, kept in the JSON"),
	FLAG("quiet", 'q', set_quiet, "no report and no progress bar"),
	FLAG("progress", 0, set_progress, "a progress bar even if stderr is no terminal"),
	FLAG("no-progress", 0, set_no_progress, "no progress bar"),
	FLAG("compare", 'x', set_compare, "compare two JSON reports, BEFORE and AFTER"),
	FLAG("help", 'h', set_help, "print this help"),
	FLAG("version", 'V', set_version, "print the version"),
};

#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* Fill what getopt_long wants; an option is known by the number of its row, from 256. */
static void make_getopt_tables(struct option longs[N_ROWS + 1], char shorts[2 * N_ROWS + 2])
{
	size_t i, len = 0;

	shorts[len++] = ':';
	for (i = 0; i < N_ROWS; i++) {
		longs[i] = (struct option){
			.name = rows[i].name,
			.has_arg = rows[i].argument != NULL ? required_argument : no_argument,
			.val = 256 + (int)i,
		};
		if (rows[i].letter == 0)
			continue;
		shorts[len++] = rows[i].letter;
		if (rows[i].argument != NULL)
			shorts[len++] = ':';
	}
	longs[N_ROWS] = (struct option){ 0 };
	shorts[len] = '\0';
}

/* NULL: no such option. */
static const struct row *row_of(int found)
{
	size_t i;

	if (found >= 256)
		return &rows[found - 256];
	for (i = 0; i < N_ROWS; i++) {
		if (rows[i].letter == found && found != 0)
			return &rows[i];
	}
	return NULL;
}

static enum status set_row(
    const struct row *row, const char *text, struct options *options, struct reason *why)
{
	uint64_t value;

	if (row->set != NULL) {
		if (row->set(options, text))
			return STATUS_OK;
		return reason_set(why, "--%s '%s': give %s", row->name, text, row->wants);
	}
	if (!parse_u64(text, &value) || value < row->min || value > row->max)
		return reason_set(why, "--%s '%s': give a number from %" PRIu64 " to %" PRIu64,
		    row->name, text, row->min, row->max);
	memcpy((char *)options + row->offset, &value, sizeof(value));
	return STATUS_OK;
}

static void set_defaults(struct options *options)
{
	*options = (struct options){
		.framing = &framing_tlv,
		.load = LOAD_ID,
		.message_id = 1001,
		.n_connections = 100,
		.n_in_flight = 1,
		.n_connecting = 128,
		.deadline_ns = 15000 * NS_PER_MS,
		.seed = 1,
	};
}

/* What getopt found fault with: an unknown option, or one without its argument. */
static enum status getopt_error(int found, char **argv, struct reason *why)
{
	const struct row *row = row_of(optopt);

	if (found == ':')
		return reason_set(why, "--%s needs an argument, %s", row->name, row->argument);
	if (row != NULL && optopt >= 256)
		return reason_set(why, "--%s takes no argument", row->name);
	if (optopt != 0)
		return reason_set(why, "unknown option -%c; see --help", optopt);
	return reason_set(why, "unknown option %s; see --help", argv[optind - 1]);
}

static enum status take_arguments(
    int argc, char **argv, struct options *options, struct reason *why)
{
	int n = argc - optind;

	switch (options->command) {
	case COMMAND_COMPARE:
		if (n != 2)
			return reason_set(why, "--compare needs two files, BEFORE and AFTER");
		options->compare_paths[0] = argv[optind];
		options->compare_paths[1] = argv[optind + 1];
		return STATUS_OK;
	case COMMAND_RUN:
		if (n > 1 || (n == 1 && options->host[0] != '\0'))
			return reason_set(why, "'%s': one server is enough", argv[argc - 1]);
		if (n == 1 && !set_target(options, argv[optind]))
			return reason_set(
			    why, "'%s': give HOST:PORT or [IPv6]:PORT", argv[optind]);
		if (options->host[0] == '\0')
			return reason_set(why, "which server? Give HOST:PORT; see --help");
		if (options->n_requests == 0 && options->duration_ns == 0)
			options->n_requests = 1000;
		return STATUS_OK;
	default:
		return STATUS_OK;
	}
}

enum status options_parse(int argc, char **argv, struct options *options, struct reason *why)
{
	struct option longs[N_ROWS + 1];
	char shorts[2 * N_ROWS + 2];
	int found;

	set_defaults(options);
	make_getopt_tables(longs, shorts);
	/* 0 also makes the GNU version start anew. */
	optind = 0;
	opterr = 0;
	while ((found = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		if (found == '?' || found == ':')
			return getopt_error(found, argv, why);
		if (set_row(row_of(found), optarg, options, why) != STATUS_OK)
			return STATUS_INVALID;
		if (options->command == COMMAND_HELP || options->command == COMMAND_VERSION)
			return STATUS_OK;
	}
	return take_arguments(argc, argv, options, why);
}

void options_print_help(FILE *out)
{
	char spelling[64];
	size_t i;

	fputs("usage: runnel-bench [options] HOST:PORT\n"
	      "       runnel-bench --compare BEFORE.json AFTER.json\n\n",
	    out);
	for (i = 0; i < N_ROWS; i++) {
		snprintf(spelling, sizeof(spelling), "--%s%s%s", rows[i].name,
		    rows[i].argument != NULL ? " " : "",
		    rows[i].argument != NULL ? rows[i].argument : "");
		if (rows[i].letter != 0)
			fprintf(
			    out, "  -%c, %-22s %s\n", rows[i].letter, spelling, rows[i].help);
		else
			fprintf(out, "      %-22s %s\n", spelling, rows[i].help);
	}
	fputs("\nA TIME is a number with us, ms, s, m or h. See runnel-bench(1).\n", out);
}
