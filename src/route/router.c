/*
 * Sealing turns routes into elementary ranges: pieces of the handlers' ranges
 * that the same "before" and "after" routes cover from end to end, each with its
 * chain. Default routes are handlers of the gaps that the others leave. Ranges of
 * one id are found by an open-addressing hash table, wider ones, of which there are
 * few, by binary search.
 *
 * Ids go to UINT32_MAX, so ranges are kept with both ends included and nothing
 * adds to an end without having compared it first.
 */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/panic.h"

#include "route/router.h"

#define MAGIC_OPEN 0x726f7574u   /* routes may be added */
#define MAGIC_SEALED 0x726f7573u /* ids may be found */

#define MULTIPLIERS 32u /* that are tried */

struct route {
	struct rnl_route given;
	const char *module; /* borrowed */
	unsigned int index;
	size_t order; /* of router_add */
};

struct range {
	const struct step *chain; /* borrowed from router.steps */
	uint32_t first, last;
};

struct slot {
	const struct step *chain; /* NULL: the slot is empty */
	uint32_t id;
};

struct router {
	uint32_t magic;

	/*
	 * Sealed. A search begins at the slot that the id is hashed to and ends at the id or
	 * at an empty slot. The table is longer by the number of ids and one than what ids
	 * are hashed to, so no search has to wrap, and the last slot is empty.
	 */
	uint32_t multiplier;
	unsigned int shift; /* 32 - log2(number of slots that ids are hashed to) */
	struct slot *slots; /* owned, like all below */
	size_t n_slots;
	struct range *wide; /* of two ids or more; ascending */
	size_t n_wide;
	struct range *ranges; /* all; ascending */
	size_t n_ranges;
	struct step *steps; /* the chains, one after the other */

	/* Open. Sealed with success: empty. */
	struct route *routes;
	size_t n_routes, max_routes;
};

/* Of a router that is being sealed. */
struct plan {
	struct route *handles; /* ascending ids, no two overlap; with room for the defaults */
	size_t n_handles;
	struct route *defaults; /* likewise */
	size_t n_defaults;
	struct route *around; /* "before" and "after" routes in the order they were added */
	size_t n_around;
	uint32_t *cuts; /* where around routes begin, or have ended; ascending */
	size_t n_cuts;
};

struct router *router_new(void)
{
	struct router *router = calloc(1, sizeof(*router));

	if (router != NULL)
		router->magic = MAGIC_OPEN;
	return router;
}

/* "1001" or "1000-1999". */
static const char *ids_text(uint32_t first, uint32_t last, char buf[24])
{
	if (first == last)
		snprintf(buf, 24, "%u", first);
	else
		snprintf(buf, 24, "%u-%u", first, last);
	return buf;
}

static enum status check_route(
    const char *module, const struct rnl_route *route, struct reason *why)
{
	char ids[24];

	if (route->first > route->last)
		return reason_set(why,
		    "module '%s': route %u-%u: the first id is greater than the last", module,
		    route->first, route->last);
	ids_text(route->first, route->last, ids);
	if (route->handler == NULL)
		return reason_set(
		    why, "module '%s': route %s: there is no handler", module, ids);
	if (route->stage != RNL_HANDLE && route->stage != RNL_BEFORE &&
	    route->stage != RNL_AFTER && route->stage != RNL_DEFAULT)
		return reason_set(why, "module '%s': route %s: there is no stage %d", module,
		    ids, (int)route->stage);
	return STATUS_OK;
}

enum status router_add(struct router *router, const char *module, unsigned int index,
    const struct rnl_route *route, struct reason *why)
{
	enum status status;

	CHECK_MAGIC(router, MAGIC_OPEN);
	status = check_route(module, route, why);
	if (status != STATUS_OK)
		return status;
	if (router->n_routes == router->max_routes) {
		size_t n = router->max_routes == 0 ? 16 : 2 * router->max_routes;
		struct route *routes = reallocarray(router->routes, n, sizeof(*routes));

		if (routes == NULL)
			return STATUS_NOMEM;
		router->routes = routes;
		router->max_routes = n;
	}
	router->routes[router->n_routes] = (struct route){
		.given = *route,
		.module = module,
		.index = index,
		.order = router->n_routes,
	};
	router->n_routes++;
	return STATUS_OK;
}

