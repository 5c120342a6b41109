/*
 * The modules of this process: loaded, checked for their ABI, configured. Used by
 * the checker, which ends afterwards, and by each worker; never by the master.
 */
#ifndef RUNNEL_MODULE_MODULES_H
#define RUNNEL_MODULE_MODULES_H

#include <stddef.h>

#include <runnel/module.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/status.h"
#include "conn/table.h"
#include "settings/settings.h"

struct module_framing;

/* What the host knows a module by, and what a module hands back with its calls. */
struct rnl_self {
	const char *name; /* of its section */
	size_t index;     /* of its pointer in each connection */
	struct log_cap malformed, bad_calls;
};

struct routes {
	struct rnl_route *list; /* owned */
	size_t n;
};

struct module {
	struct rnl_self self;
	char *name;            /* owned, like all below */
	void *handle;          /* of dlopen; never closed: hooks and constants live in it */
	struct rnl_module api; /* a copy, zero where the module's ABI is older than ours */
	struct routes routes;  /* of its table and of its configure hook */
	struct routes upstream_routes;
	struct hash lanes;               /* of its jobs, by key */
	struct module_framing *framings; /* of its configure hook */
};

struct modules {
	struct module **list; /* in the conf's order */
	size_t n;
};

/* All hooks are called in this thread. */
struct modules *modules_new(void) MUST_CHECK;

/* Load a module and tell its options: a settings_find_f whose arg is the struct modules. */
enum status modules_find(const struct module_settings *settings,
    const struct rnl_option **options, size_t *n_options, struct reason *why,
    void *modules) MUST_CHECK;

/* Call the configure hooks, in order. STATUS_INVALID: *why names the module. */
enum status modules_configure(
    struct modules *modules, const struct settings *settings, struct reason *why) MUST_CHECK;

/* Tell the table of connections what the modules' data is freed by. */
void modules_attach(const struct modules *modules, struct conn_table *table);

/* Call the start hooks. STATUS_INVALID: *why names the module. */
enum status modules_start(struct modules *modules, struct reason *why) MUST_CHECK;

/* Call the drain hooks. */
void modules_drain(const struct modules *modules);

/* Call the stop hooks of modules whose start hook was called, in reverse order. */
void modules_stop(struct modules *modules);

/* NULL: no such module. */
const struct module *modules_get(const struct modules *modules, const char *name);

/* Not before exit(3), which runs code of the modules. */
void modules_destroy(struct modules **modules);

#endif
