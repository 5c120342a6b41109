#include "config.h"

#include <string.h>

#include "base/escape.h"
#include "base/units.h"
#include "settings/peek.h"

#include "ctl/command.h"
#include "ctl/conns.h"
#include "ctl/exchange.h"
#include "ctl/status.h"

#define SECOND_MS INT64_C(1000)
#define MINUTE_MS (60 * SECOND_MS)

typedef void show_f(const json_t *answer, FILE *out);

/* Ask, and print what show makes of the answer. Takes the request. */
static int ask_object(
    const struct options *options, const char *socket, json_t *request, show_f *show)
{
	json_t *answer;
	int status = exchange_ask(options, socket, request, &answer);

	json_decref(request);
	if (status != COMMAND_DONE)
		return status;
	if (options->is_json)
		exchange_print(answer, stdout);
	else
		show(answer, stdout);
	json_decref(answer);
	return exchange_flush(stdout);
}

/* The verb that the command is, and its argument as a text. */
static int ask(const struct options *options, const char *socket, show_f *show)
{
	json_t *request = json_pack("{ss}", "verb", options->command->name);

	if (options->argument != NULL)
		json_object_set_new(
		    request, options->command->argument, json_string(options->argument));
	return ask_object(options, socket, request, show);
}

static const char *text_of(const json_t *answer, const char *name)
{
	const char *text = json_string_value(json_object_get(answer, name));

	return text != NULL ? text : "";
}

static void show_reopen(const json_t *answer, FILE *out)
{
	(void)answer;
	fputs("the log is opened anew\n", out);
}

static void show_upgrade(const json_t *answer, FILE *out)
{
	(void)answer;
	fputs("the new master serves\n", out);
}

static void show_log_level(const json_t *answer, FILE *out)
{
	fprintf(out, "log-level is %s till the next reload\n", text_of(answer, "level"));
}

static void show_kick(const json_t *answer, FILE *out)
{
	const json_t *conn = json_object_get(answer, "connection");

	fprintf(out, "connection %" JSON_INTEGER_FORMAT " is ended: %s %s\n",
	    json_integer_value(json_object_get(conn, "id")), text_of(conn, "listener"),
	    text_of(conn, "peer"));
}

static void show_text(const json_t *answer, FILE *out)
{
	escape_print_lines(text_of(answer, "text"), out);
}

/* Options that a reload has not put in force. */
static void show_warnings(const json_t *answer, const char *lead, FILE *out)
{
	const json_t *warnings = json_object_get(answer, "warnings");

	for (size_t i = 0; i < json_array_size(warnings); i++)
		fprintf(out, "%s%s\n", lead, json_string_value(json_array_get(warnings, i)));
}

static void show_conf(const json_t *answer, FILE *out)
{
	fputs("# ", out);
	escape_print(text_of(answer, "conf"), out);
	fprintf(out, ", generation %" JSON_INTEGER_FORMAT "\n",
	    json_integer_value(json_object_get(answer, "generation")));
	show_warnings(answer, "# ", out);
	show_text(answer, out);
}

static void show_reload(const json_t *answer, FILE *out)
{
	fprintf(out, "generation %" JSON_INTEGER_FORMAT " serves\n",
	    json_integer_value(json_object_get(answer, "generation")));
	show_warnings(answer, "", out);
}

static void show_version(const json_t *answer, FILE *out)
{
	fputs("runneld ", out);
	escape_print(text_of(answer, "version"), out);
	fputs("\n", out);
}

static int run_conf(const struct options *options, const char *socket)
{
	return ask(options, socket, show_conf);
}

static int run_text(const struct options *options, const char *socket)
{
	return ask(options, socket, show_text);
}

static int run_reload(const struct options *options, const char *socket)
{
	return ask(options, socket, show_reload);
}

static int run_version(const struct options *options, const char *socket)
{
	return ask(options, socket, show_version);
}

static int run_reopen(const struct options *options, const char *socket)
{
	return ask(options, socket, show_reopen);
}

static int run_upgrade(const struct options *options, const char *socket)
{
	return ask(options, socket, show_upgrade);
}

static int run_log_level(const struct options *options, const char *socket)
{
	return ask(options, socket, show_log_level);
}

static int run_conns(const struct options *options, const char *socket)
{
	json_t *request = json_pack("{ss}", "verb", options->command->name);

	if (options->sort != NULL)
		json_object_set_new(request, "sort", json_string(options->sort));
	if (options->filter != NULL)
		json_object_set_new(request, "filter", json_string(options->filter));
	if (options->limit > 0)
		json_object_set_new(request, "limit", json_integer(options->limit));
	return ask_object(options, socket, request, conns_print);
}

