/*
 * Listeners made of settings and modules: framing, router, hooks, limits. Upstreams
 * are made in the same way.
 */
#ifndef RUNNEL_MODULE_LISTENERS_H
#define RUNNEL_MODULE_LISTENERS_H

#include <stddef.h>

#include "base/status.h"
#include "conn/listener.h"
#include "module/framings.h"
#include "module/modules.h"
#include "settings/settings.h"

struct listeners {
	struct listener *list; /* as settings->listeners; owned, with their routers and hooks */
	union framing_room *framings; /* of each, where it has parameters; owned */
	size_t n;
	struct listener *upstreams; /* as settings->upstreams; owned likewise, as are: */
	union framing_room *upstream_framings;
	size_t n_upstreams;
};

/*
 * Modules must be configured; they and the settings are borrowed.
 * STATUS_INVALID: routes of two modules overlap, there is no such framing, or it cannot say
 * heartbeats; *why names the section too.
 */
enum status listeners_new(const struct settings *settings, const struct modules *modules,
    struct listeners **listeners, struct reason *why) MUST_CHECK;

/* Of what is most likely a mistake; for whoever reads a file, as the operator is told once. */
void listeners_warn(const struct listeners *listeners, const struct modules *modules);

void listeners_destroy(struct listeners **listeners);

#endif
