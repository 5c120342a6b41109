#include "config.h"

#include <string.h>

#include "bench/tally.h"

const char *const failure_names[N_FAILURES] = {
	[FAILURE_TIMEOUT] = "timeout",
	[FAILURE_CLOSED] = "closed",
	[FAILURE_RESET] = "reset",
	[FAILURE_WRONG] = "wrong",
	[FAILURE_ABORTED] = "aborted",
};

const char *const connect_failure_names[N_CONNECT_FAILURES] = {
	[CONNECT_REFUSED] = "refused",
	[CONNECT_TIMEOUT] = "timeout",
	[CONNECT_NO_PORT] = "no_port",
	[CONNECT_NO_DESCRIPTOR] = "no_descriptor",
	[CONNECT_OTHER] = "other",
};

static void add_all(uint64_t *into, const uint64_t *from, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		into[i] += from[i];
}

static uint64_t sum(const uint64_t *values, size_t n)
{
	uint64_t total = 0;
	size_t i;

	for (i = 0; i < n; i++)
		total += values[i];
	return total;
}

void tally_init(struct tally *tally)
{
	memset(tally, 0, sizeof(*tally));
	tally->started_ns = UINT64_MAX;
	histogram_init(&tally->latency);
	histogram_init(&tally->connect_latency);
}

void tally_merge(struct tally *into, const struct tally *from)
{
	into->requests_sent += from->requests_sent;
	into->requests_unsent += from->requests_unsent;
	into->requests_cut += from->requests_cut;
	into->replies += from->replies;
	into->bytes_out += from->bytes_out;
	into->bytes_in += from->bytes_in;
	add_all(into->failed, from->failed, N_FAILURES);
	add_all(into->lost, from->lost, N_FAILURES);
	into->connects_tried += from->connects_tried;
	into->connects_opened += from->connects_opened;
	add_all(into->connects_failed, from->connects_failed, N_CONNECT_FAILURES);
	into->clients_given_up += from->clients_given_up;
	if (from->started_ns < into->started_ns)
		into->started_ns = from->started_ns;
	if (from->ended_ns > into->ended_ns)
		into->ended_ns = from->ended_ns;
	into->cpu_ns += from->cpu_ns;
	histogram_merge(&into->latency, &from->latency);
	histogram_merge(&into->connect_latency, &from->connect_latency);
}

double tally_seconds(const struct tally *tally)
{
	if (tally->ended_ns <= tally->started_ns)
		return 0;
	return (double)(tally->ended_ns - tally->started_ns) / 1e9;
}

uint64_t tally_failed_requests(const struct tally *tally)
{
	return sum(tally->failed, N_FAILURES) + tally->requests_unsent;
}

uint64_t tally_failed_connects(const struct tally *tally)
{
	return sum(tally->connects_failed, N_CONNECT_FAILURES);
}

bool tally_is_clean(const struct tally *tally)
{
	return tally_failed_requests(tally) == 0 && tally_failed_connects(tally) == 0 &&
	       tally->clients_given_up == 0 && tally->lost[FAILURE_WRONG] == 0;
}
