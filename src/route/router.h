/*
 * A router: message id -> chain of handlers. One for each listener of a worker.
 * Routes are added while the worker is set up, then it is sealed: checked, and
 * laid out for finding. A sealed router is never changed.
 */
#ifndef RUNNEL_ROUTE_ROUTER_H
#define RUNNEL_ROUTE_ROUTER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <runnel/module.h>

#include "base/status.h"

/* One call of a chain. The chain ends at a step whose handler is NULL. */
struct step {
	rnl_handler_f *handler;
	void *arg;
	const char *module; /* borrowed name, for messages and lists */
	unsigned int index; /* of the module, as the adder counts them */
	enum rnl_stage stage;
};

struct router;

/* STATUS_NOMEM only by NULL. */
struct router *router_new(void) MUST_CHECK;

/*
 * Add a route of a module (name borrowed for the router's life; index is for the steps). The
 * order of
 * calls is the order of "before" and of "after" handlers.
 * STATUS_INVALID: first > last, no handler, or no such stage.
 */
enum status router_add(struct router *router, const char *module, unsigned int index,
    const struct rnl_route *route, struct reason *why) MUST_CHECK;

/*
 * STATUS_INVALID: two RNL_HANDLE routes overlap, or two RNL_DEFAULT routes; *why names the
 * ids and both modules.
 * An id that has only "before" or "after" routes has no chain: they run around a handler.
 */
enum status router_seal(struct router *router, struct reason *why) MUST_CHECK;

/* The chain of an id, of a sealed router; NULL: no handler. Borrowed. */
const struct step *router_find(const struct router *router, uint32_t id);

/*
 * The routes in force, for people, one range a line, which begins with lead: "1001 c10k",
 * "2000-2999 audit (before) > game > log (after)", "3000-4294967295 relay (default)".
 */
void router_print(const struct router *router, const char *lead, FILE *out);

void router_destroy(struct router **router);

#endif
