/*
 * A listener as a worker has it: one listen section, made ready for the data path.
 * A connect section is made into the same, for connections that the worker makes.
 */
#ifndef RUNNEL_CONN_LISTENER_H
#define RUNNEL_CONN_LISTENER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <runnel/module.h>

#include "io/sendq.h"
#include "route/router.h"
#include "settings/settings.h"
#include "wire/framing.h"

struct connector;

struct listener_module {
	const struct rnl_module *api;
	const char *name;
	unsigned int index; /* in the conf */
};

struct listener {
	const char *name; /* borrowed, as all pointers here, for the worker's life */
	const struct listen_settings *settings;
	const struct framing *framing;
	struct router *router;           /* sealed */
	struct listener_module *modules; /* whose hooks its connections call, in this order */
	size_t n_modules;
	struct sendq_limits limits;
	/*
	 * With when-full = pause a request is served while the queue has room for a reply this
	 * large.
	 */
	size_t reply_room;
	bool is_outgoing; /* of a connect section, one for each address, and of: */
	struct connector *connector;
	/* In settings->listeners; of outgoing ones SETTINGS_MAX_LISTENERS more than in upstreams. */
	unsigned int index;
	uint32_t max_connections; /* over all workers; of outgoing ones no matter */
};

/*
 * May a message with a payload of len bytes be sent? A server that is connected to is taken to have
 * the max-message of its section as well: a longer message would make it end the connection, which
 * others share.
 */
static inline bool listener_may_send(const struct listener *listener, size_t len)
{
	return len <= listener->framing->max_payload &&
	       (!listener->is_outgoing || len <= listener->settings->max_message);
}

/* What the conf calls its section. */
static inline const char *listener_kind(const struct listener *listener)
{
	return listener->is_outgoing ? "connect" : "listen";
}

#endif
