#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/memory.h"
#include "base/units.h"

#include "ctl/board.h"
#include "ctl/figure.h"
#include "ctl/latency.h"
#include "ctl/table.h"

enum column {
	SLOT,
	STATE,
	PID,
	UP,
	MEMORY,
	CONNS,
	REQUESTS,
	REPLIES,
	P99,
	REFUSED,
	SLOWEST,
	N_COLUMNS
};

static const struct table_column columns[N_COLUMNS] = {
	[SLOT] = { "SLOT", false },
	[STATE] = { "STATE", true },
	[PID] = { "PID", false },
	[UP] = { "UP", false },
	[MEMORY] = { "MEM", false },
	[CONNS] = { "CONNS", false },
	[REQUESTS] = { "REQ/S", false },
	[REPLIES] = { "OUT/S", false },
	[P99] = { "P99", false },
	[REFUSED] = { "REFUSED", false },
	[SLOWEST] = { "SLOWEST HANDLER", true },
};

#define CELL_SIZE TABLE_CELL_SIZE

/* Of workers. */
struct sum {
	size_t n;
	json_int_t conns, most_conns, refused, memory;
	double requests, most_requests, replies;
	struct durations reply_times; /* between two looks */
	bool has_rates;               /* those of all are known */
};

static json_int_t number_of(const json_t *object, const char *name)
{
	return json_integer_value(json_object_get(object, name));
}

static const char *text_of(const json_t *object, const char *name)
{
	const char *text = json_string_value(json_object_get(object, name));

	return text != NULL ? text : "?";
}

static const json_t *find_worker(const json_t *answer, json_int_t slot)
{
	const json_t *workers = json_object_get(answer, "workers");

	for (size_t i = 0; i < json_array_size(workers); i++) {
		const json_t *worker = json_array_get(workers, i);

		if (number_of(worker, "slot") == slot)
			return worker;
	}
	return NULL;
}

/* Between two looks at the same daemon; its own clock says how far they are apart. */
static bool rate_of(const json_t *before, const json_t *now, const json_t *worker,
    const char *counter, double *rate)
{
	const json_t *earlier = find_worker(before, number_of(worker, "slot"));
	json_int_t ms = number_of(now, "uptime_ms") - number_of(before, "uptime_ms");
	json_int_t n = number_of(json_object_get(worker, "counters"), counter) -
		       number_of(json_object_get(earlier, "counters"), counter);

	if (earlier == NULL || number_of(before, "pid") != number_of(now, "pid") || ms <= 0 ||
	    n < 0)
		return false;
	*rate = (double)n * 1000 / (double)ms;
	return true;
}

static void put_number(char cell[CELL_SIZE], json_int_t number)
{
	snprintf(cell, CELL_SIZE, "%" JSON_INTEGER_FORMAT, number);
}

static void put_rate(char cell[CELL_SIZE], bool is_known, double rate)
{
	char figure[FIGURE_SIZE];

	snprintf(cell, CELL_SIZE, "%s", is_known ? figure_format(rate, figure) : "-");
}

/* Short, as figures are: in kilobytes and so on of 1000 bytes. */
static void put_memory(char cell[CELL_SIZE], json_int_t bytes)
{
	char figure[FIGURE_SIZE];

	snprintf(cell, CELL_SIZE, "%s", bytes > 0 ? figure_format((double)bytes, figure) : "-");
}

/* Of the replies that were written between the looks. */
static void put_p99(char cell[CELL_SIZE], bool is_known, const struct durations *durations)
{
	char latency[LATENCY_SIZE];

	snprintf(
	    cell, CELL_SIZE, "%s", is_known ? latency_format(durations, 990, latency) : "-");
}

/* What a worker has written between two looks; the sum has it, too. */
static void put_reply_times(struct table_row *row, struct sum *sum, const json_t *before,
    const json_t *worker, bool is_known)
{
	const json_t *earlier = find_worker(before, number_of(worker, "slot"));
	struct durations durations = { 0 };

	if (is_known) {
		latency_add(&durations, json_object_get(worker, "reply_time"));
		latency_subtract(&durations, json_object_get(earlier, "reply_time"));
		durations_merge(&sum->reply_times, &durations);
	}
	put_p99(row->cells[P99], is_known, &durations);
}

