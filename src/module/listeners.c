#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/panic.h"
#include "module/listeners.h"

static enum status add_module(struct listener *listener, struct router *router,
    const struct module *module, struct reason *why)
{
	listener->modules[listener->n_modules++] = (struct listener_module){
		.api = &module->api,
		.name = module->name,
		.index = (unsigned int)module->self.index,
	};
	for (size_t i = 0; i < module->n_routes; i++) {
		enum status status = router_add(router, module->name,
		    (unsigned int)module->self.index, &module->routes[i], why);

		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status make_router(struct listener *listener, struct router *router,
    const struct modules *modules, struct reason *why)
{
	for (size_t i = 0; i < listener->settings->n_modules; i++) {
		const struct module *module =
		    modules_get(modules, listener->settings->modules[i]);
		enum status status;

		CHECK(module != NULL);
		status = add_module(listener, router, module, why);
		if (status != STATUS_OK)
			return status;
	}
	return router_seal(router, why);
}

/* The framing's own overhead is not known to whoever has checked the settings. */
static enum status check_room(const struct listener *listener, struct reason *why)
{
	const struct listen_settings *settings = listener->settings;
	size_t needed = chunk_memory_for(listener->reply_room);

	if (needed <= settings->send_queue_bytes)
		return STATUS_OK;
	return reason_set(why,
	    "%s: listen '%s': send-queue-bytes: %" PRIu32
	    " hold no message of max-message bytes in "
	    "framing %s; give at least %zu",
	    settings->framing_place, settings->name, settings->send_queue_bytes,
	    settings->framing, needed);
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
	struct router *router = router_new();
	struct reason detail = { "" };
	enum status status;

	listener->router = router;
	listener->modules = calloc(settings->n_modules, sizeof(*listener->modules));
	if (router == NULL || listener->modules == NULL)
		return STATUS_NOMEM;
	listener->name = settings->name;
	listener->settings = settings;
	listener->limits.max_messages = settings->send_queue_messages;
	listener->limits.max_bytes = settings->send_queue_bytes;
	listener->max_connections = settings->max_connections;
	status = make_router(listener, router, modules, &detail);
	if (status == STATUS_INVALID)
		reason_set(why, "listen '%s': %s", settings->name, detail.text);
	if (status == STATUS_OK)
		status = framing_find(settings, modules, framing, &listener->framing, why);
	if (status != STATUS_OK)
		return status;
	listener->reply_room = reply_room(listener);
	return check_room(listener, why);
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
	if (status != STATUS_OK)
		listeners_destroy(&listeners);
	*result = listeners;
	return status;
}

void listeners_destroy(struct listeners **listeners)
{
	if (*listeners == NULL)
		return;
	for (size_t i = 0; i < (*listeners)->n; i++) {
		router_destroy(&(*listeners)->list[i].router);
		free((*listeners)->list[i].modules);
	}
	free((*listeners)->framings);
	free((*listeners)->list);
	free(*listeners);
	*listeners = NULL;
}
