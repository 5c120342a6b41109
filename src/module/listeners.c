#include "config.h"

#include <stdlib.h>

#include "base/panic.h"
#include "module/listeners.h"

static const struct framing *const framings[] = {
	[FRAMING_TLV] = &framing_tlv,
	[FRAMING_LTV] = &framing_ltv,
};

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

static enum status listener_make(struct listener *listener,
    const struct listen_settings *settings, const struct modules *modules, struct reason *why)
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
	listener->framing = framings[settings->framing];
	listener->limits.max_messages = settings->send_queue_messages;
	listener->limits.max_bytes = settings->send_queue_bytes;
	listener->reply_room = settings->max_message + framing_overhead(listener->framing);
	listener->max_connections = settings->max_connections;
	status = make_router(listener, router, modules, &detail);
	if (status == STATUS_INVALID)
		reason_set(why, "listen '%s': %s", settings->name, detail.text);
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
	if (listeners->list == NULL)
		status = STATUS_NOMEM;
	for (size_t i = 0; i < settings->n_listeners && status == STATUS_OK; i++) {
		listeners->n++;
		listeners->list[i].index = (unsigned int)i;
		status =
		    listener_make(&listeners->list[i], &settings->listeners[i], modules, why);
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
	free((*listeners)->list);
	free(*listeners);
	*listeners = NULL;
}
