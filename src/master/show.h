/*
 * What verbs answer, as lines for people.
 */
#ifndef RUNNEL_MASTER_SHOW_H
#define RUNNEL_MASTER_SHOW_H

#include <jansson.h>
#include <stdio.h>

/* What the verb does not put in force, if there is such. */
void show_warnings(const json_t *answer, FILE *out);

void show_status(const json_t *answer, FILE *out);

#endif