static int compare_routes(const void *left, const void *right)
{
	const struct route *a = left, *b = right;

	if (a->given.first != b->given.first)
		return a->given.first < b->given.first ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static int compare_cuts(const void *left, const void *right)
{
	const uint32_t *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

/* Both in the order of router_add for people who look for them in their conf. */
static enum status refuse_overlap(
    const struct route *low, const struct route *high, struct reason *why)
{
	const struct route *one = low->order < high->order ? low : high;
	const struct route *other = one == low ? high : low;
	uint32_t first = high->given.first;
	uint32_t last = low->given.last < high->given.last ? low->given.last : high->given.last;
	const char *kind = first == last ? "id" : "ids", *it = first == last ? "it" : "them";
	const char *how = one->given.stage == RNL_DEFAULT ? " by default" : "";
	char ids[24];

	ids_text(first, last, ids);
	if (strcmp(one->module, other->module) == 0)
		return reason_set(why, "message %s %s: module '%s' handles %s%s twice", kind,
		    ids, one->module, it, how);
	return reason_set(why, "message %s %s: both module '%s' and module '%s' handle %s%s",
	    kind, ids, one->module, other->module, it, how);
}

/* With routes ascending by first, any two that overlap make two neighbours overlap. */
static enum status check_overlaps(const struct route *routes, size_t n, struct reason *why)
{
	for (size_t i = 1; i < n; i++) {
		const struct route *low = &routes[i - 1], *high = &routes[i];

		if (high->given.first <= low->given.last)
			return refuse_overlap(low, high, why);
	}
	return STATUS_OK;
}

static void add_piece(
    struct plan *plan, const struct route *standard, uint32_t first, uint32_t last)
{
	struct route *piece = &plan->handles[plan->n_handles++];

	*piece = *standard;
	piece->given.first = first;
	piece->given.last = last;
}

/* Give a default route those of its ids that none of the n first handles has. */
static void fill_gaps(struct plan *plan, const struct route *standard, size_t n)
{
	uint32_t first = standard->given.first, last = standard->given.last;

	for (size_t i = 0; i < n && plan->handles[i].given.first <= last; i++) {
		const struct rnl_route *handle = &plan->handles[i].given;

		if (handle->last < first)
			continue;
		if (handle->first > first)
			add_piece(plan, standard, first, handle->first - 1);
		if (handle->last >= last)
			return;
		first = handle->last + 1;
	}
	add_piece(plan, standard, first, last);
}

static void add_defaults(struct plan *plan)
{
	size_t n = plan->n_handles;

	for (size_t i = 0; i < plan->n_defaults; i++)
		fill_gaps(plan, &plan->defaults[i], n);
	qsort(plan->handles, plan->n_handles, sizeof(*plan->handles), compare_routes);
}

static enum status plan_alloc(struct plan *plan, size_t n)
{
	/* Each handle cuts at most one default in two. */
	plan->handles = calloc(n, 2 * sizeof(*plan->handles));
	plan->defaults = calloc(n, sizeof(*plan->defaults));
	plan->around = calloc(n, sizeof(*plan->around));
	plan->cuts = calloc(n, 2 * sizeof(*plan->cuts));
	if (plan->handles == NULL || plan->defaults == NULL || plan->around == NULL ||
	    plan->cuts == NULL)
		return STATUS_NOMEM;
	return STATUS_OK;
}

static void plan_take(struct plan *plan, const struct route *route)
{
	if (route->given.stage == RNL_HANDLE) {
		plan->handles[plan->n_handles++] = *route;
	} else if (route->given.stage == RNL_DEFAULT) {
		plan->defaults[plan->n_defaults++] = *route;
	} else {
		plan->around[plan->n_around++] = *route;
		plan->cuts[plan->n_cuts++] = route->given.first;
		if (route->given.last < UINT32_MAX)
			plan->cuts[plan->n_cuts++] = route->given.last + 1;
	}
}

static enum status plan_make(struct plan *plan, const struct router *router, struct reason *why)
{
	enum status status = plan_alloc(plan, router->n_routes + 1);

	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i < router->n_routes; i++)
		plan_take(plan, &router->routes[i]);
	qsort(plan->handles, plan->n_handles, sizeof(*plan->handles), compare_routes);
	qsort(plan->defaults, plan->n_defaults, sizeof(*plan->defaults), compare_routes);
	qsort(plan->cuts, plan->n_cuts, sizeof(*plan->cuts), compare_cuts);
	status = check_overlaps(plan->handles, plan->n_handles, why);
	if (status == STATUS_OK)
		status = check_overlaps(plan->defaults, plan->n_defaults, why);
	if (status == STATUS_OK)
		add_defaults(plan);
	return status;
}

static void plan_free(struct plan *plan)
{
	free(plan->handles);
	free(plan->defaults);
	free(plan->around);
	free(plan->cuts);
}

static bool covers(const struct route *route, uint32_t id)
{
	return route->given.first <= id && id <= route->given.last;
}

static void add_step(struct step **step, const struct route *route)
{
	**step = (struct step){
		.handler = route->given.handler,
		.arg = route->given.arg,
		.module = route->module,
		.index = route->index,
		.stage = route->given.stage,
	};
	++*step;
}

static void add_around(
    struct step **step, const struct plan *plan, enum rnl_stage stage, uint32_t id)
{
	for (size_t i = 0; i < plan->n_around; i++) {
		if (plan->around[i].given.stage == stage && covers(&plan->around[i], id))
			add_step(step, &plan->around[i]);
	}
}

/* The end that calloc() has written stays where it is: the next chain begins after it. */
static const struct step *add_chain(
    struct step **step, const struct plan *plan, const struct route *handle, uint32_t id)
{
	const struct step *chain = *step;

	add_around(step, plan, RNL_BEFORE, id);
	add_step(step, handle);
	add_around(step, plan, RNL_AFTER, id);
	++*step;
	return chain;
}

/* Cut the handles' ranges wherever a route around them begins or has ended. */
static enum status make_ranges(struct router *router, const struct plan *plan)
{
	size_t cut = 0;

	/* A cut lies in at most one handle's range, and makes one range two. */
	router->ranges = calloc(plan->n_handles + plan->n_cuts + 1, sizeof(*router->ranges));
	if (router->ranges == NULL)
		return STATUS_NOMEM;
	for (size_t i = 0; i < plan->n_handles; i++) {
		uint32_t first = plan->handles[i].given.first;
		uint32_t last = plan->handles[i].given.last;

		for (; cut < plan->n_cuts && plan->cuts[cut] <= last; cut++) {
			if (plan->cuts[cut] <= first)
				continue;
			router->ranges[router->n_ranges++] =
			    (struct range){ .first = first, .last = plan->cuts[cut] - 1 };
			first = plan->cuts[cut];
		}
		router->ranges[router->n_ranges++] =
		    (struct range){ .first = first, .last = last };
	}
	return STATUS_OK;
}

static size_t count_steps(const struct router *router, const struct plan *plan)
{
	size_t n = 1;

	for (size_t i = 0; i < router->n_ranges; i++) {
		n += 2; /* the handler and the end */
		for (size_t j = 0; j < plan->n_around; j++)
			n += covers(&plan->around[j], router->ranges[i].first);
	}
	return n;
}

/* No route begins or ends within a range, so its first id speaks for all. */
static enum status make_chains(struct router *router, const struct plan *plan)
{
	const struct route *handle = plan->handles;
	struct step *step = calloc(count_steps(router, plan), sizeof(*step));

	router->steps = step;
	if (step == NULL)
		return STATUS_NOMEM;
	for (size_t i = 0; i < router->n_ranges; i++) {
		struct range *range = &router->ranges[i];

		while (!covers(handle, range->first))
			handle++;
		range->chain = add_chain(&step, plan, handle, range->first);
	}
	return STATUS_OK;
}

/* Multiplicative hashing (Knuth, TAOCP 3, 6.4): the high bits are the good ones. */
static uint32_t slot_of(const struct router *router, uint32_t id)
{
	return (id * router->multiplier) >> router->shift;
}

/* Returns how many steps beyond the first slot it takes to find each id once. */
static size_t fill_slots(struct router *router)
{
	size_t n_steps = 0;

	memset(router->slots, 0, router->n_slots * sizeof(*router->slots));
	for (size_t i = 0; i < router->n_ranges; i++) {
		const struct range *range = &router->ranges[i];
		struct slot *slot = &router->slots[slot_of(router, range->first)];

		if (range->first != range->last)
			continue;
		for (; slot->chain != NULL; slot++)
			n_steps++;
		*slot = (struct slot){ .chain = range->chain, .id = range->first };
	}
	return n_steps;
}

/*
 * The ids are known, so the multiplier is chosen for them: for a few ids one is found that
 * lets none stand in another's way. It is an odd multiple of 2^32 over the golden ratio.
 */
static enum status make_slots(struct router *router)
{
	size_t n_single = router->n_ranges - router->n_wide, fewest = SIZE_MAX;
	unsigned int bits = 1; /* a shift by 32 is undefined */
	uint32_t best = 0;

	while ((size_t)1 << bits < 4 * n_single)
		bits++;
	router->shift = 32 - bits;
	router->n_slots = ((size_t)1 << bits) + n_single + 1;
	router->slots = calloc(router->n_slots, sizeof(*router->slots));
	if (router->slots == NULL)
		return STATUS_NOMEM;
	for (uint32_t i = 0; i < MULTIPLIERS && fewest > 0; i++) {
		size_t n_steps;

		router->multiplier = UINT32_C(0x9e3779b9) * (2 * i + 1);
		n_steps = fill_slots(router);
		if (n_steps < fewest) {
			fewest = n_steps;
			best = router->multiplier;
		}
	}
	router->multiplier = best;
	fill_slots(router);
	return STATUS_OK;
}

static enum status make_wide(struct router *router)
{
	router->wide = calloc(router->n_ranges + 1, sizeof(*router->wide));
	if (router->wide == NULL)
		return STATUS_NOMEM;
	for (size_t i = 0; i < router->n_ranges; i++) {
		if (router->ranges[i].first != router->ranges[i].last)
			router->wide[router->n_wide++] = router->ranges[i];
	}
	return STATUS_OK;
}

enum status router_seal(struct router *router, struct reason *why)
{
	struct plan plan = { 0 };
	enum status status;

	CHECK_MAGIC(router, MAGIC_OPEN);
	status = plan_make(&plan, router, why);
	if (status == STATUS_OK)
		status = make_ranges(router, &plan);
	if (status == STATUS_OK)
		status = make_chains(router, &plan);
	if (status == STATUS_OK)
		status = make_wide(router);
	if (status == STATUS_OK)
		status = make_slots(router);
	plan_free(&plan);
	if (status != STATUS_OK)
		return status;
	free(router->routes);
	router->routes = NULL;
	router->n_routes = router->max_routes = 0;
	router->magic = MAGIC_SEALED;
	return STATUS_OK;
}

static const struct step *find_wide(const struct router *router, uint32_t id)
{
	size_t low = 0, high = router->n_wide;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct range *range = &router->wide[middle];

		if (id < range->first)
			high = middle;
		else if (id > range->last)
			low = middle + 1;
		else
			return range->chain;
	}
	return NULL;
}

