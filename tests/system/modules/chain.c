/*
 * A module of handlers that pass a value along their chain, and of a default handler.
 */
#include <stdio.h>
#include <string.h>

#include <runnel/module.h>

#include "system/modules/chain.h"

struct note {
	char text[64];
};

static struct note note;

static enum rnl_verdict before(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)arg;
	snprintf(note.text, sizeof(note.text), "%s%.*s", *msg->scratch != NULL ? "left " : "",
	    (int)msg->len, (const char *)msg->payload);
	*msg->scratch = &note;
	return RNL_NEXT;
}

static enum rnl_verdict handle(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct note *passed = *msg->scratch;

	(void)conn;
	(void)arg;
	strcat(passed->text, " handled");
	return RNL_NEXT;
}

static enum rnl_verdict after(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const struct note *passed = *msg->scratch;

	(void)arg;
	rnl_send(conn, msg->id, passed->text, strlen(passed->text));
	return RNL_NEXT;
}

static enum rnl_verdict bare(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const char *text = *msg->scratch == NULL ? "empty" : "left";

	(void)arg;
	rnl_send(conn, msg->id, text, strlen(text));
	return RNL_DONE;
}

static enum rnl_verdict others(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_send(conn, msg->id, "default", 7);
	return RNL_DONE;
}

static const struct rnl_route routes[] = {
	{ CHAIN_PASSED, CHAIN_PASSED, before, NULL, RNL_BEFORE },
	RNL_ON(CHAIN_PASSED, handle),
	{ CHAIN_PASSED, CHAIN_PASSED, after, NULL, RNL_AFTER },
	RNL_ON(CHAIN_BARE, bare),
	RNL_ON_DEFAULT(others),
};

RNL_MODULE(.version = "1.0", .routes = routes, .n_routes = sizeof(routes) / sizeof(routes[0]));
