/*
 * Two reports side by side, with the change in percent.
 */
#ifndef RUNNEL_BENCH_COMPARE_H
#define RUNNEL_BENCH_COMPARE_H

#include <stdio.h>

struct summary;

void compare_print(const struct summary *before, const struct summary *after, FILE *out);

#endif
