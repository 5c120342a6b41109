#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settings/cpus.h"

/* A number from 0 to CPUS_MAX - 1, in decimal; *text is moved behind it. */
static bool take_number(const char **text, unsigned int *number)
{
	size_t n_digits = strspn(*text, "0123456789");

	if (n_digits == 0 || n_digits > 5)
		return false;
	*number = (unsigned int)strtoul(*text, NULL, 10);
	*text += n_digits;
	return *number < CPUS_MAX;
}

static bool take_range(const char **text, struct cpus *cpus)
{
	unsigned int first, last;

	if (!take_number(text, &first))
		return false;
	last = first;
	if (**text == '-') {
		++*text;
		if (!take_number(text, &last) || last < first)
			return false;
	}
	for (unsigned int cpu = first; cpu <= last; cpu++)
		CPU_SET_S(cpu, sizeof(*cpus), cpus->sets);
	return true;
}

enum status cpus_parse(const char *text, struct cpus *cpus)
{
	*cpus = (struct cpus){ 0 };
	for (;;) {
		if (!take_range(&text, cpus))
			return STATUS_INVALID;
		if (*text == '\0')
			return STATUS_OK;
		if (*text++ != ',')
			return STATUS_INVALID;
	}
}

enum status cpus_allowed(struct cpus *cpus)
{
	*cpus = (struct cpus){ 0 };
	return sched_getaffinity(0, sizeof(*cpus), cpus->sets) < 0 ? STATUS_ERRNO : STATUS_OK;
}

unsigned int cpus_count(const struct cpus *cpus)
{
	return (unsigned int)CPU_COUNT_S(sizeof(*cpus), cpus->sets);
}

bool cpus_has(const struct cpus *cpus, unsigned int cpu)
{
	return CPU_ISSET_S(cpu, sizeof(*cpus), cpus->sets);
}

struct cpus cpus_nth(const struct cpus *cpus, unsigned int n)
{
	struct cpus one = { 0 };

	n %= cpus_count(cpus);
	for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
		if (cpus_has(cpus, cpu) && n-- == 0) {
			CPU_SET_S(cpu, sizeof(one), one.sets);
			break;
		}
	}
	return one;
}

/* The last of a row that begins with first. */
static unsigned int row_end(const struct cpus *cpus, unsigned int first)
{
	while (first + 1 < CPUS_MAX && cpus_has(cpus, first + 1))
		first++;
	return first;
}

const char *cpus_format(const struct cpus *cpus, char text[CPUS_TEXT_SIZE])
{
	size_t len = 0;

	text[0] = '\0';
	for (unsigned int cpu = 0; cpu < CPUS_MAX && len < CPUS_TEXT_SIZE; cpu++) {
		unsigned int last;

		if (!cpus_has(cpus, cpu))
			continue;
		last = row_end(cpus, cpu);
		len += (size_t)snprintf(text + len, CPUS_TEXT_SIZE - len,
		    last > cpu ? "%s%u-%u" : "%s%u", len > 0 ? "," : "", cpu, last);
		cpu = last;
	}
	return text;
}
