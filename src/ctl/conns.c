#include "config.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/units.h"

#include "ctl/conns.h"
#include "ctl/table.h"

enum column { ID, WORKER, LISTENER, PEER, AGE, IDLE, MESSAGES, BYTES, N_COLUMNS };

static const struct table_column columns[N_COLUMNS] = {
	[ID] = { "ID", false },
	[WORKER] = { "WORKER", false },
	[LISTENER] = { "LISTENER", true },
	[PEER] = { "PEER", true },
	[AGE] = { "AGE", false },
	[IDLE] = { "IDLE", false },
	[MESSAGES] = { "QUEUED", false },
	[BYTES] = { "BYTES", false },
};

static void put_number(struct table_row *row, enum column column, const json_t *number)
{
	snprintf(row->cells[column], TABLE_CELL_SIZE, "%" JSON_INTEGER_FORMAT,
	    json_integer_value(number));
}

static void put_text(struct table_row *row, enum column column, const json_t *text)
{
	const char *value = json_string_value(text);

	snprintf(row->cells[column], TABLE_CELL_SIZE, "%s", value != NULL ? value : "?");
}

static void put_age(struct table_row *row, enum column column, const json_t *ms)
{
	char age[UNITS_TEXT_SIZE];

	snprintf(row->cells[column], TABLE_CELL_SIZE, "%s",
	    units_format_age(json_integer_value(ms), age));
}

static void put_conn(struct table_row *row, const json_t *conn)
{
	put_number(row, ID, json_object_get(conn, "id"));
	put_number(row, WORKER, json_object_get(conn, "worker"));
	put_text(row, LISTENER, json_object_get(conn, "listener"));
	put_text(row, PEER, json_object_get(conn, "peer"));
	put_age(row, AGE, json_object_get(conn, "age_ms"));
	put_age(row, IDLE, json_object_get(conn, "idle_ms"));
	put_number(row, MESSAGES, json_object_get(conn, "queue_messages"));
	put_number(row, BYTES, json_object_get(conn, "queue_bytes"));
}

static void print_rest(const json_t *answer, size_t n_shown, FILE *out)
{
	json_int_t n_found = json_integer_value(json_object_get(answer, "found"));
	const json_t *silent = json_object_get(answer, "silent");

	if (n_found > (json_int_t)n_shown)
		fprintf(out, "%" JSON_INTEGER_FORMAT " more; --limit shows more of them\n",
		    n_found - (json_int_t)n_shown);
	for (size_t i = 0; i < json_array_size(silent); i++)
		fprintf(out,
		    "without those of worker %" JSON_INTEGER_FORMAT
		    ", which has not answered\n",
		    json_integer_value(json_array_get(silent, i)));
}

void conns_print(const json_t *answer, FILE *out)
{
	const json_t *conns = json_object_get(answer, "connections");
	size_t n = json_array_size(conns);
	struct table_row *rows = must_alloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < n; i++)
		put_conn(&rows[i], json_array_get(conns, i));
	table_print(columns, N_COLUMNS, rows, n, out);
	free(rows);
	print_rest(answer, n, out);
}
