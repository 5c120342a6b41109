/*
 * The report of a run for people.
 */
#ifndef RUNNEL_BENCH_REPORT_H
#define RUNNEL_BENCH_REPORT_H

#include <stdio.h>

struct run;

void report_print(const struct run *run, FILE *out);

#endif
