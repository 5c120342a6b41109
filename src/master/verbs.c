/*
 * The verbs of the control socket.
 */
#include "config.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "master/answer.h"
#include "master/conns.h"
#include "master/postponed.h"
#include "master/scrape.h"
#include "master/state.h"
#include "master/summary.h"
#include "settings/marks.h"
#include "settings/options.h"

static void stop(struct control_request *request, void *arg)
{
	control_answer_at_end(request);
	order_stop(arg);
}

static void quit(struct control_request *request, void *arg)
{
	control_answer_at_end(request);
	order_quit(arg);
}

static void stop_at_once(struct control_request *request, void *arg)
{
	control_answer_at_end(request);
	order_fast_stop(arg);
}

struct reload_request {
	struct master *master;
	struct control_request *request;
};

static void tell_reloaded(const struct reason *why, void *arg)
{
	struct reload_request *waiting = arg;
	const struct generation *current = succession_current(waiting->master->succession);
	json_t *answer;

	if (why != NULL) {
		control_fail(waiting->request, "%s", why->text);
	} else {
		answer = json_pack("{sI}", "generation", (json_int_t)current->number);
		postponed_tell(waiting->master, current->settings, answer);
		control_answer(waiting->request, answer);
	}
	free(waiting);
}

static void reload(struct control_request *request, void *arg)
{
	struct reload_request *waiting = must_alloc(1, sizeof(*waiting));

	waiting->master = arg;
	waiting->request = request;
	order_reload(arg, tell_reloaded, waiting);
}

static void upgrade(struct control_request *request, void *arg)
{
	order_upgrade(arg, request);
}

static void reopen(struct control_request *request, void *arg)
{
	struct reason why;

	if (order_reopen(arg, &why) == STATUS_OK)
		control_answer(request, NULL);
	else
		control_fail(request, "%s", why.text);
}

static void tell_drained(const struct reason *why, const struct crew_relief *relief, void *arg)
{
	struct control_request *request = arg;
	json_t *worker = json_object_get(control_request_object(request), "worker");

	if (why != NULL)
		control_fail(request, "%s", why->text);
	else
		control_answer(request,
		    json_pack("{sO si sI sI sI}", "worker", worker, "pid", (int)relief->pid,
			"moved", (json_int_t)relief->n_moved, "closed",
			(json_int_t)relief->n_closed, "lost", (json_int_t)relief->n_lost));
}

static void drain(struct control_request *request, void *arg)
{
	const struct master *master = arg;
	json_t *worker = json_object_get(control_request_object(request), "worker");
	json_int_t number = json_is_integer(worker) ? json_integer_value(worker) : -1;
	struct reason why = { "" };

	if (number < 0 || number >= SETTINGS_MAX_WORKERS)
		control_fail(request, "worker: give the number of a slot, from 0");
	else if (succession_relieve(master->succession, (unsigned int)number, tell_drained,
		     request, &why) != STATUS_OK)
		control_fail(request, "%s", why.text);
}

static void tell_status(struct control_request *request, void *arg)
{
	static const char *const phases[] = {
		[PHASE_STARTING] = "starting",
		[PHASE_SERVING] = "serving",
		[PHASE_LEAVING] = "leaving",
		[PHASE_STOPPING] = "stopping",
		[PHASE_STOPPING_NOW] = "stopping",
	};
	const struct master *master = arg;
	const struct summary summary = {
		.phase = phases[master->phase],
		.conf_path = master->conf_path,
		.up_ms = clock_ms() - master->started_ms,
		.succession = master->succession,
		.pages = &master->pages,
	};

	control_answer(request, summary_to_json(&summary));
}

/* Takes the stream's buffer, and answers with it as text. */
static void answer_with_text(
    struct control_request *request, json_t *object, FILE *out, char **text)
{
	if (fclose(out) == 0 && json_object_set_new(object, "text", answer_text(*text)) == 0)
		control_answer_long(request, object);
	else
		control_fail(request, "out of memory");
	free(*text);
}

static void tell_conf(struct control_request *request, void *arg)
{
	const struct master *master = arg;
	const struct generation *current = succession_current(master->succession);
	json_t *answer;
	size_t size;
	char *text;
	FILE *out;

	if (current == NULL) {
		control_fail(request, "no conf is in force: no generation serves");
		return;
	}
	out = must_stream(&text, &size);
	marks_print(current->conf_text, out);
	answer = json_pack("{so sI}", "conf", answer_text(master->conf_path), "generation",
	    (json_int_t)current->number);
	postponed_tell(master, current->settings, answer);
	answer_with_text(request, answer, out, &text);
}

