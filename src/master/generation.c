#include "config.h"

#include <stdlib.h>

#include "base/memory.h"
#include "master/control.h"
#include "master/generation.h"
#include "worker/limits.h"

enum status generation_new(uint32_t number, const char *conf_path, char *conf_text,
    unsigned int n_workers, struct generation **result, struct reason *why)
{
	struct generation *generation = must_alloc(1, sizeof(*generation));
	enum status status;

	generation->number = number;
	generation->conf_text = conf_text;
	list_init(&generation->link);
	status = settings_load(conf_path, conf_text, NULL, NULL, &generation->settings, why);
	if (status == STATUS_OK && n_workers != 0)
		generation->settings->workers = n_workers;
	if (status == STATUS_OK)
		status = privileges_find(generation->settings, &generation->privileges, why);
	if (status == STATUS_OK)
		status = limits_apply(generation->settings, why);
	if (status == STATUS_OK)
		status = control_check(generation->settings, why);
	if (status == STATUS_OK) {
		*result = generation;
		return STATUS_OK;
	}
	generation_destroy(&generation);
	if (status == STATUS_NOMEM)
		reason_set(why, "out of memory");
	return STATUS_INVALID;
}

void generation_destroy(struct generation **generationp)
{
	struct generation *generation = *generationp;

	if (generation == NULL)
		return;
	list_remove(&generation->link);
	crew_destroy(&generation->crew);
	settings_destroy(&generation->settings);
	free(generation->sockets);
	free(generation->conf_text);
	free(generation);
	*generationp = NULL;
}
