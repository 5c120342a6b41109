/*
 * Message 1 is answered by a greeting. A module needs no more than this.
 */
#include <runnel/module.h>

static enum rnl_verdict greet(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_send(conn, msg->id, "hello, world\n", 13);
	return RNL_DONE;
}

static const struct rnl_route routes[] = { RNL_ON(1, greet) };

RNL_MODULE(.version = "1.0", .routes = routes, .n_routes = 1);
