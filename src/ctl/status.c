/*
 * Rates come from two looks at the counters, so a single status takes the time
 * between them.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory.h"

#include "ctl/board.h"
#include "ctl/command.h"
#include "ctl/exchange.h"
#include "ctl/screen.h"
#include "ctl/status.h"

static void pause_ms(int64_t ms)
{
	struct timespec rest = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&rest, &rest) < 0 && errno == EINTR)
		;
}

static enum call_result look(
    const struct options *options, const char *socket, json_t **answer, struct reason *why)
{
	json_t *request = json_pack("{ss}", "verb", "status");
	enum call_result result = exchange_try(options, socket, request, answer, why);

	json_decref(request);
	return result;
}

static int once(const struct options *options, const char *socket)
{
	json_t *before = NULL, *now = NULL;
	struct reason why = { "" };
	enum call_result result = look(options, socket, &now, &why);

	if (result == CALL_ANSWERED && options->interval_ms > 0 && !options->is_json) {
		before = now;
		pause_ms(options->interval_ms);
		result = look(options, socket, &now, &why);
	}
	if (result == CALL_ANSWERED && options->is_json)
		exchange_print(now, stdout);
	else if (result == CALL_ANSWERED)
		board_print(before, now, stdout);
	json_decref(before);
	json_decref(now);
	if (result != CALL_ANSWERED)
		return exchange_explain(options, result, &why);
	return exchange_flush(stdout);
}

/* What there is to be seen at a look, which may be that there is no daemon. */
static char *view(const struct options *options, enum call_result result, const json_t *before,
    const json_t *now, const struct reason *why)
{
	size_t size;
	char *text;
	FILE *out = must_stream(&text, &size);

	if (result == CALL_ANSWERED && options->is_json)
		exchange_print(now, out);
	else if (result == CALL_ANSWERED)
		board_print(before, now, out);
	else if (options->is_json)
		fputs("{\"ok\":false}\n", out);
	else
		fprintf(out, "%s%s\n", result == CALL_NOBODY ? "not running: " : "", why->text);
	fclose(out);
	return text;
}

/* It goes on over the end of a daemon, for there may be another. Only a signal ends it. */
static int watch(const struct options *options, const char *socket)
{
	json_t *before = NULL, *now;
	struct reason why = { "" };
	int status = COMMAND_DONE;

	screen_open(options->is_json);
	while (status == COMMAND_DONE) {
		enum call_result result = look(options, socket, &now, &why);
		char *text = view(options, result, before, now, &why);

		screen_show(text);
		free(text);
		json_decref(before);
		before = now;
		status = exchange_flush(stdout);
		pause_ms(options->interval_ms);
	}
	json_decref(before);
	return status;
}

int status_run(const struct options *options, const char *socket)
{
	return options->is_watch ? watch(options, socket) : once(options, socket);
}
