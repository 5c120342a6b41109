#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/counters.h"
#include "base/memory.h"
#include "base/metrics.h"
#include "master/module_metrics.h"

#define LINE_START "#metric "

/* The next word of a line, at most size - 1 bytes of it; false: it has none, or a longer one. */
static bool take_word(const char **at, char *word, size_t size)
{
	size_t len = strcspn(*at, " \n");

	if (len == 0 || len >= size || (*at)[len] != ' ')
		return false;
	memcpy(word, *at, len);
	word[len] = '\0';
	*at += len + 1;
	return true;
}

/* What module_metrics_write() has written, behind the start of the line. */
static bool read_line(const char *at, struct metric_entry *entry)
{
	size_t len;
	char kind[16];

	memset(entry, 0, sizeof(*entry));
	if (!take_word(&at, kind, sizeof(kind)) ||
	    !take_word(&at, entry->module, sizeof(entry->module)) ||
	    !take_word(&at, entry->name, sizeof(entry->name)))
		return false;
	len = strcspn(at, "\n");
	if (len >= sizeof(entry->help))
		return false;
	memcpy(entry->help, at, len);
	entry->kind =
	    strcmp(kind, metric_kind_name(METRIC_COUNTER)) == 0 ? METRIC_COUNTER : METRIC_GAUGE;
	return true;
}

/* What becomes of the directory. */
struct learning {
	const struct pages *pages;
	struct metric_directory next;
	uint64_t taken;      /* places that had another metric: a bit for each */
	uint32_t generation; /* whose metrics these are */
	uint32_t serving;    /* the generation that serves, of which workers may come yet */
};

/* Does a process have the metric of this place? */
static bool is_declared(const struct pages *pages, int index)
{
	for (unsigned int slot = 0; slot < SETTINGS_MAX_WORKERS; slot++) {
		for (unsigned int i = 0; pages->list[slot].is_used && i < SLOT_SEATS; i++) {
			const struct seat *seat = &pages->list[slot].seats[i];

			if ((counter_read(seat->metrics.declared) &
				metric_bit((size_t)index)) != 0)
				return true;
		}
	}
	return false;
}

/* Take the place of a metric that nobody has any more. False: there is none. */
static bool replace(struct learning *learning, const struct metric_entry *entry)
{
	for (int i = 0; i < METRICS_MAX; i++) {
		struct metric_entry *old = &learning->next.list[i];

		if (old->generation >= learning->serving || is_declared(learning->pages, i))
			continue;
		*old = *entry;
		learning->taken |= metric_bit((size_t)i);
		return true;
	}
	return false;
}

static enum status learn_all(struct learning *learning, const char *text, struct reason *why)
{
	for (; *text != '\0'; text += strcspn(text, "\n"), text += *text == '\n') {
		struct metric_entry entry;

		if (strncmp(text, LINE_START, strlen(LINE_START)) != 0 ||
		    !read_line(text + strlen(LINE_START), &entry))
			continue;
		entry.generation = learning->generation;
		if (metric_learn(&learning->next, &entry) < 0 && !replace(learning, &entry))
			return reason_set(why,
			    "module '%s': metric '%s': there is room for %d, with those of "
			    "generations that still run",
			    entry.module, entry.name, METRICS_MAX);
	}
	return STATUS_OK;
}

/* What was counted there is not the new metric's. */
static void clear_taken(struct pages *pages, uint64_t taken)
{
	for (unsigned int slot = 0; slot < SETTINGS_MAX_WORKERS; slot++) {
		struct metric_cells *past = &pages->list[slot].past_metrics;

		if (!pages->list[slot].is_used)
			continue;
		__atomic_fetch_and(&past->declared, ~taken, __ATOMIC_RELAXED);
		for (size_t i = 0; i < METRICS_MAX; i++) {
			if ((taken & metric_bit(i)) != 0)
				past->list[i].count = 0;
		}
	}
}

enum status module_metrics_learn(struct pages *pages, const char *conf_text,
    uint32_t generation, uint32_t serving, struct reason *why)
{
	struct learning *learning = must_alloc(1, sizeof(*learning));
	enum status status;

	*learning = (struct learning){
		.pages = pages,
		.next = *pages->directory,
		.generation = generation,
		.serving = serving,
	};
	status = learn_all(learning, conf_text, why);
	if (status == STATUS_OK) {
		clear_taken(pages, learning->taken);
		*pages->directory = learning->next;
	}
	free(learning);
	return status;
}

