/*
 * Metrics that the modules of this process declare in their configure hooks. In the
 * checker they become a list for the master; in a worker, which the master has made
 * for a conf that was checked, each is a cell in the worker's seat.
 */
#ifndef RUNNEL_MODULE_METRICS_H
#define RUNNEL_MODULE_METRICS_H

#include <stdio.h>

#include <runnel/module.h>

#include "base/metrics.h"
#include "module/modules.h"

/* What a module knows a cell by. */
struct rnl_counter {
	union metric_cell cell;
};

struct rnl_gauge {
	union metric_cell cell;
};

/* Count in these cells from now on; both borrowed for the life of the process. */
void module_metrics_attach(
    const struct metric_directory *directory, struct metric_cells *cells);

/* See rnl_add_counter() and rnl_add_gauge(). */
enum rnl_status module_metric_add(const struct module *module, enum metric_kind kind,
    const char *name, const char *help, union metric_cell **cell);

/* What was declared, a line each: "#metric counter MODULE NAME HELP". */
void module_metrics_write(FILE *out);

#endif
