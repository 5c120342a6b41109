#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/counters.h"
#include "base/metrics.h"

const char *metric_kind_name(uint32_t kind)
{
	return kind == METRIC_COUNTER ? "counter" : "gauge";
}

const char *metric_family(const struct metric_entry *entry, char family[METRIC_FAMILY_SIZE])
{
	snprintf(family, METRIC_FAMILY_SIZE, "runnel_module_%s_%s", entry->module, entry->name);
	/* A section's name may have bytes that a metric's may not. */
	for (char *at = family; *at != '\0'; at++) {
		if (*at == '-' || *at == '.')
			*at = '_';
	}
	return family;
}

int metric_find(const struct metric_directory *directory, const char *module, const char *name)
{
	for (uint32_t i = 0; i < directory->n; i++) {
		const struct metric_entry *entry = &directory->list[i];

		if (strcmp(entry->module, module) == 0 && strcmp(entry->name, name) == 0)
			return (int)i;
	}
	return -1;
}

int metric_learn(struct metric_directory *directory, const struct metric_entry *entry)
{
	int index = metric_find(directory, entry->module, entry->name);

	if (index < 0 && directory->n == METRICS_MAX)
		return -1;
	if (index < 0)
		index = (int)directory->n++;
	directory->list[index] = *entry;
	return index;
}

/* More than one process may add to a sum that is kept: in an upgrade there are two masters. */
void metric_cells_add(const struct metric_directory *directory, struct metric_cells *to,
    const struct metric_cells *from, bool has_gauges)
{
	uint64_t declared = counter_read(from->declared);

	for (uint32_t i = 0; i < directory->n; i++) {
		bool is_counter = directory->list[i].kind == METRIC_COUNTER;
		double level;

		if ((declared & metric_bit(i)) == 0 || !(is_counter || has_gauges))
			continue;
		__atomic_fetch_or(&to->declared, metric_bit(i), __ATOMIC_RELAXED);
		if (is_counter) {
			__atomic_fetch_add(&to->list[i].count,
			    counter_read(from->list[i].count), __ATOMIC_RELAXED);
		} else {
			__atomic_load(&from->list[i].level, &level, __ATOMIC_RELAXED);
			to->list[i].level += level;
		}
	}
}
