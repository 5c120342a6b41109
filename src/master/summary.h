/*
 * The state of the daemon in figures, as the verb `status` answers. Process: the
 * master.
 */
#ifndef RUNNEL_MASTER_SUMMARY_H
#define RUNNEL_MASTER_SUMMARY_H

#include <jansson.h>
#include <stdint.h>

#include "master/pages.h"
#include "master/succession.h"

/* All borrowed. */
struct summary {
	const char *phase; /* starting, serving, leaving or stopping */
	const char *conf_path;
	uint64_t up_ms;
	const struct succession *succession;
	const struct pages *pages;
};

/* The caller's; NULL: out of memory. */
json_t *summary_to_json(const struct summary *summary);

#endif
