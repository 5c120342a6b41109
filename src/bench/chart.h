/*
 * How figures and distributions look on a terminal of 80 columns.
 */
#ifndef RUNNEL_BENCH_CHART_H
#define RUNNEL_BENCH_CHART_H

#include <stddef.h>
#include <stdint.h>

#define CHART_TEXT_SIZE 32
#define CHART_STEP_NS UINT64_C(50000000)

/* The distribution in steps of 50 ms is shown up to this many steps; the rest is one row. */
#define CHART_STEPS 20

/* Three digits and a unit: "812 ns", "12.3 us", "55.1 ms", "1.23 s". Returns buf. */
const char *chart_format_ns(double ns, char buf[CHART_TEXT_SIZE]);

/* "     50 - 100 ms", ">= 1000 ms": what the row of a step is called. Returns buf. */
const char *chart_step_name(size_t step, char buf[CHART_TEXT_SIZE]);

/* A bar of value/most of width characters, at least one if value is not 0. Returns buf. */
const char *chart_bar(uint64_t value, uint64_t most, size_t width, char *buf);

/* value of total in percent; 0 of 0 is 0. */
double chart_percent(uint64_t value, uint64_t total);

#endif
