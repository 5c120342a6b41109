/*
 * Connections as a table.
 */
#ifndef RUNNEL_CTL_CONNS_H
#define RUNNEL_CTL_CONNS_H

#include <jansson.h>
#include <stdio.h>

/* Of an answer to `conns`. */
void conns_print(const json_t *answer, FILE *out);

#endif