static void put_slowest(char cell[CELL_SIZE], const json_t *worker)
{
	const json_t *slowest = json_object_get(worker, "slowest");

	if (!json_is_object(slowest))
		snprintf(cell, CELL_SIZE, "-");
	else
		snprintf(cell, CELL_SIZE,
		    "%" JSON_INTEGER_FORMAT " ms, %s %" JSON_INTEGER_FORMAT,
		    number_of(slowest, "ms"), text_of(slowest, "module"),
		    number_of(slowest, "id"));
}

static void put_process(struct table_row *row, const json_t *worker)
{
	char up[UNITS_TEXT_SIZE];

	snprintf(row->cells[STATE], CELL_SIZE, "%s%s", text_of(worker, "state"),
	    json_is_true(json_object_get(worker, "degraded")) ? ", degraded" : "");
	if (number_of(worker, "pid") == 0) {
		strcpy(row->cells[PID], "-");
		strcpy(row->cells[UP], "-");
		return;
	}
	put_number(row->cells[PID], number_of(worker, "pid"));
	snprintf(row->cells[UP], CELL_SIZE, "%s",
	    units_format_age(number_of(worker, "uptime_ms"), up));
}

static void put_worker(struct table_row *row, struct sum *sum, const json_t *before,
    const json_t *now, const json_t *worker)
{
	json_int_t conns = number_of(worker, "connections");
	json_int_t refused = number_of(json_object_get(worker, "counters"), "sends_refused");
	double requests = 0, replies = 0;
	bool is_known = rate_of(before, now, worker, "frames_in", &requests) &&
			rate_of(before, now, worker, "frames_out", &replies);

	put_number(row->cells[SLOT], number_of(worker, "slot"));
	put_process(row, worker);
	put_memory(row->cells[MEMORY], number_of(worker, "memory_bytes"));
	put_number(row->cells[CONNS], conns);
	put_rate(row->cells[REQUESTS], is_known, requests);
	put_rate(row->cells[REPLIES], is_known, replies);
	put_reply_times(row, sum, before, worker, is_known);
	put_number(row->cells[REFUSED], refused);
	put_slowest(row->cells[SLOWEST], worker);
	sum->n++;
	sum->conns += conns;
	sum->most_conns = conns > sum->most_conns ? conns : sum->most_conns;
	sum->refused += refused;
	sum->memory += number_of(worker, "memory_bytes");
	sum->requests += requests;
	sum->most_requests = requests > sum->most_requests ? requests : sum->most_requests;
	sum->replies += replies;
	sum->has_rates = sum->has_rates && is_known;
}

/* A worker that drains beside the one that serves in the slot; process: its pid and so on. */
static void put_draining(struct table_row *row, json_int_t slot, const json_t *process)
{
	put_number(row->cells[SLOT], slot);
	strcpy(row->cells[STATE], "draining");
	put_number(row->cells[PID], number_of(process, "pid"));
	put_number(row->cells[CONNS], number_of(process, "connections"));
}

/* Those of workers that were replaced one by one. Returns how many rows. */
static size_t put_leaving(struct table_row *rows, const json_t *workers)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(workers); i++) {
		const json_t *worker = json_array_get(workers, i);
		const json_t *leaving = json_object_get(worker, "leaving");

		if (number_of(leaving, "pid") != 0)
			put_draining(&rows[n++], number_of(worker, "slot"), leaving);
	}
	return n;
}

/* Those of a generation that ends. Returns how many rows. */
static size_t put_ending(struct table_row *rows, const json_t *workers)
{
	size_t n = put_leaving(rows, workers);

	for (size_t i = 0; i < json_array_size(workers); i++) {
		const json_t *worker = json_array_get(workers, i);

		if (number_of(worker, "pid") != 0)
			put_draining(&rows[n++], number_of(worker, "slot"), worker);
	}
	return n;
}