/* The comments of a normalised conf, "# ...", are the routes, see checker.c. */
static void print_comments(const char *text, FILE *out)
{
	while (*text != '\0') {
		int len = (int)strcspn(text, "\n");

		if (text[0] == '#' && (len == 1 || text[1] == ' '))
			fprintf(out, "%.*s\n", len > 1 ? len - 2 : 0, text + (len > 1 ? 2 : 1));
		text += len + (text[len] == '\n');
	}
}

static void tell_routes(struct control_request *request, void *arg)
{
	const struct master *master = arg;
	const struct generation *current = succession_current(master->succession);
	size_t size;
	char *text;
	FILE *out = must_stream(&text, &size);

	if (current != NULL)
		print_comments(current->conf_text, out);
	answer_with_text(request, json_object(), out, &text);
}

static void tell_metrics(struct control_request *request, void *arg)
{
	const struct master *master = arg;
	size_t size;
	char *text;
	FILE *out = must_stream(&text, &size);

	scrape_print(master->started_at, master->succession, &master->pages, out);
	answer_with_text(request, json_object(), out, &text);
}

static void set_log_level(struct control_request *request, void *arg)
{
	const struct value_rule *rule = &option_find(OPTION_GLOBAL, "log-level")->rule;
	const char *level =
	    json_string_value(json_object_get(control_request_object(request), "level"));
	char wanted[VALUE_RULE_SIZE];
	struct reason why = { "" };
	int64_t number;

	if (level == NULL)
		control_fail(request, "level: give %s", value_describe(rule, wanted));
	else if (value_parse_number(rule, level, &number) != STATUS_OK)
		control_fail(request, "level: there is no '%.60s': give %s", level,
		    value_describe(rule, wanted));
	else if (order_log_level(arg, (enum log_level)number, &why) != STATUS_OK)
		control_fail(request, "%s", why.text);
	else
		control_answer(request, json_pack("{ss}", "level", level));
}

static void tell_version(struct control_request *request, void *arg)
{
	(void)arg;
	control_answer(request, json_pack("{ss}", "version", PACKAGE_VERSION));
}

static const char *const level_keys[] = { "level", NULL };
static const char *const drain_keys[] = { "worker", NULL };

static const struct control_verb verbs[] = {
	{ "status", "what the daemon and its workers do", CONTROL_READ, NULL, tell_status },
	{ "version", "the version that runs", CONTROL_READ, NULL, tell_version },
	{ "metrics", "all figures, as Prometheus reads them", CONTROL_READ, NULL,
	    tell_metrics },
	{ "routes", "which modules see which messages", CONTROL_READ, NULL, tell_routes },
	{ "conns", "connections: which, whose, how busy", CONTROL_READ, conns_keys,
	    conns_list },
	{ "kick", "end a connection", CONTROL_FULL, kick_keys, conns_kick },
	{ "conf", "the conf that is in force", CONTROL_FULL, NULL, tell_conf },
	{ "log-level", "log lines down to level, till the next reload", CONTROL_FULL,
	    level_keys, set_log_level },
	{ "reload", "read the conf again", CONTROL_FULL, NULL, reload },
	{ "reopen", "open the log file anew", CONTROL_FULL, NULL, reopen },
	{ "drain", "let another worker take the place of one", CONTROL_FULL, drain_keys,
	    drain },
	{ "upgrade", "let the binary as it is now take over", CONTROL_FULL, NULL, upgrade },
	{ "stop", "stop gracefully, within drain-timeout", CONTROL_FULL, NULL, stop },
	{ "quit", "stop when all connections are closed", CONTROL_FULL, NULL, quit },
	{ "fast-stop", "stop at once", CONTROL_FULL, NULL, stop_at_once },
};

/* Of the old master, if there is one, the socket is taken over. */
enum status verbs_open(struct master *master, struct reason *why)
{
	const struct control_config config = {
		.loop = master->loop,
		.path = master->control_socket,
		.group = master->control_group,
		.is_taking_over = master->old.channel >= 0,
		.verbs = verbs,
		.n_verbs = sizeof(verbs) / sizeof(verbs[0]),
		.arg = master,
	};

	return control_open(&config, &master->control, why);
}
