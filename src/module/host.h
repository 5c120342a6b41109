/*
 * The functions that modules call.
 */
#ifndef RUNNEL_MODULE_HOST_H
#define RUNNEL_MODULE_HOST_H

#include <runnel/module.h>

#include "base/status.h"
#include "conn/table.h"
#include "module/modules.h"
#include "settings/settings.h"

/* A module that is being configured. */
struct rnl_setup {
	struct module *module;
	const struct module_settings *settings;
	const struct settings *all;
	struct reason *why; /* what the module refused */
	bool is_refused;
};

extern const struct rnl_host host_table;

/* Modules may call from this thread, and from no other. */
void host_claim_thread(void);

/* What loop, connections and worker number the calls of this process refer to; borrowed. */
void host_attach(struct ev_loop *loop, struct conn_table *table);

#endif
