#include "config.h"

#include <string.h>

#include "base/escape.h"

#include "ctl/table.h"

#define GAP "  "

static void print_row(const struct table_column *columns, int n_columns,
    const size_t widths[TABLE_MAX_COLUMNS], const struct table_row *row, FILE *out)
{
	char line[TABLE_MAX_COLUMNS * (TABLE_CELL_SIZE + sizeof(GAP))];
	size_t len = 0;

	for (int i = 0; i < n_columns; i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, "%*s" GAP,
		    (columns[i].is_left ? -1 : 1) * (int)widths[i], row->cells[i]);
	while (len > 0 && line[len - 1] == ' ')
		len--;
	line[len] = '\0';
	escape_print(line, out);
	fputs("\n", out);
}

void table_print(const struct table_column *columns, int n_columns,
    const struct table_row *rows, size_t n_rows, FILE *out)
{
	size_t widths[TABLE_MAX_COLUMNS] = { 0 };
	struct table_row titles;

	for (int i = 0; i < n_columns; i++) {
		snprintf(titles.cells[i], TABLE_CELL_SIZE, "%s", columns[i].title);
		widths[i] = strlen(columns[i].title);
		for (size_t k = 0; k < n_rows; k++) {
			size_t len = strlen(rows[k].cells[i]);

			widths[i] = len > widths[i] ? len : widths[i];
		}
	}
	print_row(columns, n_columns, widths, &titles, out);
	for (size_t k = 0; k < n_rows; k++)
		print_row(columns, n_columns, widths, &rows[k], out);
}
