#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "wire/framing.h"

#include "bench/chart.h"
#include "bench/options.h"
#include "bench/report.h"
#include "bench/run.h"

#define BAR_WIDTH 36

/* A thread that is busier than this may be what the server waits for. */
#define BUSY_SHARE 0.9

/* Shares of a shorter run say nothing; processor time is told in steps of 10 ms. */
#define MEANINGFUL_SECONDS 0.2

/* With less than this idle, all processors are used up. */
#define IDLE_SHARE 0.03

static void print_load(const struct run *run, FILE *out)
{
	const struct options *options = run->options;
	char text[CHART_TEXT_SIZE];

	fprintf(out, "server       %s, %s, ", run->address.text, options->framing->name);
	switch (options->load) {
	case LOAD_ID:
		fprintf(out, "c10k message %" PRIu64 "\n", options->message_id);
		break;
	case LOAD_MIX:
		fprintf(out, "the four c10k messages at random\n");
		break;
	case LOAD_ECHO:
		fprintf(out, "echo of %" PRIu64 " bytes\n", options->echo_bytes);
		break;
	}
	fprintf(out, "load         %" PRIu64 " connections", options->n_connections);
	if (options->n_requests > 0)
		fprintf(out, " x %" PRIu64 " requests", options->n_requests);
	if (options->duration_ns > 0)
		fprintf(out, " for %s", chart_format_ns((double)options->duration_ns, text));
	fprintf(out, ", %" PRIu64 " in flight", options->n_in_flight);
	if (options->think_ns > 0)
		fprintf(out, ", think %s", chart_format_ns((double)options->think_ns, text));
	if (options->reconnect_percent > 0)
		fprintf(out, ", reconnect %g %%", options->reconnect_percent);
	fprintf(out, "\n             %" PRIu32 " thread%s in %" PRIu32 " process%s\n",
	    run->n_lanes, run->n_lanes == 1 ? "" : "s", run->n_processes,
	    run->n_processes == 1 ? "" : "es");
}

static void print_connects(
    const struct tally *tally, const char *what, double seconds, FILE *out)
{
	const struct histogram *latency = &tally->connect_latency;
	char p50[CHART_TEXT_SIZE], p99[CHART_TEXT_SIZE], max[CHART_TEXT_SIZE];

	fprintf(out, "%-12s %" PRIu64 " of %" PRIu64 " connections in %.2f s", what,
	    tally->connects_opened, tally->connects_tried, seconds);
	if (latency->n > 0)
		fprintf(out, "; p50 %s, p99 %s, max %s",
		    chart_format_ns((double)histogram_quantile_ns(latency, 500), p50),
		    chart_format_ns((double)histogram_quantile_ns(latency, 990), p99),
		    chart_format_ns((double)latency->max_ns, max));
	fputc('\n', out);
}

/* " timeout 3, closed 9": the causes that occurred. */
static void print_causes(
    const uint64_t *counts, const char *const *names, size_t n, const char *lead, FILE *out)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (counts[i] == 0)
			continue;
		fprintf(out, "%s%s %" PRIu64, lead, names[i], counts[i]);
		lead = ", ";
	}
}

static void print_failed_connects(const struct run *run, const struct tally *tally, FILE *out)
{
	uint64_t n = tally_failed_connects(tally);

	if (n == 0)
		return;
	fprintf(out, "             failed %" PRIu64, n);
	print_causes(
	    tally->connects_failed, connect_failure_names, N_CONNECT_FAILURES, ": ", out);
	fprintf(out, " (%s)\n", strerror(run->connect_errno));
}

static void print_failures(const char *what, const struct tally *tally, FILE *out)
{
	const char *lead = ": ";

	fprintf(out, "%-12s %" PRIu64, what, tally_failed_requests(tally));
	print_causes(tally->failed, failure_names, N_FAILURES, lead, out);
	if (tally_failed_requests(tally) > tally->requests_unsent)
		lead = ", ";
	if (tally->requests_unsent > 0)
		fprintf(out, "%snot sent %" PRIu64, lead, tally->requests_unsent);
	fputc('\n', out);
}

