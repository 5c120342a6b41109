#include "config.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "module/reach.h"

static bool has_heartbeat_hook(const struct listener *listener)
{
	for (size_t i = 0; i < listener->n_modules; i++) {
		if (listener->modules[i].api->heartbeat != NULL)
			return true;
	}
	return false;
}

enum status reach_check(const struct listener *listener, struct reason *why)
{
	const struct listen_settings *settings = listener->settings;
	const struct framing *framing = listener->framing;

	if (settings->heartbeat_interval_ms == 0)
		return STATUS_OK;
	if (framing->first_id != framing->last_id && settings->heartbeat_id > framing->last_id)
		return reason_set(why,
		    "%s: %s '%s': heartbeat-id: framing %s cannot say %" PRIu32
		    "; give an id from %" PRIu32 " to %" PRIu32,
		    settings->heartbeat_place, listener_kind(listener), settings->name,
		    framing->name, settings->heartbeat_id, framing->first_id, framing->last_id);
	/* A module may make one that has a payload. */
	if (framing->min_payload > 0 && !has_heartbeat_hook(listener))
		return reason_set(why,
		    "%s: %s '%s': heartbeat-interval: a heartbeat has no payload, and in "
		    "framing %s the shortest has %zu bytes; remove this, or add a module that "
		    "makes heartbeats",
		    settings->heartbeat_place, listener_kind(listener), settings->name,
		    framing->name, framing->min_payload);
	return STATUS_OK;
}

static bool is_out_of_reach(const struct framing *framing, const struct rnl_route *route)
{
	return route->first > framing->last_id || route->last < framing->first_id;
}

static void warn_of(const struct listener *listener, const struct module *module,
    const struct rnl_route *first, size_t n_out, size_t n_all)
{
	const struct listen_settings *settings = listener->settings;
	const struct framing *framing = listener->framing;

	log_warn("%s: %s '%s': framing %s has ids from %" PRIu32 " to %" PRIu32
		 ": %zu of %zu routes of module '%s' are never taken, the first of them for "
		 "%" PRIu32 " to %" PRIu32,
	    settings->framing_place, listener_kind(listener), settings->name, framing->name,
	    framing->first_id, framing->last_id, n_out, n_all, module->name, first->first,
	    first->last);
}

void reach_warn(const struct listener *listener, const struct modules *modules)
{
	for (size_t i = 0; i < listener->n_modules; i++) {
		const struct module *module = modules->list[listener->modules[i].index];
		const struct routes *routes =
		    listener->is_outgoing ? &module->upstream_routes : &module->routes;
		const struct rnl_route *first = NULL;
		size_t n_out = 0;

		for (size_t k = 0; k < routes->n; k++) {
			if (!is_out_of_reach(listener->framing, &routes->list[k]))
				continue;
			if (n_out++ == 0)
				first = &routes->list[k];
		}
		if (n_out > 0)
			warn_of(listener, module, first, n_out, routes->n);
	}
}
