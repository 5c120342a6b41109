#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/panic.h"
#include "module/listeners.h"
#include "module/reach.h"

static enum status add_route(struct listener *listener, const struct module *module,
    const struct rnl_route *route, struct reason *why)
{
	return router_add(
	    listener->router, module->name, (unsigned int)module->self.index, route, why);
}

/* A default handler is not bothered with heartbeats. */
static enum status add_default(struct listener *listener, const struct module *module,
    const struct rnl_route *route, struct reason *why)
{
	uint32_t id = listener->settings->heartbeat_id;
	struct rnl_route below = *route, above = *route;
	enum status status = STATUS_OK;

	if (!listen_has_heartbeat(listener->settings) || id < route->first || id > route->last)
		return add_route(listener, module, route, why);
	if (id > route->first) {
		below.last = id - 1;
		status = add_route(listener, module, &below, why);
	}
	if (status == STATUS_OK && id < route->last) {
		above.first = id + 1;
		status = add_route(listener, module, &above, why);
	}
	return status;
}

static enum status add_module(
    struct listener *listener, const struct module *module, struct reason *why)
{
	const struct routes *routes =
	    listener->is_outgoing ? &module->upstream_routes : &module->routes;

	listener->modules[listener->n_modules++] = (struct listener_module){
		.api = &module->api,
		.name = module->name,
		.index = (unsigned int)module->self.index,
	};
	for (size_t i = 0; i < routes->n; i++) {
		const struct rnl_route *route = &routes->list[i];
		enum status status = route->stage == RNL_DEFAULT
					 ? add_default(listener, module, route, why)
					 : add_route(listener, module, route, why);

		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status make_router(
    struct listener *listener, const struct modules *modules, struct reason *why)
{
	for (size_t i = 0; i < listener->settings->n_modules; i++) {
		const struct module *module =
		    modules_get(modules, listener->settings->modules[i]);
		enum status status;

		CHECK(module != NULL);
		status = add_module(listener, module, why);
		if (status != STATUS_OK)
			return status;
	}
	return router_seal(listener->router, why);
}

/* The framing's own overhead is not known to whoever has checked the settings. */
static enum status check_room(const struct listener *listener, struct reason *why)
{
	const struct listen_settings *settings = listener->settings;
	size_t needed = chunk_memory_for(listener->reply_room);

	if (needed <= settings->send_queue_bytes)
		return STATUS_OK;
	return reason_set(why,
	    "%s: %s '%s': send-queue-bytes: %" PRIu32
	    " hold no message of max-message bytes in "
	    "framing %s; give at least %zu",
	    settings->framing_place, listener_kind(listener), settings->name,
	    settings->send_queue_bytes, settings->framing, needed);
}

/* The largest reply of max-message bytes or less. */
static size_t reply_room(const struct listener *listener)
{
	size_t most = listener->framing->max_payload;

	if (most > listener->settings->max_message)
		most = listener->settings->max_message;
	return most + framing_overhead(listener->framing);
}

static enum status listener_make(struct listener *listener,
    const struct listen_settings *settings, const struct modules *modules,
    union framing_room *framing, struct reason *why)
{
	struct reason detail = { "" };
	enum status status;

	listener->router = router_new();
	listener->modules = calloc(settings->n_modules, sizeof(*listener->modules));
	if (listener->router == NULL || listener->modules == NULL)
		return STATUS_NOMEM;
	listener->name = settings->name;
	listener->settings = settings;
	listener->limits.max_messages = settings->send_queue_messages;
	listener->limits.max_bytes = settings->send_queue_bytes;
	listener->max_connections = settings->max_connections;
	status = make_router(listener, modules, &detail);
	if (status == STATUS_INVALID)
		reason_set(
		    why, "%s '%s': %s", listener_kind(listener), settings->name, detail.text);
	if (status == STATUS_OK)
		status = framing_find(listener_kind(listener), settings, modules, framing,
		    &listener->framing, why);
	if (status != STATUS_OK)
		return status;
	listener->reply_room = reply_room(listener);
	status = check_room(listener, why);
	return status == STATUS_OK ? reach_check(listener, why) : status;
}

static enum status make_upstreams(struct listeners *listeners, const struct settings *settings,
    const struct modules *modules, struct reason *why)
{
	enum status status = STATUS_OK;

	if (settings->n_upstreams == 0)
		return STATUS_OK;
	listeners->upstreams = calloc(settings->n_upstreams, sizeof(*listeners->upstreams));
	listeners->upstream_framings =
	    calloc(settings->n_upstreams, sizeof(*listeners->upstream_framings));
	if (listeners->upstreams == NULL || listeners->upstream_framings == NULL)
		return STATUS_NOMEM;
	for (size_t i = 0; i < settings->n_upstreams && status == STATUS_OK; i++) {
		listeners->n_upstreams++;
		listeners->upstreams[i].is_outgoing = true;
		listeners->upstreams[i].index = SETTINGS_MAX_LISTENERS + (unsigned int)i;
		status = listener_make(&listeners->upstreams[i], &settings->upstreams[i].common,
		    modules, &listeners->upstream_framings[i], why);
	}
	return status;
}

enum status listeners_new(const struct settings *settings, const struct modules *modules,
    struct listeners **result, struct reason *why)
{
	struct listeners *listeners = calloc(1, sizeof(*listeners));
	enum status status = STATUS_OK;

	if (listeners == NULL)
		return STATUS_NOMEM;
	listeners->list = calloc(settings->n_listeners, sizeof(*listeners->list));
	listeners->framings = calloc(settings->n_listeners, sizeof(*listeners->framings));
	if (listeners->list == NULL || listeners->framings == NULL)
		status = STATUS_NOMEM;
	for (size_t i = 0; i < settings->n_listeners && status == STATUS_OK; i++) {
		listeners->n++;
		listeners->list[i].index = (unsigned int)i;
		status = listener_make(&listeners->list[i], &settings->listeners[i], modules,
		    &listeners->framings[i], why);
	}
	if (status == STATUS_OK)
		status = make_upstreams(listeners, settings, modules, why);
	if (status != STATUS_OK)
		listeners_destroy(&listeners);
	*result = listeners;
	return status;
}

void listeners_warn(const struct listeners *listeners, const struct modules *modules)
{
	for (size_t i = 0; i < listeners->n; i++)
		reach_warn(&listeners->list[i], modules);
	for (size_t i = 0; i < listeners->n_upstreams; i++)
		reach_warn(&listeners->upstreams[i], modules);
}

static void free_list(struct listener *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		router_destroy(&list[i].router);
		free(list[i].modules);
	}
	free(list);
}

void listeners_destroy(struct listeners **listeners)
{
	if (*listeners == NULL)
		return;
	free_list((*listeners)->list, (*listeners)->n);
	free((*listeners)->framings);
	free_list((*listeners)->upstreams, (*listeners)->n_upstreams);
	free((*listeners)->upstream_framings);
	free(*listeners);
	*listeners = NULL;
}
