/*
 * What the verb `status` answers, as lines for people.
 */
#ifndef RUNNEL_MASTER_SHOW_H
#define RUNNEL_MASTER_SHOW_H

#include <jansson.h>
#include <stdio.h>

void show_status(const json_t *answer, FILE *out);

#endif
