#include "config.h"

#include <inttypes.h>

#include "bench/compare.h"
#include "bench/json.h"

#define BAR_WIDTH 12

/* From nothing there is no change in percent. */
static const char *format_change(double before, double after, char buf[CHART_TEXT_SIZE])
{
	if (before > 0)
		snprintf(buf, CHART_TEXT_SIZE, "%+.1f %%", (after - before) / before * 100);
	else
		snprintf(buf, CHART_TEXT_SIZE, "%s", after > 0 ? "was 0" : "same");
	return buf;
}

static void print_figure(
    const char *name, double before, double after, const char *unit, int digits, FILE *out)
{
	char texts[3][CHART_TEXT_SIZE];

	snprintf(texts[0], CHART_TEXT_SIZE, "%.*f%s", digits, before, unit);
	snprintf(texts[1], CHART_TEXT_SIZE, "%.*f%s", digits, after, unit);
	fprintf(out, "%-12s %20s %20s %14s\n", name, texts[0], texts[1],
	    format_change(before, after, texts[2]));
}

static void print_latency(const char *name, double before_ns, double after_ns, FILE *out)
{
	char texts[3][CHART_TEXT_SIZE];

	fprintf(out, "%-12s %20s %20s %14s\n", name, chart_format_ns(before_ns, texts[0]),
	    chart_format_ns(after_ns, texts[1]), format_change(before_ns, after_ns, texts[2]));
}

static void print_side(uint64_t count, const struct summary *summary, FILE *out)
{
	char bar[BAR_WIDTH + 1];
	double percent = chart_percent(count, summary->replies);

	fprintf(out, " %9" PRIu64 " %5.1f %% %-*s", count, percent, BAR_WIDTH,
	    chart_bar(count, summary->replies, BAR_WIDTH, bar));
}

static void print_steps(const struct summary *before, const struct summary *after, FILE *out)
{
	char name[CHART_TEXT_SIZE];
	size_t i, end = 0;

	for (i = 0; i <= CHART_STEPS; i++) {
		if (before->steps[i] > 0 || after->steps[i] > 0)
			end = i + 1;
	}
	for (i = 0; i < end; i++) {
		fprintf(out, "%16s", chart_step_name(i, name));
		print_side(before->steps[i], before, out);
		print_side(after->steps[i], after, out);
		fputc('\n', out);
	}
}

void compare_print(const struct summary *before, const struct summary *after, FILE *out)
{
	fprintf(out, "%-12s %20s %20s %14s\n", "", "before", "after", "change");
	if (before->title[0] != '\0' || after->title[0] != '\0')
		fprintf(out, "%-12s %20.20s %20.20s\n", "title", before->title, after->title);
	print_figure("total time", before->seconds, after->seconds, " s", 3, out);
	print_figure(
	    "requests/s", before->requests_per_second, after->requests_per_second, "", 0, out);
	print_figure("failed", (double)before->failed, (double)after->failed, "", 0, out);
	print_latency("mean", before->mean_ns, after->mean_ns, out);
	print_latency("p50", before->p50_ns, after->p50_ns, out);
	print_latency("p99", before->p99_ns, after->p99_ns, out);
	print_latency("max", before->max_ns, after->max_ns, out);
	fputs("\nreplies in steps of 50 ms, before and after\n", out);
	print_steps(before, after, out);
}
