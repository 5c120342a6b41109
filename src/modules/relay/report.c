#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "clock.h"
#include "conf.h"
#include "report.h"

#define EVERY_MS 1000
#define REST_SIZE 48

struct cap {
	uint64_t next_ms; /* no line before; 0: none was logged yet */
	uint64_t n_left_out;
};

/* May it be logged? Then rest tells what was left out. */
static bool cap_allows(struct cap *cap, char rest[REST_SIZE])
{
	uint64_t now = clock_now_ms();

	if (now < cap->next_ms) {
		cap->n_left_out++;
		return false;
	}
	rest[0] = '\0';
	if (cap->n_left_out > 0)
		snprintf(
		    rest, REST_SIZE, " (%" PRIu64 " more were not logged)", cap->n_left_out);
	cap->n_left_out = 0;
	cap->next_ms = now + EVERY_MS;
	return true;
}

void report_unsent(enum cause cause)
{
	static struct cap down, busy;
	char rest[REST_SIZE];

	if (cause == CAUSE_DOWN && cap_allows(&down, rest))
		rnl_log(RNL_LOG_WARN, "connect %s: a request has failed: no backend is up%s",
		    conf.upstream_name, rest);
	else if (cause == CAUSE_BUSY && cap_allows(&busy, rest))
		rnl_log(RNL_LOG_WARN,
		    "connect %s: a request has failed: the backends that are up are busy%s",
		    conf.upstream_name, rest);
}

void report_late(struct rnl_conn *conn)
{
	static struct cap cap;
	char rest[REST_SIZE];

	if (cap_allows(&cap, rest))
		rnl_log(RNL_LOG_WARN, "%s: a reply is late: the connection is given up%s",
		    rnl_conn_peer(conn), rest);
}

void report_in_flight(struct rnl_conn *conn, size_t n)
{
	static struct cap cap;
	char rest[REST_SIZE];

	if (cap_allows(&cap, rest))
		rnl_log(RNL_LOG_WARN, "%s: %zu requests were in flight on the connection%s",
		    rnl_conn_peer(conn), n, rest);
}
