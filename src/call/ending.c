#include "config.h"

#include <stdbool.h>

#include "base/clock.h"

#include "call/ending.h"
#include "call/holder.h"

/* From the last answer to the end of the process. */
#define EXIT_LIMIT_S 10

static enum call_result await(const struct holder *holder, struct reason *why)
{
	if (holder_await_end(holder, clock_ms() + EXIT_LIMIT_S * 1000))
		return CALL_ANSWERED;
	reason_set(why, "pid %d has not ended in %d s", (int)holder->pid, EXIT_LIMIT_S);
	return CALL_FAILED;
}

enum call_result ending_ask(
    struct call *call, const char *verb, uint64_t deadline_ms, struct reason *why)
{
	struct holder holder = { .fd = -1 };
	bool is_seen = call->pid > 0 && holder_open(call->pid, &holder);
	enum call_result result;
	json_t *answer;

	result = call_ask(call, verb, deadline_ms, &answer, why);
	json_decref(answer);
	if (is_seen && (result == CALL_ANSWERED || result == CALL_ENDED))
		result = await(&holder, why);
	holder_close(&holder);
	return result;
}