/* The most rows that workers have. */
static size_t count_rows(const json_t *now)
{
	const json_t *ending = json_object_get(now, "ending");
	size_t n = 2 * json_array_size(json_object_get(now, "workers"));

	for (size_t i = 0; i < json_array_size(ending); i++)
		n += 2 * json_array_size(json_object_get(json_array_get(ending, i), "workers"));
	return n;
}

static void put_sum(struct table_row *row, const struct sum *sum)
{
	strcpy(row->cells[SLOT], "all");
	put_memory(row->cells[MEMORY], sum->memory);
	put_number(row->cells[CONNS], sum->conns);
	put_rate(row->cells[REQUESTS], sum->has_rates, sum->requests);
	put_rate(row->cells[REPLIES], sum->has_rates, sum->replies);
	put_p99(row->cells[P99], sum->has_rates, &sum->reply_times);
	put_number(row->cells[REFUSED], sum->refused);
}

/* The most that a worker has, divided by the average. */
static void print_balance(const char *lead, double most, double all, size_t n, FILE *out)
{
	if (all > 0)
		fprintf(out, "%s%.2f", lead, most * (double)n / all);
}

static void print_head(const json_t *now, const struct sum *sum, FILE *out)
{
	json_int_t draining = number_of(now, "draining");
	char up[UNITS_TEXT_SIZE];

	fputs("runneld ", out);
	escape_print(text_of(now, "version"), out);
	fputs(" is ", out);
	escape_print(text_of(now, "state"), out);
	fprintf(out,
	    ": pid %" JSON_INTEGER_FORMAT ", up %s, generation %" JSON_INTEGER_FORMAT "\nconf ",
	    number_of(now, "pid"), units_format_age(number_of(now, "uptime_ms"), up),
	    number_of(now, "generation"));
	escape_print(text_of(now, "conf"), out);
	fprintf(out, "\n%" JSON_INTEGER_FORMAT " connection%s", sum->conns,
	    sum->conns == 1 ? "" : "s");
	print_balance(", balance ", (double)sum->most_conns, (double)sum->conns, sum->n, out);
	if (sum->has_rates)
		print_balance(", of requests ", sum->most_requests, sum->requests, sum->n, out);
	if (draining > 0)
		fprintf(out, "; %" JSON_INTEGER_FORMAT " more of workers that drain", draining);
	fputc('\n', out);
}

/* A section's name may hold what a path may. */
static void print_upstreams(const json_t *now, FILE *out)
{
	const json_t *upstreams = json_object_get(now, "upstreams");

	for (size_t i = 0; i < json_array_size(upstreams); i++) {
		const json_t *upstream = json_array_get(upstreams, i);

		fputs("upstream ", out);
		escape_print(text_of(upstream, "name"), out);
		fprintf(out,
		    ": %" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " connections up\n",
		    number_of(upstream, "up"), number_of(upstream, "wanted"));
	}
}

/* What became of the last change, if that is not what was wanted. */
static void print_trouble(const json_t *now, FILE *out)
{
	/* While the daemon starts, there is none. */
	if (!json_is_false(json_object_get(now, "last_change_successful")) ||
	    text_of(now, "last_change")[0] == '\0')
		return;
	fputs("last change: ", out);
	escape_print(text_of(now, "last_change"), out);
	fputs("\n", out);
}

void board_print(const json_t *before, const json_t *now, FILE *out)
{
	const json_t *workers = json_object_get(now, "workers");
	const json_t *ending = json_object_get(now, "ending");
	struct table_row *rows = must_alloc(count_rows(now) + 1, sizeof(*rows));
	struct sum sum = { .has_rates = true };
	size_t n = 0;

	for (; n < json_array_size(workers); n++)
		put_worker(&rows[n], &sum, before, now, json_array_get(workers, n));
	if (n != 1)
		put_sum(&rows[n++], &sum);
	n += put_leaving(&rows[n], workers);
	for (size_t i = 0; i < json_array_size(ending); i++)
		n +=
		    put_ending(&rows[n], json_object_get(json_array_get(ending, i), "workers"));
	print_head(now, &sum, out);
	print_trouble(now, out);
	print_upstreams(now, out);
	fputc('\n', out);
	table_print(columns, N_COLUMNS, rows, n, out);
	free(rows);
}
