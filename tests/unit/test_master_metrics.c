/*
 * master/metrics: each counter comes out, under its name and with the text before it
 * that Prometheus wants.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "master/metrics.h"

#include "test_master.h"

/* free() */
static char *print(const struct metrics *metrics)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(out);
	metrics_print(metrics, out);
	fclose(out);
	return text;
}

static void expect_line(const char *text, const char *line)
{
	const char *at = strstr(text, line);

	ck_assert_msg(at != NULL && (at == text || at[-1] == '\n') && at[strlen(line)] == '\n',
	    "no line '%s' in:\n%s", line, text);
}

/* Two slots whose counters are 1, 2, 3 ... and 1001, 1002 ... */
static void fill(struct metrics *metrics, struct metrics_slot slots[2])
{
	memset(slots, 0, 2 * sizeof(*slots));
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t *counters = (uint64_t *)&slots[i].counters;

		slots[i].number = i * 3;
		for (size_t k = 0; k < sizeof(slots->counters) / sizeof(*counters); k++)
			counters[k] = 1000 * i + k + 1;
	}
	slots[0].n_crashes = 2000;
	slots[1].n_crashes = 2001;
	slots[0].n_open = 7;
	slots[0].is_ready = true;
	slots[1].is_degraded = true;
	slots[1].slowest_ms = 1250;
	static const struct metrics_listener listeners[] = { { "main", 9, 100 },
		{ "b.2", 0, 5 } };
	static const struct metrics_upstream upstreams[] = { { "back", 0, 1, 2 },
		{ "back", 3, 0, 2 } };

	*metrics = (struct metrics){
		.is_last_change_good = true,
		.listeners = listeners,
		.n_listeners = 2,
		.upstreams = upstreams,
		.n_upstreams = 2,
		.started_at = 1796046736,
		.generation = 4,
		.n_workers = 5,
		.slots = slots,
		.n_slots = 2,
	};
}

START_TEST(each_figure_is_a_line)
{
	struct metrics_slot slots[2];
	struct metrics metrics;
	char line[128], *text;

	fill(&metrics, slots);
	text = print(&metrics);
	expect_line(text, "runnel_build_info{version=\"" PACKAGE_VERSION "\"} 1");
	expect_line(text, "runnel_start_time_seconds 1796046736");
	expect_line(text, "runnel_generation 4");
	expect_line(text, "runnel_workers 5");
	expect_line(text, "runnel_last_change_successful 1");
	expect_line(text, "runnel_listener_connections{listener=\"main\"} 9");
	expect_line(text, "runnel_listener_connections_limit{listener=\"b.2\"} 5");
	expect_line(text, "runnel_upstream_connections{worker=\"0\",upstream=\"back\"} 1");
	expect_line(text, "runnel_upstream_connections{worker=\"3\",upstream=\"back\"} 0");
	expect_line(text, "runnel_upstream_addresses{worker=\"3\",upstream=\"back\"} 2");
	expect_line(text, "runnel_worker_crashes_total{worker=\"3\"} 2001");
	expect_line(text, "runnel_workers_ready 1");
	expect_line(text, "runnel_workers_degraded 1");
	expect_line(text, "runnel_connections{worker=\"0\"} 7");
	expect_line(text, "runnel_connections{worker=\"3\"} 0");
	expect_line(text, "runnel_slowest_handler_seconds{worker=\"3\"} 1.25");
	expect_line(text, "runnel_connections_accepted_total{worker=\"0\"} 1");
	expect_line(text, "runnel_connections_accepted_total{worker=\"3\"} 1001");
	snprintf(line, sizeof(line), "runnel_received_bytes_total{worker=\"3\"} %" PRIu64,
	    slots[1].counters.bytes_in);
	expect_line(text, line);
	snprintf(line, sizeof(line),
	    "runnel_connections_closed_total{worker=\"3\",reason=\"worker_died\"} %" PRIu64,
	    slots[1].counters.closed[CLOSE_REASON_worker_died]);
	expect_line(text, line);
	free(text);
}
END_TEST

