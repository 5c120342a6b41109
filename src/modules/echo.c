/*
 * echo: every message goes back as it came.
 */
#include <runnel/module.h>

static enum rnl_verdict echo(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_send(conn, msg->id, msg->payload, msg->len);
	return RNL_DONE;
}

static const struct rnl_route routes[] = { RNL_ON_RANGE(0, UINT32_MAX, echo) };

RNL_MODULE(.version = "1.0", .routes = routes, .n_routes = 1);
