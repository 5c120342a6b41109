/*
 * A module with metrics: a counter, a gauge, as many more as the conf says, and all that
 * are refused.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <runnel/module.h>

#include "system/modules/meter.h"

static struct rnl_counter *bytes;
static struct rnl_gauge *level;

static void count(void *arg)
{
	rnl_counter_add(arg, 1);
}

static void scribble(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long from, to;
	char line[512];

	while (maps != NULL && fgets(line, sizeof(line), maps) != NULL) {
		if (strstr(line, "memfd:runnel") != NULL &&
		    sscanf(line, "%lx-%lx rw", &from, &to) == 2)
			memset((void *)from, 0x7f, to - from);
	}
	abort();
}

static void done(struct rnl_conn *conn, void *arg)
{
	(void)conn;
	(void)arg;
}

static enum rnl_verdict serve(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const unsigned char *payload = msg->payload;

	(void)arg;
	if (msg->id == METER_COUNT)
		rnl_counter_add(bytes, msg->len);
	else if (msg->id == METER_SET && msg->len > 0)
		rnl_gauge_set(level, payload[0]);
	else if (msg->id == METER_ADD && msg->len > 1)
		rnl_gauge_add(level, -(double)payload[1]);
	else if (msg->id == METER_THREAD)
		rnl_work(conn, 0, count, done, bytes);
	else if (msg->id == METER_SCRIBBLE)
		scribble();
	rnl_send(conn, msg->id, msg->payload, msg->len);
	return RNL_DONE;
}

#define LONG_64 "a234567890123456789012345678901234567890123456789012345678901234"

static int try_bad(struct rnl_setup *setup)
{
	static const char *const names[] = { NULL, "", "Total_total", "1_total", "_total_total",
		"a-b_total", "a:b_total", "bytes_total", "count", LONG_64 "_total" };
	static const char *const gauges[] = { "x_total", "level", "x_count", "x_sum",
		"x_bucket", LONG_64 };
	char help[129];
	const char *const helps[] = { NULL, "", "two\nlines", "back\\slash", "caf\xe9", help };
	struct rnl_counter *counter;
	struct rnl_gauge *gauge;

	memset(help, 'h', sizeof(help) - 1);
	help[sizeof(help) - 1] = '\0';
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (rnl_add_counter(setup, names[i], "help", &counter) != RNL_EINVAL)
			return rnl_refuse(setup, "counter %zu is taken", i);
	}
	for (size_t i = 0; i < sizeof(gauges) / sizeof(gauges[0]); i++) {
		if (rnl_add_gauge(setup, gauges[i], "help", &gauge) != RNL_EINVAL)
			return rnl_refuse(setup, "gauge %zu is taken", i);
	}
	for (size_t i = 0; i < sizeof(helps) / sizeof(helps[0]); i++) {
		if (rnl_add_gauge(setup, "good", helps[i], &gauge) != RNL_EINVAL)
			return rnl_refuse(setup, "help %zu is taken", i);
	}
	return 0;
}

static int add_more(struct rnl_setup *setup)
{
	int64_t n = rnl_option_number(setup, "more");

	for (int64_t i = 0; i < n; i++) {
		struct rnl_gauge *gauge;
		enum rnl_status status;
		char name[32];

		snprintf(name, sizeof(name), "more_%d", (int)i);
		status = rnl_add_gauge(setup, name, "one more", &gauge);
		if (status != RNL_OK)
			return rnl_refuse(setup, "gauge %d: %d", (int)i, (int)status);
		/* Before there is a connection, too. */
		rnl_gauge_set(gauge, 0.5);
	}
	return 0;
}

/* What a newer file of the module would have, when there is such a file. */
static int add_late(struct rnl_setup *setup)
{
	static struct rnl_counter *late;

	if (access(rnl_option_string(setup, "late"), F_OK) != 0)
		return 0;
	if (rnl_add_counter(setup, "late_total", "what came later", &late) != RNL_OK)
		return rnl_refuse(setup, "the late one is refused");
	rnl_counter_add(late, 7);
	return 0;
}

static int configure(struct rnl_setup *setup)
{
	const char *help = rnl_option_string(setup, "help");

	if (rnl_add_counter(setup, "bytes_total", help, &bytes) != RNL_OK ||
	    rnl_add_gauge(setup, "level", "what was set last", &level) != RNL_OK)
		return rnl_refuse(setup, "the metrics are refused");
	if (rnl_option_number(setup, "try-bad") && try_bad(setup) != 0)
		return -1;
	return add_late(setup) != 0 ? -1 : add_more(setup);
}

static const struct rnl_route routes[] = { RNL_ON_RANGE(METER_COUNT, METER_SCRIBBLE, serve) };

static const struct rnl_option options[] = {
	{ "help", RNL_STRING, "bytes that came", 0, 0, "what bytes_total says of itself" },
	{ "more", RNL_NUMBER, "0", 0, 100, "gauges beside level" },
	{ "late", RNL_STRING, "", 0, 0, "a file: with late_total when it exists" },
	{ "try-bad", RNL_BOOL, "false", 0, 0, "add metrics that are refused" },
};

RNL_MODULE(.options = options, .n_options = 4, .routes = routes, .n_routes = 1,
    .configure = configure);
