/*
 * Durations as an answer to `status` has them, taken apart again.
 */
#ifndef RUNNEL_CTL_LATENCY_H
#define RUNNEL_CTL_LATENCY_H

#include <jansson.h>

#include "base/durations.h"

/* Room for "1.2 ms". */
#define LATENCY_SIZE 32

/* Add what {"count", "buckets"} counts; what is no such object counts nothing. */
void latency_add(struct durations *durations, const json_t *object);

/* Take away what an earlier look has counted already. */
void latency_subtract(struct durations *durations, const json_t *object);

/* A quantile, for people: "85us", "1.2ms", ">100s"; "-": there are none. Returns buf. */
const char *latency_format(
    const struct durations *durations, unsigned int per_mille, char buf[LATENCY_SIZE]);

#endif
