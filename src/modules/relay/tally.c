#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tally.h"

/* For the log, at the end. */
static struct {
	uint64_t requests, replies;
	uint64_t failed[N_CAUSES];
	uint64_t gone;        /* replies whose client has ended */
	uint64_t undelivered; /* replies for which the client's queue had no room */
} counts;

/* The same for whoever watches; NULL: there was no place for one. */
static struct {
	struct rnl_counter *requests, *replies, *failed, *failed_by[N_CAUSES];
	struct rnl_gauge *in_flight;
} metrics;

/* Counters of failures by their cause. */
static const struct {
	enum cause cause;
	const char *name, *help;
} by_cause[] = {
	{ CAUSE_BUSY, "failed_requests_busy_total",
	    "requests that failed because the backends were busy" },
	{ CAUSE_DOWN, "failed_requests_down_total",
	    "requests that failed because no backend was up" },
	{ CAUSE_LOST, "failed_requests_lost_total",
	    "requests that failed because their connection ended" },
	{ CAUSE_LATE, "failed_requests_late_total",
	    "requests that failed because no reply came in time" },
	{ CAUSE_TOO_BIG, "failed_requests_too_big_total",
	    "requests that failed because they were too long for a backend" },
	{ CAUSE_UNSAYABLE, "failed_requests_unsayable_total",
	    "requests that failed because the framing of backends cannot say them" },
	{ CAUSE_MEMORY, "failed_requests_no_memory_total",
	    "requests that failed for want of memory" },
};

static void count(struct rnl_counter *counter)
{
	if (counter != NULL)
		rnl_counter_add(counter, 1);
}

/* False: there was no place for it. */
static bool add_counter(
    struct rnl_setup *setup, const char *name, const char *help, struct rnl_counter **counter)
{
	if (rnl_add_counter(setup, name, help, counter) == RNL_OK)
		return true;
	*counter = NULL;
	return false;
}

static bool add_gauge(
    struct rnl_setup *setup, const char *name, const char *help, struct rnl_gauge **gauge)
{
	if (rnl_add_gauge(setup, name, help, gauge) == RNL_OK)
		return true;
	*gauge = NULL;
	return false;
}

void tally_configure(struct rnl_setup *setup)
{
	bool has_all = add_counter(setup, "requests_total", "requests that came from clients",
			   &metrics.requests) &&
		       add_counter(setup, "replies_total",
			   "replies that were passed back to clients", &metrics.replies) &&
		       add_counter(setup, "failed_requests_total", "requests that got no reply",
			   &metrics.failed) &&
		       add_gauge(setup, "requests_in_flight",
			   "requests that wait for their replies", &metrics.in_flight);

	for (size_t i = 0; has_all && i < sizeof(by_cause) / sizeof(by_cause[0]); i++)
		has_all = add_counter(setup, by_cause[i].name, by_cause[i].help,
		    &metrics.failed_by[by_cause[i].cause]);
	if (!has_all)
		rnl_log(RNL_LOG_WARN, "there is no place for all of its metrics");
}

void tally_request(void)
{
	counts.requests++;
	count(metrics.requests);
}

void tally_failure(enum cause cause)
{
	counts.failed[cause]++;
	count(metrics.failed);
	count(metrics.failed_by[cause]);
}

void tally_in_flight(int by)
{
	if (metrics.in_flight != NULL)
		rnl_gauge_add(metrics.in_flight, by);
}

void tally_reply(enum rnl_status status)
{
	if (status == RNL_OK) {
		counts.replies++;
		count(metrics.replies);
	} else if (status == RNL_ECLOSED) {
		counts.gone++;
	} else {
		counts.undelivered++;
	}
}

void tally_log(void)
{
	if (counts.requests == 0)
		return;
	rnl_log(RNL_LOG_INFO,
	    "requests=%" PRIu64 " replies=%" PRIu64 " busy=%" PRIu64 " down=%" PRIu64
	    " lost=%" PRIu64 " late=%" PRIu64 " too_big=%" PRIu64 " unsayable=%" PRIu64
	    " no_memory=%" PRIu64 " gone=%" PRIu64 " undelivered=%" PRIu64,
	    counts.requests, counts.replies, counts.failed[CAUSE_BUSY],
	    counts.failed[CAUSE_DOWN], counts.failed[CAUSE_LOST], counts.failed[CAUSE_LATE],
	    counts.failed[CAUSE_TOO_BIG], counts.failed[CAUSE_UNSAYABLE],
	    counts.failed[CAUSE_MEMORY], counts.gone, counts.undelivered);
}
