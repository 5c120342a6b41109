/*
 * routes: find the chain of an id and call its handlers, N times, for
 * contrib/bench/routing to count the instructions.
 *
 *     contrib/bench/routes none | exact | chain N
 *
 * none calls the handler without a router: what the loop itself costs. exact has
 * one handler for each of many ids; chain has one before and one after it, too.
 */
#include "config.h"

#include <err.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "route/router.h"

#define FIRST_ID 1000u
#define N_IDS 512u

static uint64_t n_calls;

/* Of a chain. */
static enum rnl_verdict pass(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)msg;
	(void)arg;
	n_calls++;
	return RNL_NEXT;
}

/* Alone. */
static enum rnl_verdict finish(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)msg;
	(void)arg;
	n_calls++;
	return RNL_DONE;
}

static void add(struct router *router, uint32_t first, uint32_t last, enum rnl_stage stage,
    rnl_handler_f *handler)
{
	const struct rnl_route route = {
		.first = first, .last = last, .handler = handler, .stage = stage
	};
	struct reason why;

	if (router_add(router, "bench", 0, &route, &why) != STATUS_OK)
		errx(1, "%s", why.text);
}

static struct router *make_router(bool has_chain)
{
	struct router *router = router_new();
	struct reason why;

	if (router == NULL)
		errx(1, "out of memory");
	/* Ids as they come in practice: some here, some there. */
	for (uint32_t i = 0; i < N_IDS; i++)
		add(router, FIRST_ID + 7 * i, FIRST_ID + 7 * i, RNL_HANDLE,
		    has_chain ? pass : finish);
	if (has_chain) {
		add(router, 0, UINT32_MAX, RNL_BEFORE, pass);
		add(router, 0, UINT32_MAX, RNL_AFTER, pass);
	}
	if (router_seal(router, &why) != STATUS_OK)
		errx(1, "%s", why.text);
	return router;
}

/* As the worker does it. */
static void call_chain(const struct router *router, const struct rnl_msg *msg)
{
	const struct step *step = router_find(router, msg->id);
	enum rnl_verdict verdict = RNL_NEXT;

	if (step == NULL)
		errx(1, "no route for %" PRIu32, msg->id);
	for (; verdict == RNL_NEXT && step->handler != NULL; step++)
		verdict = step->handler(NULL, msg, step->arg);
}

int main(int argc, char **argv)
{
	struct rnl_msg msg = { .size = sizeof(msg), .payload = "" };
	rnl_handler_f *volatile direct = finish;
	struct router *router;
	bool is_direct;
	uint64_t n;

	if (argc != 3)
		errx(2, "usage: routes none | exact | chain N");
	router = make_router(strcmp(argv[1], "chain") == 0);
	is_direct = strcmp(argv[1], "none") == 0;
	n = strtoull(argv[2], NULL, 10);
	for (uint64_t i = 0; i < n; i++) {
		msg.id = FIRST_ID + 7 * (uint32_t)(i % N_IDS);
		if (is_direct)
			direct(NULL, &msg, NULL);
		else
			call_chain(router, &msg);
	}
	router_destroy(&router);
	return n_calls >= n ? 0 : 1;
}