static void print_losses(const struct tally *tally, FILE *out)
{
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < N_FAILURES; i++)
		n += tally->lost[i];
	if (n > 0) {
		fprintf(out, "lost         %" PRIu64 " connections", n);
		print_causes(tally->lost, failure_names, N_FAILURES, ": ", out);
		fputc('\n', out);
	}
	if (tally->clients_given_up > 0)
		fprintf(out, "given up     %" PRIu64 " clients\n", tally->clients_given_up);
}

static void print_totals(const struct run *run, FILE *out)
{
	const struct tally *warmup = &run->tallies[PHASE_WARMUP];
	const struct tally *tally = &run->tallies[PHASE_RUN];
	double seconds = tally_seconds(tally);

	print_connects(&run->tallies[PHASE_CONNECT], "connect",
	    tally_seconds(&run->tallies[PHASE_CONNECT]), out);
	print_failed_connects(run, &run->tallies[PHASE_CONNECT], out);
	if (run->options->n_warmup > 0) {
		fprintf(out, "warm-up      %" PRIu64 " replies in %.2f s\n", warmup->replies,
		    tally_seconds(warmup));
		if (tally_failed_requests(warmup) > 0)
			print_failures("  failed", warmup, out);
		print_losses(warmup, out);
	}
	fprintf(out, "total time   %.3f s\n", seconds);
	fprintf(out, "replies      %" PRIu64 "\n", tally->replies);
	fprintf(out, "requests/s   %.0f\n", seconds > 0 ? (double)tally->replies / seconds : 0);
	print_failures("failed", tally, out);
	if (tally->requests_cut > 0)
		fprintf(out, "cut off      %" PRIu64 " in flight when interrupted\n",
		    tally->requests_cut);
	print_losses(tally, out);
	if (run->wrong_note[0] != '\0')
		fprintf(out, "first wrong  %s\n", run->wrong_note);
	if (tally->connects_tried > 0) {
		print_connects(tally, "reconnect", seconds, out);
		print_failed_connects(run, tally, out);
	}
}

