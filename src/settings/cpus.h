/*
 * Sets of CPUs, as an operator writes them: "3", "0-3", "0,2-3"; numbered from 0, as in
 * /proc/cpuinfo.
 */
#ifndef RUNNEL_SETTINGS_CPUS_H
#define RUNNEL_SETTINGS_CPUS_H

#include <sched.h>
#include <stdbool.h>

#include "base/status.h"

/* What Linux can have; the kernel refuses a set that is smaller than its own. */
#define CPUS_MAX 8192

#define CPUS_TEXT_SIZE 64

struct cpus {
	cpu_set_t sets[CPUS_MAX / CPU_SETSIZE]; /* one set, of the size that CPU_*_S() take */
};

/* STATUS_INVALID: not a set of CPUs. */
enum status cpus_parse(const char *text, struct cpus *cpus) MUST_CHECK;

/* Those that this process may use. STATUS_ERRNO: the kernel does not say. */
enum status cpus_allowed(struct cpus *cpus) MUST_CHECK;

unsigned int cpus_count(const struct cpus *cpus);
bool cpus_has(const struct cpus *cpus, unsigned int cpu);

/* The set of the n-th only, from 0, beginning anew behind the last. The set is not empty. */
struct cpus cpus_nth(const struct cpus *cpus, unsigned int n);

/* "0-3,8"; a text that is too long is cut. Returns text. */
const char *cpus_format(const struct cpus *cpus, char text[CPUS_TEXT_SIZE]);

#endif
