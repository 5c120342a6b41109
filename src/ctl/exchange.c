#include "config.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "call/ending.h"

#include "ctl/command.h"
#include "ctl/exchange.h"

static uint64_t deadline_of(const struct options *options)
{
	int64_t limit_ms =
	    options->wait_ms >= 0 ? options->wait_ms : options->command->limit_ms;

	return limit_ms == COMMAND_NO_LIMIT ? UINT64_MAX : clock_ms() + (uint64_t)limit_ms;
}

enum call_result exchange_try(const struct options *options, const char *socket,
    const json_t *request, json_t **answer, struct reason *why)
{
	uint64_t deadline_ms = deadline_of(options);
	enum call_result result;
	struct call call;

	*answer = NULL;
	result = call_open(&call, socket, deadline_ms, why);
	if (result == CALL_ANSWERED)
		result = call_ask_object(&call, request, deadline_ms, answer, why);
	call_close(&call);
	return result;
}

int exchange_ask(
    const struct options *options, const char *socket, const json_t *request, json_t **answer)
{
	struct reason why = { "" };
	enum call_result result = exchange_try(options, socket, request, answer, &why);

	return exchange_explain(options, result, &why);
}

int exchange_end(const struct options *options, const char *socket)
{
	uint64_t deadline_ms = deadline_of(options);
	struct reason why = { "" };
	enum call_result result;
	struct call call;

	result = call_open(&call, socket, deadline_ms, &why);
	if (result == CALL_ANSWERED)
		result = ending_ask(&call, options->command->name, deadline_ms, &why);
	call_close(&call);
	if (result != CALL_ANSWERED)
		return exchange_explain(options, result, &why);
	if (options->is_json)
		puts("{\"ok\":true}");
	return exchange_flush(stdout);
}

static void print_failure(const struct options *options, const struct reason *why)
{
	json_t *answer;

	if (!options->is_json)
		return;
	answer = json_pack("{sb ss}", "ok", 0, "error", why->text);
	exchange_print(answer, stdout);
	json_decref(answer);
}

int exchange_fail(const struct options *options, const struct reason *why)
{
	print_failure(options, why);
	log_error("%s: %s", options->command->name, why->text);
	return options->command->is_watched ? COMMAND_UNKNOWN : COMMAND_FAILED;
}

int exchange_explain(
    const struct options *options, enum call_result result, const struct reason *why)
{
	if (result == CALL_ANSWERED)
		return COMMAND_DONE;
	if (result != CALL_NOBODY)
		return exchange_fail(options, why);
	print_failure(options, why);
	log_error("not running: %s", why->text);
	return COMMAND_NOT_RUNNING;
}

void exchange_print(const json_t *answer, FILE *out)
{
	json_dumpf(answer, out, JSON_COMPACT | JSON_REAL_PRECISION(12));
	fputc('\n', out);
}

int exchange_flush(FILE *out)
{
	if (fflush(out) == 0 && !ferror(out))
		return COMMAND_DONE;
	log_error("cannot write: %s", strerror(errno));
	return COMMAND_FAILED;
}
