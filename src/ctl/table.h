/*
 * Rows of cells, in columns that are as wide as they have to be.
 */
#ifndef RUNNEL_CTL_TABLE_H
#define RUNNEL_CTL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TABLE_MAX_COLUMNS 11
#define TABLE_CELL_SIZE 128

struct table_column {
	const char *title;
	bool is_left; /* its cells begin at the same place; otherwise they end there */
};

struct table_row {
	char cells[TABLE_MAX_COLUMNS][TABLE_CELL_SIZE];
};

/* With the titles first. */
void table_print(const struct table_column *columns, int n_columns,
    const struct table_row *rows, size_t n_rows, FILE *out);

#endif
