#include "config.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "base/panic.h"
#include "master/metrics.h"

/* A metric's name is that of its counter, where this does not say it by the conventions. */
static const struct {
	const char *counter, *metric;
} names[] = {
	{ "accepted", "connections_accepted" },
	{ "connected", "connections_made" },
	{ "rejected", "connections_rejected" },
	{ "moved_in", "connections_moved_in" },
	{ "moved_out", "connections_moved_out" },
	{ "frames_in", "received_frames" },
	{ "frames_out", "queued_frames" },
	{ "bytes_in", "received_bytes" },
	{ "bytes_out", "sent_bytes" },
	{ "drains", "send_queue_drains" },
	{ "drains_cut", "send_queue_drains_cut" },
	{ "unknown_ids", "unknown_id_frames" },
	{ "malformed", "malformed_frames" },
	{ "oversize", "oversize_frames" },
	{ "bad_checksums", "bad_checksum_frames" },
};

static const char *metric_of(const char *counter)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i].counter, counter) == 0)
			return names[i].metric;
	}
	return counter;
}

static void begin(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP runnel_%s %s\n# TYPE runnel_%s %s\n", name, help, name, type);
}

static void print_gauge(FILE *out, const char *name, const char *help, uint64_t value)
{
	begin(out, name, "gauge", help);
	fprintf(out, "runnel_%s %" PRIu64 "\n", name, value);
}

static void print_daemon(const struct metrics *metrics, FILE *out)
{
	unsigned int n_ready = 0, n_degraded = 0;

	for (unsigned int i = 0; i < metrics->n_slots; i++) {
		n_ready += metrics->slots[i].is_ready;
		n_degraded += metrics->slots[i].is_degraded;
	}
	begin(out, "build_info", "gauge", "1, with the version that runs");
	fprintf(out, "runnel_build_info{version=\"%s\"} 1\n", PACKAGE_VERSION);
	print_gauge(out, "start_time_seconds", "when the master started, since the Unix epoch",
	    (uint64_t)metrics->started_at);
	print_gauge(
	    out, "generation", "number of the generation that serves", metrics->generation);
	print_gauge(out, "last_change_successful",
	    "whether the last start, reload or change of the number of workers was done",
	    metrics->is_last_change_good);
	print_gauge(out, "workers", "workers that there should be", metrics->n_workers);
	print_gauge(out, "workers_ready", "workers that serve", n_ready);
	print_gauge(out, "workers_degraded", "slots whose workers crash too often", n_degraded);
}

static void print_listeners(const struct metrics *metrics, FILE *out)
{
	begin(out, "listener_connections", "gauge",
	    "connections of the generation that serves, by listener");
	for (size_t i = 0; i < metrics->n_listeners; i++)
		fprintf(out, "runnel_listener_connections{listener=\"%s\"} %" PRIu64 "\n",
		    metrics->listeners[i].name, metrics->listeners[i].n_open);
	begin(out, "listener_connections_limit", "gauge", "max-connections of the listener");
	for (size_t i = 0; i < metrics->n_listeners; i++)
		fprintf(out, "runnel_listener_connections_limit{listener=\"%s\"} %" PRIu64 "\n",
		    metrics->listeners[i].name, metrics->listeners[i].max_connections);
}

static void print_upstreams(const struct metrics *metrics, FILE *out)
{
	begin(out, "upstream_connections", "gauge",
	    "connections that are up, of the generation that serves, by upstream");
	for (size_t i = 0; i < metrics->n_upstreams; i++)
		fprintf(out,
		    "runnel_upstream_connections{worker=\"%u\",upstream=\"%s\"} %" PRIu64 "\n",
		    metrics->upstreams[i].slot, metrics->upstreams[i].name,
		    metrics->upstreams[i].n_up);
	begin(out, "upstream_addresses", "gauge",
	    "addresses of the upstream, to each of which a connection should be up");
	for (size_t i = 0; i < metrics->n_upstreams; i++)
		fprintf(out,
		    "runnel_upstream_addresses{worker=\"%u\",upstream=\"%s\"} %" PRIu64 "\n",
		    metrics->upstreams[i].slot, metrics->upstreams[i].name,
		    metrics->upstreams[i].n_addresses);
}

static void print_crashes(const struct metrics *metrics, FILE *out)
{
	begin(out, "worker_crashes_total", "counter",
	    "workers that were killed or ended with a failure");
	for (unsigned int i = 0; i < metrics->n_slots; i++)
		fprintf(out, "runnel_worker_crashes_total{worker=\"%u\"} %" PRIu64 "\n",
		    metrics->slots[i].number, metrics->slots[i].n_crashes);
}

