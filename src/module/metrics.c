#include "config.h"

#include <string.h>

#include "base/counters.h"
#include "base/escape.h"
#include "base/log.h"
#include "module/metrics.h"

/* Of this process. */
static struct {
	struct metric_directory own; /* what its modules have declared */
	const struct metric_directory *directory;
	struct metric_cells *cells;
	struct metric_cells spare;             /* of the checker, which counts for nobody */
	union metric_cell untold[METRICS_MAX]; /* of metrics that the master does not know */
} metrics;

#define LETTERS "abcdefghijklmnopqrstuvwxyz"
#define NAME_BYTES LETTERS "0123456789_"

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), end_len = strlen(end);

	return len > end_len && strcmp(name + len - end_len, end) == 0;
}

/* What is wrong with it; NULL: nothing. */
static const char *name_fault(enum metric_kind kind, const char *name)
{
	static const char *const taken[] = { "_bucket", "_count", "_sum" };

	if (name == NULL || name[0] == '\0' || strchr(LETTERS, name[0]) == NULL ||
	    strspn(name, NAME_BYTES) != strlen(name))
		return "its name is none of lower case letters, digits and '_', with a letter "
		       "first";
	if (strlen(name) >= METRIC_NAME_SIZE)
		return "its name is longer than 63 bytes";
	if (ends_in(name, "_total") != (kind == METRIC_COUNTER))
		return kind == METRIC_COUNTER ? "the name of a counter ends in _total"
					      : "only the name of a counter ends in _total";
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		if (ends_in(name, taken[i]))
			return "_bucket, _count and _sum are the ends of a histogram's names";
	}
	return NULL;
}

static const char *help_fault(const char *help)
{
	size_t len = help != NULL ? strlen(help) : 0;

	if (len == 0 || len >= METRIC_HELP_SIZE)
		return "its help is no text of 1 to 127 bytes";
	for (size_t i = 0; i < len; i++) {
		unsigned char byte = (unsigned char)help[i];

		if (byte < ' ' || byte == '\\' || byte == 0x7f)
			return "its help has a control character or a backslash";
	}
	/* All metrics are one text, and it is JSON's. */
	return utf8_is_valid(help) ? NULL : "its help is not UTF-8";
}

void module_metrics_attach(const struct metric_directory *directory, struct metric_cells *cells)
{
	metrics.directory = directory;
	metrics.cells = cells;
}

/* The place of one that was added to the own directory. */
static enum rnl_status find_cell(
    const struct metric_entry *entry, struct metric_cells *cells, union metric_cell **cell)
{
	const struct metric_directory *directory =
	    metrics.directory != NULL ? metrics.directory : &metrics.own;
	int index = metric_find(directory, entry->module, entry->name);

	if (index < 0) {
		log_warn(
		    "module '%s': metric '%s': told from the next reload on: the module has "
		    "changed since the conf was checked",
		    entry->module, entry->name);
		*cell = &metrics.untold[metric_find(&metrics.own, entry->module, entry->name)];
		return RNL_OK;
	}
	__atomic_store_n(
	    &cells->declared, cells->declared | metric_bit((size_t)index), __ATOMIC_RELAXED);
	*cell = &cells->list[index];
	return RNL_OK;
}

enum rnl_status module_metric_add(const struct module *module, enum metric_kind kind,
    const char *name, const char *help, union metric_cell **cell)
{
	struct metric_entry entry = { .kind = kind };
	const char *fault = name_fault(kind, name);

	if (fault == NULL)
		fault = help_fault(help);
	if (fault == NULL && metric_find(&metrics.own, module->name, name) >= 0)
		fault = "the module has declared it already";
	if (fault != NULL) {
		log_error("module '%s': metric '%s': %s", module->name,
		    name != NULL ? name : "", fault);
		return RNL_EINVAL;
	}
	strcpy(entry.module, module->name);
	strcpy(entry.name, name);
	strcpy(entry.help, help);
	if (metric_learn(&metrics.own, &entry) < 0)
		return RNL_EFULL;
	return find_cell(&entry, metrics.cells != NULL ? metrics.cells : &metrics.spare, cell);
}

void module_metrics_write(FILE *out)
{
	for (uint32_t i = 0; i < metrics.own.n; i++) {
		const struct metric_entry *entry = &metrics.own.list[i];

		fprintf(out, "#metric %s %s %s %s\n", metric_kind_name(entry->kind),
		    entry->module, entry->name, entry->help);
	}
}
