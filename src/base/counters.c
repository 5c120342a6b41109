#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/counters.h"

const char *close_reason_name(enum close_reason reason)
{
	static const char *const names[N_CLOSE_REASONS] = {
#define CLOSE_REASON_NAME(name, text) #name,
		CLOSE_REASONS(CLOSE_REASON_NAME)
#undef CLOSE_REASON_NAME
	};

	return names[reason];
}

const char *close_reason_text(enum close_reason reason)
{
	static const char *const texts[N_CLOSE_REASONS] = {
#define CLOSE_REASON_TEXT(name, text) text,
		CLOSE_REASONS(CLOSE_REASON_TEXT)
#undef CLOSE_REASON_TEXT
	};

	return texts[reason];
}

uint64_t counters_open(const struct counters *counters)
{
	uint64_t n_gone = counter_read(counters->moved_out), n_come;

	for (int i = 0; i < N_CLOSE_REASONS; i++)
		n_gone += counter_read(counters->closed[i]);
	n_come = counter_read(counters->accepted) + counter_read(counters->connected) +
		 counter_read(counters->moved_in);
	return n_come > n_gone ? n_come - n_gone : 0;
}

struct out {
	char *text;
	size_t len;
};

static void put(struct out *out, const char *prefix, const char *name, const uint64_t *counter)
{
	size_t room = COUNTERS_TEXT_SIZE - out->len;
	int n = snprintf(out->text + out->len, room, "%s%s%s=%" PRIu64, out->len > 0 ? " " : "",
	    prefix, name, counter_read(*counter));

	if (n > 0 && (size_t)n < room)
		out->len += (size_t)n;
}

void counters_format(const struct counters *counters, char text[COUNTERS_TEXT_SIZE])
{
	struct out out = { .text = text };

	text[0] = '\0';
#define PUT_COUNTER(name, text) put(&out, "", #name, &counters->name);
	COUNTERS(PUT_COUNTER)
#undef PUT_COUNTER
#define PUT_REASON(name, text) \
	put(&out, "closed_", #name, &counters->closed[CLOSE_REASON_##name]);
	CLOSE_REASONS(PUT_REASON)
#undef PUT_REASON
}
