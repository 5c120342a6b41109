/*
 * The report of a run as JSON: written at the end of a run, and the figures that a
 * comparison needs read back. runnel-bench(1) describes the keys.
 */
#ifndef RUNNEL_BENCH_JSON_H
#define RUNNEL_BENCH_JSON_H

#include <stdint.h>

#include "base/status.h"

#include "bench/chart.h"

struct run;

/*
 * Open the file before the run, so that a bad name is no bad surprise after it; what is in it
 * stays there until json_write(). "-" is standard output.
 */
enum status json_open(const char *path, int *fd, struct reason *why) MUST_CHECK;

/* Replace the file's content. Closes fd in any case. */
enum status json_write(
    const struct run *run, const char *path, int fd, struct reason *why) MUST_CHECK;

/* What a comparison shows of a report. */
struct summary {
	char title[64]; /* cut; empty: none */
	double seconds;
	double requests_per_second;
	uint64_t replies;
	uint64_t failed;
	double mean_ns, p50_ns, p99_ns, max_ns;
	uint64_t steps[CHART_STEPS + 1]; /* replies in steps of 50 ms; the last is the rest */
};

/* STATUS_INVALID: *why says what is wrong with the file. */
enum status json_read(const char *path, struct summary *summary, struct reason *why) MUST_CHECK;

#endif
