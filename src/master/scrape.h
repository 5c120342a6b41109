/*
 * What there is for metrics.h at the moment: from the slots' pages, and from the
 * generation that serves. Process: the master.
 */
#ifndef RUNNEL_MASTER_SCRAPE_H
#define RUNNEL_MASTER_SCRAPE_H

#include <stdio.h>
#include <time.h>

#include "master/pages.h"
#include "master/succession.h"

/* All metrics, also while no generation serves. */
void scrape_print(time_t started_at, const struct succession *succession,
    const struct pages *pages, FILE *out);

#endif