static int run_kick(const struct options *options, const char *socket)
{
	struct reason why = { "" };
	int64_t id;

	if (units_parse_number(options->argument, &id) != STATUS_OK || id < 1) {
		reason_set(
		    &why, "'%s' is no id of a connection; conns shows them", options->argument);
		return exchange_fail(options, &why);
	}
	return ask_object(options, socket,
	    json_pack("{ss sI}", "verb", options->command->name, "id", (json_int_t)id),
	    show_kick);
}

static void show_drain(const json_t *answer, FILE *out)
{
	json_int_t n_moved = json_integer_value(json_object_get(answer, "moved"));
	json_int_t n_lost = json_integer_value(json_object_get(answer, "lost"));

	fprintf(out,
	    "pid %" JSON_INTEGER_FORMAT " serves; %" JSON_INTEGER_FORMAT
	    " connection%s moved to it, %" JSON_INTEGER_FORMAT " closed",
	    json_integer_value(json_object_get(answer, "pid")), n_moved,
	    n_moved == 1 ? "" : "s", json_integer_value(json_object_get(answer, "closed")));
	if (n_lost > 0)
		fprintf(out, ", %" JSON_INTEGER_FORMAT " lost", n_lost);
	fputs("\n", out);
}

static int run_drain(const struct options *options, const char *socket)
{
	struct reason why = { "" };
	int64_t number;

	if (units_parse_number(options->argument, &number) != STATUS_OK || number < 0) {
		reason_set(&why, "'%s' is no number of a worker; status shows them",
		    options->argument);
		return exchange_fail(options, &why);
	}
	return ask_object(options, socket,
	    json_pack("{ss sI}", "verb", options->command->name, "worker", (json_int_t)number),
	    show_drain);
}

static int run_end(const struct options *options, const char *socket)
{
	return exchange_end(options, socket);
}

const struct command commands[] = {
	{ "status", NULL, "what the daemon and its workers do", 10 * SECOND_MS, true, false,
	    status_run },
	{ "metrics", NULL, "all figures, as Prometheus reads them", 10 * SECOND_MS, false,
	    false, run_text },
	{ "conf", NULL, "the conf in force; what is not at its default is marked",
	    10 * SECOND_MS, false, false, run_conf },
	{ "conns", NULL, "connections: which, whose, how busy", 10 * SECOND_MS, false, true,
	    run_conns },
	{ "kick", "id", "end a connection", 10 * SECOND_MS, false, false, run_kick },
	{ "routes", NULL, "which modules see which messages", 10 * SECOND_MS, false, false,
	    run_text },
	{ "version", NULL, "the version of the daemon", 10 * SECOND_MS, false, false,
	    run_version },
	{ "reload", NULL, "read the conf again", 2 * MINUTE_MS, false, false, run_reload },
	{ "reopen", NULL, "open the log file anew", MINUTE_MS / 2, false, false, run_reopen },
	{ "drain", "worker", "let another worker take the place of one", COMMAND_NO_LIMIT,
	    false, false, run_drain },
	{ "upgrade", NULL, "let the binary as it is now take over", 2 * MINUTE_MS, false, false,
	    run_upgrade },
	{ "log-level", "level", "log lines down to level, till the next reload", 10 * SECOND_MS,
	    false, false, run_log_level },
	{ "stop", NULL, "stop gracefully, within drain-timeout", COMMAND_NO_LIMIT, false, false,
	    run_end },
	{ "quit", NULL, "stop when all connections are closed", COMMAND_NO_LIMIT, false, false,
	    run_end },
	{ "fast-stop", NULL, "stop at once", 15 * SECOND_MS, false, false, run_end },
};

const size_t n_commands = sizeof(commands) / sizeof(commands[0]);

const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < n_commands; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

/* Of a conf that is no longer good, what can be read counts. */
static enum status find_socket(
    const struct options *options, struct peek *where, struct reason *why)
{
	enum status status = peek_read(options->conf_path, NULL, where, why);
	struct reason what = *why;

	if (where->control_socket != NULL)
		return STATUS_OK;
	if (status != STATUS_OK)
		return reason_set(why, "%s; name the control socket with -s", what.text);
	return reason_set(why, "%s names no control-socket; set one, or give its path with -s",
	    options->conf_path);
}

int command_run(const struct options *options)
{
	struct peek where = { 0 };
	struct reason why = { "" };
	int status;

	if (options->socket != NULL)
		status = options->command->run(options, options->socket);
	else if (find_socket(options, &where, &why) == STATUS_OK)
		status = options->command->run(options, where.control_socket);
	else
		status = exchange_fail(options, &why);
	peek_free(&where);
	return status;
}