const struct step *router_find(const struct router *router, uint32_t id)
{
	const struct slot *slot;

	/* Each message comes here: no check, but one that is not sealed has no slots. */
	for (slot = &router->slots[slot_of(router, id)]; slot->chain != NULL; slot++) {
		if (slot->id == id)
			return slot->chain;
	}
	return find_wide(router, id);
}

void router_print(const struct router *router, const char *lead, FILE *out)
{
	static const char *const notes[] = {
		[RNL_HANDLE] = "",
		[RNL_BEFORE] = " (before)",
		[RNL_AFTER] = " (after)",
		[RNL_DEFAULT] = " (default)",
	};

	CHECK_MAGIC(router, MAGIC_SEALED);
	for (size_t i = 0; i < router->n_ranges; i++) {
		const struct range *range = &router->ranges[i];
		const char *separator = " ";
		char ids[24];

		fprintf(out, "%s%s", lead, ids_text(range->first, range->last, ids));
		for (const struct step *step = range->chain; step->handler != NULL; step++) {
			fprintf(out, "%s%s%s", separator, step->module, notes[step->stage]);
			separator = " > ";
		}
		fputc('\n', out);
	}
}

void router_destroy(struct router **router)
{
	struct router *gone = *router;

	if (gone == NULL)
		return;
	CHECK(gone->magic == MAGIC_OPEN || gone->magic == MAGIC_SEALED);
	free(gone->slots);
	free(gone->wide);
	free(gone->ranges);
	free(gone->steps);
	free(gone->routes);
	gone->magic = 0;
	free(gone);
	*router = NULL;
}