static void print_quantiles(const struct histogram *latency, FILE *out)
{
	static const struct {
		const char *name;
		unsigned int per_mille;
	} columns[] = { { "p50", 500 }, { "p90", 900 }, { "p95", 950 }, { "p99", 990 },
		{ "p99.9", 999 }, { "max", 1000 } };
	char text[CHART_TEXT_SIZE];
	size_t i;

	fprintf(out, "\nlatency %9s %9s", "min", "mean");
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		fprintf(out, " %8s", columns[i].name);
	fprintf(out, "\n        %9s",
	    chart_format_ns(latency->n > 0 ? (double)latency->min_ns : 0, text));
	fprintf(out, " %9s", chart_format_ns(histogram_mean_ns(latency), text));
	for (i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		fprintf(out, " %8s",
		    chart_format_ns(
			(double)histogram_quantile_ns(latency, columns[i].per_mille), text));
	fputc('\n', out);
}

static void print_row(
    const char *name, uint64_t count, uint64_t most, uint64_t total, FILE *out)
{
	char bar[BAR_WIDTH + 1];

	fprintf(out, "%17s %10" PRIu64 " %6.2f %%  %s\n", name, count,
	    chart_percent(count, total), chart_bar(count, most, BAR_WIDTH, bar));
}

static void print_steps(const struct histogram *latency, FILE *out)
{
	uint64_t counts[CHART_STEPS + 1], most = 1;
	char name[CHART_TEXT_SIZE];
	size_t i, end = 0;

	for (i = 0; i <= CHART_STEPS; i++) {
		counts[i] = histogram_count_between(latency, i * CHART_STEP_NS,
		    i < CHART_STEPS ? (i + 1) * CHART_STEP_NS : UINT64_MAX);
		if (counts[i] > 0)
			end = i + 1;
		if (counts[i] > most)
			most = counts[i];
	}
	fputs("\nin steps of 50 ms\n", out);
	for (i = 0; i < end; i++)
		print_row(chart_step_name(i, name), counts[i], most, latency->n, out);
}

/* 1, 2, 5, 10, 20, 50, ... us. */
static uint64_t log_edge_ns(size_t i)
{
	static const uint64_t digits[] = { 1, 2, 5 };
	uint64_t edge = 1000 * digits[i % 3];

	for (i /= 3; i > 0; i--)
		edge *= 10;
	return edge;
}

static void print_log_steps(const struct histogram *latency, FILE *out)
{
	enum { STEPS = 28 };
	uint64_t counts[STEPS], edges[STEPS + 1], most = 1;
	char name[2 * CHART_TEXT_SIZE + 4], from[CHART_TEXT_SIZE], to[CHART_TEXT_SIZE];
	size_t i, begin = STEPS, end = 0;

	edges[0] = 0;
	for (i = 0; i < STEPS; i++) {
		edges[i + 1] = log_edge_ns(i);
		counts[i] = histogram_count_between(
		    latency, edges[i], i + 1 < STEPS ? edges[i + 1] : UINT64_MAX);
		if (counts[i] > 0) {
			end = i + 1;
			begin = begin < i ? begin : i;
		}
		if (counts[i] > most)
			most = counts[i];
	}
	fputs("\nin logarithmic steps\n", out);
	for (i = begin; i < end; i++) {
		snprintf(name, sizeof(name), "%s - %s", chart_format_ns((double)edges[i], from),
		    chart_format_ns((double)edges[i + 1], to));
		print_row(name, counts[i], most, latency->n, out);
	}
}

static double busiest_lane_share(const struct run *run)
{
	double most = 0;
	uint32_t i;

	for (i = 0; i < run->n_lanes; i++) {
		if (run->lane_shares[i] > most)
			most = run->lane_shares[i];
	}
	return most;
}

static void print_shares(
    const char *who, double used_seconds, const struct tally *tally, FILE *out)
{
	double seconds = tally_seconds(tally);

	fprintf(out, "%-17s %6.1f %%", who, seconds > 0 ? 100 * used_seconds / seconds : 0);
	if (tally->replies > 0)
		fprintf(
		    out, "   %7.2f us per reply", used_seconds * 1e6 / (double)tally->replies);
	fputc('\n', out);
}

/* Whose limit was measured? */
static void print_verdict(const struct run *run, FILE *out)
{
	double busiest = busiest_lane_share(run);
	double seconds = tally_seconds(&run->tallies[PHASE_RUN]);

	if (busiest < BUSY_SHARE || seconds < MEANINGFUL_SECONDS)
		return;
	if (run->idle_share >= 0 && run->idle_share < IDLE_SHARE)
		fputs(
		    "note: no processor was idle: server and load generator compete for them,\n"
		    "and requests/s tells of both. Compare the server's CPU per reply.\n",
		    out);
	else if (run->has_server_cpu && run->server_busiest_seconds / seconds >= BUSY_SHARE)
		fputs("note: server and load generator were both busy all the time.\n", out);
	else
		fprintf(out,
		    "WARNING: a thread of the load generator used %.0f %% of a processor: it, "
		    "and"
		    " not the\nserver, is the bottleneck. Give it more --threads, or less to "
		    "do.\n",
		    100 * busiest);
}

static void print_cpu(const struct run *run, FILE *out)
{
	const struct tally *tally = &run->tallies[PHASE_RUN];
	uint32_t i;

	fputs("\nprocessor time, 100 % is one processor\n", out);
	print_shares("load generator", (double)tally->cpu_ns / 1e9, tally, out);
	for (i = 0; run->n_lanes > 1 && i < run->n_lanes; i++)
		fprintf(out, "  thread %-8" PRIu32 " %6.1f %%\n", i, 100 * run->lane_shares[i]);
	if (run->has_server_cpu)
		print_shares("server", run->server_seconds, tally, out);
	if (run->idle_share >= 0)
		fprintf(out, "machine idle      %6.1f %% of all processors\n",
		    100 * run->idle_share);
	print_verdict(run, out);
}

void report_print(const struct run *run, FILE *out)
{
	const struct histogram *latency = &run->tallies[PHASE_RUN].latency;

	if (run->options->title != NULL)
		fprintf(out, "%s\n", run->options->title);
	print_load(run, out);
	if (run->is_interrupted)
		fputs("INTERRUPTED: this is the report of a part of the run\n", out);
	fputc('\n', out);
	print_totals(run, out);
	if (latency->n > 0) {
		print_quantiles(latency, out);
		print_steps(latency, out);
		print_log_steps(latency, out);
	}
	print_cpu(run, out);
}
