/*
 * The metrics of modules as the master has them: learned from the conf that the
 * checker has written out, told with the daemon's own. Process: the master.
 */
#ifndef RUNNEL_MASTER_MODULE_METRICS_H
#define RUNNEL_MASTER_MODULE_METRICS_H

#include <jansson.h>
#include <stdio.h>

#include "base/status.h"
#include "master/pages.h"

/*
 * Before workers of a generation's conf are started: have a place for each of its metrics, where
 * there is no other that of one which neither the generation that serves nor any process has.
 * STATUS_INVALID: there is no room; *why names the first without, and nothing has changed.
 */
enum status module_metrics_learn(struct pages *pages, const char *conf_text,
    uint32_t generation, uint32_t serving, struct reason *why) MUST_CHECK;

/* In the text format of Prometheus. */
void module_metrics_print(const struct pages *pages, FILE *out);

/* Of one slot: {"MODULE": {"NAME": value}}. */
json_t *module_metrics_to_json(const struct pages *pages, unsigned int slot);

#endif