static void print_slots(const struct metrics *metrics, FILE *out)
{
	begin(out, "connections", "gauge", "connections that are open");
	for (unsigned int i = 0; i < metrics->n_slots; i++)
		fprintf(out, "runnel_connections{worker=\"%u\"} %" PRIu64 "\n",
		    metrics->slots[i].number, metrics->slots[i].n_open);
	begin(out, "worker_memory_bytes", "gauge", "resident memory of the worker");
	for (unsigned int i = 0; i < metrics->n_slots; i++)
		fprintf(out, "runnel_worker_memory_bytes{worker=\"%u\"} %" PRIu64 "\n",
		    metrics->slots[i].number, metrics->slots[i].memory_bytes);
	begin(out, "slowest_handler_seconds", "gauge",
	    "the longest time that a handler took since the worker started");
	for (unsigned int i = 0; i < metrics->n_slots; i++)
		fprintf(out, "runnel_slowest_handler_seconds{worker=\"%u\"} %g\n",
		    metrics->slots[i].number, metrics->slots[i].slowest_ms / 1000.);
}

/* The counter that lies at an offset in struct counters. */
static void print_counter(const struct metrics *metrics, const char *counter, const char *help,
    size_t offset, FILE *out)
{
	char name[64];
	int len = snprintf(name, sizeof(name), "%s_total", metric_of(counter));

	CHECK(len > 0 && (size_t)len < sizeof(name));
	begin(out, name, "counter", help);
	for (unsigned int i = 0; i < metrics->n_slots; i++) {
		uint64_t value;

		memcpy(
		    &value, (const char *)&metrics->slots[i].counters + offset, sizeof(value));
		fprintf(out, "runnel_%s{worker=\"%u\"} %" PRIu64 "\n", name,
		    metrics->slots[i].number, value);
	}
}

static void print_closed(const struct metrics *metrics, FILE *out)
{
	begin(out, "connections_closed_total", "counter", "connections that ended, by reason");
	for (unsigned int i = 0; i < metrics->n_slots; i++) {
		const struct metrics_slot *slot = &metrics->slots[i];

		for (int k = 0; k < N_CLOSE_REASONS; k++)
			fprintf(out,
			    "runnel_connections_closed_total{worker=\"%u\",reason=\"%s\"}"
			    " %" PRIu64 "\n",
			    slot->number, close_reason_name((enum close_reason)k),
			    slot->counters.closed[k]);
	}
}

/*
 * The bounds that are told, all of which are bounds of buckets: 1, 2 and 5 of each power of
 * ten from a microsecond to ten seconds, in ns.
 */
static const uint64_t bounds_ns[] = { 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000,
	500000, 1000000, 2000000, 5000000, 10000000, 20000000, 50000000, 100000000, 200000000,
	500000000, 1000000000, 2000000000, 5000000000, 10000000000 };

/* Of one slot; the total is that of the buckets, whatever is counted meanwhile. */
static void print_buckets(
    FILE *out, const char *name, unsigned int number, const struct durations *durations)
{
	uint64_t n = 0;
	size_t bucket = 0;

	for (size_t i = 0; i < sizeof(bounds_ns) / sizeof(bounds_ns[0]); i++) {
		for (; durations_bound_ns(bucket) <= bounds_ns[i]; bucket++)
			n += durations->counts[bucket];
		fprintf(out, "runnel_%s_bucket{worker=\"%u\",le=\"%g\"} %" PRIu64 "\n", name,
		    number, (double)bounds_ns[i] / 1e9, n);
	}
	for (; bucket < DURATIONS_BUCKETS; bucket++)
		n += durations->counts[bucket];
	fprintf(
	    out, "runnel_%s_bucket{worker=\"%u\",le=\"+Inf\"} %" PRIu64 "\n", name, number, n);
	fprintf(out, "runnel_%s_sum{worker=\"%u\"} %.9f\n", name, number,
	    (double)durations->sum_ns / 1e9);
	fprintf(out, "runnel_%s_count{worker=\"%u\"} %" PRIu64 "\n", name, number, n);
}

static void print_times(const struct metrics *metrics, FILE *out)
{
	begin(out, "handler_duration_seconds", "histogram",
	    "how long the handlers of a message took");
	for (unsigned int i = 0; i < metrics->n_slots; i++)
		print_buckets(out, "handler_duration_seconds", metrics->slots[i].number,
		    &metrics->slots[i].times.handler);
	begin(out, "reply_duration_seconds", "histogram",
	    "from the read that completed a message to the write of its reply");
	for (unsigned int i = 0; i < metrics->n_slots; i++)
		print_buckets(out, "reply_duration_seconds", metrics->slots[i].number,
		    &metrics->slots[i].times.reply);
}

void metrics_print(const struct metrics *metrics, FILE *out)
{
	print_daemon(metrics, out);
	print_listeners(metrics, out);
	print_upstreams(metrics, out);
	print_slots(metrics, out);
	print_crashes(metrics, out);
#define PRINT_COUNTER(name, text) \
	print_counter(metrics, #name, text, offsetof(struct counters, name), out);
	COUNTERS(PRINT_COUNTER)
#undef PRINT_COUNTER
	print_closed(metrics, out);
	print_times(metrics, out);
}