/* A duration that is a bound counts up to it, and one that is longer by 1 ns only behind it. */
START_TEST(buckets_add_up_to_the_count)
{
	struct metrics_slot slots[2];
	struct metrics metrics;
	char *text;

	fill(&metrics, slots);
	durations_add(&slots[1].times.handler, 1000, 1);
	durations_add(&slots[1].times.handler, 1001, 1);
	durations_add(&slots[1].times.handler, 3 * 20000000, 3);
	durations_add(&slots[1].times.handler, UINT64_C(30000000000), 1);
	durations_add(&slots[1].times.reply, UINT64_C(200000000000), 1);
	slots[1].memory_bytes = 3 << 20;
	text = print(&metrics);
#define LINE(name, tail) "runnel_" name "_duration_seconds_" tail
	expect_line(text, LINE("handler", "bucket{worker=\"3\",le=\"1e-06\"} 1"));
	expect_line(text, LINE("handler", "bucket{worker=\"3\",le=\"2e-06\"} 2"));
	expect_line(text, LINE("handler", "bucket{worker=\"3\",le=\"0.01\"} 2"));
	expect_line(text, LINE("handler", "bucket{worker=\"3\",le=\"0.02\"} 5"));
	expect_line(text, LINE("handler", "bucket{worker=\"3\",le=\"10\"} 5"));
	expect_line(text, LINE("handler", "bucket{worker=\"3\",le=\"+Inf\"} 6"));
	expect_line(text, LINE("handler", "sum{worker=\"3\"} 30.060002001"));
	expect_line(text, LINE("handler", "count{worker=\"3\"} 6"));
	expect_line(text, LINE("handler", "count{worker=\"0\"} 0"));
	expect_line(text, LINE("reply", "bucket{worker=\"3\",le=\"10\"} 0"));
	expect_line(text, LINE("reply", "bucket{worker=\"3\",le=\"+Inf\"} 1"));
	expect_line(text, LINE("reply", "sum{worker=\"3\"} 200.000000000"));
#undef LINE
	expect_line(text, "runnel_worker_memory_bytes{worker=\"3\"} 3145728");
	free(text);
}
END_TEST

/* Every counter is there once a slot: so many samples, and no value twice. */
START_TEST(no_counter_is_left_out)
{
	struct metrics_slot slots[2];
	size_t n_counters = sizeof(slots->counters) / sizeof(uint64_t), n = 0;
	struct metrics metrics;
	char *text, *line, *rest;
	bool is_seen[2048] = { false };

	fill(&metrics, slots);
	text = print(&metrics);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		unsigned long value;

		if (line[0] == '#' || strstr(line, "_total{") == NULL)
			continue;
		value = strtoul(strrchr(line, ' '), NULL, 10);
		ck_assert_uint_lt(value, 2048);
		ck_assert(!is_seen[value]);
		is_seen[value] = true;
		n++;
	}
	ck_assert_uint_eq(n, 2 * (n_counters + 1));
	free(text);
}
END_TEST

/* What the name of a histogram's sample ends with. */
static bool is_part(const char *end, size_t len)
{
	static const char *const parts[] = { "_bucket", "_sum", "_count" };

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (strlen(parts[i]) == len && memcmp(end, parts[i], len) == 0)
			return true;
	}
	return false;
}

/* HELP and TYPE come first, once a metric, and a counter ends in _total. */
START_TEST(samples_follow_their_type)
{
	struct metrics_slot slots[2];
	struct metrics metrics;
	char name[80] = "", type[16], *text, *line, *rest;

	fill(&metrics, slots);
	text = print(&metrics);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		size_t len = strcspn(line, "{ ");

		if (sscanf(line, "# HELP %79s", name) == 1)
			continue;
		if (sscanf(line, "# TYPE %*s %15s", type) == 1) {
			ck_assert(strncmp(line + 7, name, strlen(name)) == 0);
			ck_assert_int_eq(strcmp(type, "counter") == 0,
			    strlen(name) > 6 && strcmp(name + strlen(name) - 6, "_total") == 0);
			continue;
		}
		ck_assert_uint_ge(len, strlen(name));
		ck_assert(memcmp(line, name, strlen(name)) == 0);
		ck_assert(len == strlen(name) ||
			  (strcmp(type, "histogram") == 0 &&
			      is_part(line + strlen(name), len - strlen(name))));
	}
	free(text);
}
END_TEST

TCase *metrics_tests(void)
{
	TCase *tcase = tcase_create("metrics");

	tcase_add_test(tcase, each_figure_is_a_line);
	tcase_add_test(tcase, buckets_add_up_to_the_count);
	tcase_add_test(tcase, no_counter_is_left_out);
	tcase_add_test(tcase, samples_follow_their_type);
	return tcase;
}
