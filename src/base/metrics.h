/*
 * Metrics that modules declare: what there is, in a directory that is the master's and
 * of which each worker gets a copy when it is forked; and the values, by their place
 * in it, which each process has for itself in memory that it shares with the master.
 * A counter is like those of counters.h; a gauge ends with its process.
 */
#ifndef RUNNEL_BASE_METRICS_H
#define RUNNEL_BASE_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define METRICS_MAX 64
#define METRIC_NAME_SIZE 64
#define METRIC_HELP_SIZE 128

enum metric_kind { METRIC_COUNTER, METRIC_GAUGE };

struct metric_entry {
	uint32_t kind;
	uint32_t generation;           /* the last that has it */
	char module[METRIC_NAME_SIZE]; /* the name of its section */
	char name[METRIC_NAME_SIZE];   /* as the module gives it */
	char help[METRIC_HELP_SIZE];
};

struct metric_directory {
	uint32_t n;
	struct metric_entry list[METRICS_MAX];
};

union metric_cell {
	uint64_t count; /* of a counter */
	double level;   /* of a gauge */
};

struct metric_cells {
	uint64_t declared; /* a bit for each metric that there is here */
	union metric_cell list[METRICS_MAX];
};

_Static_assert(METRICS_MAX <= 64, "a bit for each");

static inline uint64_t metric_bit(size_t index)
{
	return UINT64_C(1) << index;
}

/* "counter" or "gauge". */
const char *metric_kind_name(uint32_t kind);

/* Its name for Prometheus, "runnel_module_MODULE_NAME": what stands there twice is the same. */
#define METRIC_FAMILY_SIZE (2 * METRIC_NAME_SIZE + 16)
const char *metric_family(const struct metric_entry *entry, char family[METRIC_FAMILY_SIZE]);

/* The place of a module's metric; -1: there is none. */
int metric_find(const struct metric_directory *directory, const char *module, const char *name);

/*
 * Add a metric, or write the one that is there anew; it has the same kind, which the end of its
 * name tells. Returns its place; -1: the directory is full.
 */
int metric_learn(
    struct metric_directory *directory, const struct metric_entry *entry) MUST_CHECK;

/* Add what is declared in from; of counters only, unless gauges are wanted as well. */
void metric_cells_add(const struct metric_directory *directory, struct metric_cells *to,
    const struct metric_cells *from, bool has_gauges);

#endif