/* The shortest text that is the same number again; NaN and infinities as Prometheus has them. */
static void print_level(double level, FILE *out)
{
	char text[32];

	if (!isfinite(level)) {
		fputs(isnan(level) ? "NaN" : level > 0 ? "+Inf" : "-Inf", out);
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, level);
		if (strtod(text, NULL) == level)
			break;
	}
	fputs(text, out);
}

static void print_sample(const struct metric_entry *entry, const char *family,
    unsigned int slot, const union metric_cell *cell, FILE *out)
{
	fprintf(out, "%s{worker=\"%u\",module=\"%s\"} ", family, slot, entry->module);
	if (entry->kind == METRIC_COUNTER)
		fprintf(out, "%" PRIu64, cell->count);
	else
		print_level(cell->level, out);
	fputc('\n', out);
}

struct slot_cells {
	unsigned int slot;
	struct metric_cells sum;
};

/* Those of entry index, under its heading if that is not there yet. */
static bool print_entry(const struct metric_entry *entry, size_t index, bool has_heading,
    const struct slot_cells *slots, size_t n_slots, FILE *out)
{
	char family[METRIC_FAMILY_SIZE];

	metric_family(entry, family);
	for (size_t i = 0; i < n_slots; i++) {
		if ((slots[i].sum.declared & metric_bit(index)) == 0)
			continue;
		if (!has_heading)
			fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", family, entry->help,
			    family, metric_kind_name(entry->kind));
		has_heading = true;
		print_sample(entry, family, slots[i].slot, &slots[i].sum.list[index], out);
	}
	return has_heading;
}

/* Section names that differ by '-', '.' or '_' only share a family, which stands together. */
static void print_family(const struct metric_directory *directory, uint32_t first,
    const struct slot_cells *slots, size_t n_slots, FILE *out)
{
	char ours[METRIC_FAMILY_SIZE], theirs[METRIC_FAMILY_SIZE];
	bool has_heading = false;

	metric_family(&directory->list[first], ours);
	for (uint32_t i = 0; i < directory->n; i++) {
		if (strcmp(metric_family(&directory->list[i], theirs), ours) != 0)
			continue;
		if (i < first)
			return;
		has_heading =
		    print_entry(&directory->list[i], i, has_heading, slots, n_slots, out);
	}
}

void module_metrics_print(const struct pages *pages, FILE *out)
{
	struct slot_cells *slots = must_alloc(SETTINGS_MAX_WORKERS, sizeof(*slots));
	size_t n_slots = 0;

	for (unsigned int slot = 0; slot < SETTINGS_MAX_WORKERS; slot++) {
		if (!pages->list[slot].is_used)
			continue;
		slots[n_slots].slot = slot;
		pages_sum_metrics(pages, slot, &slots[n_slots++].sum);
	}
	for (uint32_t i = 0; i < pages->directory->n; i++)
		print_family(pages->directory, i, slots, n_slots, out);
	free(slots);
}

/* JSON has no number for some levels. */
static json_t *value_of(const struct metric_entry *entry, const union metric_cell *cell)
{
	if (entry->kind == METRIC_COUNTER)
		return json_integer((json_int_t)cell->count);
	return isfinite(cell->level) ? json_real(cell->level) : json_null();
}

json_t *module_metrics_to_json(const struct pages *pages, unsigned int slot)
{
	const struct metric_directory *directory = pages->directory;
	struct metric_cells sum;
	json_t *modules = json_object();

	pages_sum_metrics(pages, slot, &sum);
	for (uint32_t i = 0; i < directory->n; i++) {
		const struct metric_entry *entry = &directory->list[i];
		json_t *module = json_object_get(modules, entry->module);

		if ((sum.declared & metric_bit(i)) == 0)
			continue;
		if (module == NULL) {
			module = json_object();
			json_object_set_new(modules, entry->module, module);
		}
		json_object_set_new(module, entry->name, value_of(entry, &sum.list[i]));
	}
	return modules;
}
