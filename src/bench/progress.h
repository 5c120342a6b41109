/*
 * The progress bar: one line on stderr that is written over. Where stderr is no
 * terminal but progress is asked for, it is a line of its own each second.
 */
#ifndef RUNNEL_BENCH_PROGRESS_H
#define RUNNEL_BENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct options;

struct progress {
	bool is_shown;
	bool is_terminal;
	const char *what;   /* "connect", "warm-up", "run"; borrowed */
	const char *things; /* "connections", "requests"; borrowed */
	uint64_t total;     /* 0: unknown, the time decides */
	uint64_t total_ns;  /* with total 0 */
	uint64_t started_ns;
	uint64_t last_ns, last_done; /* at the line before */
};

void progress_init(struct progress *progress, const struct options *options);

/* A phase begins. */
void progress_begin(struct progress *progress, const char *what, const char *things,
    uint64_t total, uint64_t total_ns);

/* How long until a new line is of interest, for poll(); -1: never. */
int progress_wait_ms(const struct progress *progress);

void progress_show(struct progress *progress, uint64_t done);

/* The phase is over: leave no bar behind. */
void progress_end(struct progress *progress);

#endif
