/*
 * The state of the daemon as a table.
 */
#ifndef RUNNEL_CTL_BOARD_H
#define RUNNEL_CTL_BOARD_H

#include <jansson.h>
#include <stdio.h>

/* Of two answers to `status`; before NULL: there is none, and no rate is known. */
void board_print(const json_t *before, const json_t *now, FILE *out);

#endif
