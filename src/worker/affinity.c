#include "config.h"

#include <errno.h>
#include <sched.h>
#include <string.h>

#include "base/log.h"
#include "settings/cpus.h"
#include "worker/affinity.h"

/* STATUS_INVALID: any will do. */
static enum status choose(
    const struct settings *settings, unsigned int slot, struct cpus *chosen)
{
	const char *text = settings->worker_cpus[slot % settings->n_worker_cpus];
	enum status status = STATUS_OK;
	struct cpus allowed;

	if (strcmp(text, "auto") != 0)
		return cpus_parse(text, chosen); /* "none" is no set */
	status = cpus_allowed(&allowed);
	if (status == STATUS_OK)
		*chosen = cpus_nth(&allowed, slot);
	return status;
}

void affinity_apply(const struct settings *settings, unsigned int slot)
{
	struct cpus cpus = { 0 };
	char text[CPUS_TEXT_SIZE];
	enum status status = choose(settings, slot, &cpus);

	if (status == STATUS_INVALID)
		return;
	if (status != STATUS_OK || sched_setaffinity(0, sizeof(cpus), cpus.sets) < 0)
		log_warn("worker-cpu-affinity: this worker is not bound to CPU %s: %s",
		    cpus_format(&cpus, text), strerror(errno));
	else
		log_debug("bound to CPU %s", cpus_format(&cpus, text));
}
