/*
 * echo: every message goes back as it came. Where there is no memory for one the
 * connection ends, for a reply that is missing would not be noticed.
 */
#include <runnel/module.h>

static enum rnl_verdict echo(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	if (rnl_send(conn, msg->id, msg->payload, msg->len) == RNL_ENOMEM)
		return RNL_ABORT;
	return RNL_DONE;
}

static const struct rnl_route routes[] = { RNL_ON_RANGE(0, UINT32_MAX, echo) };

/* Nothing is kept from one message to the next. */
RNL_MODULE(.version = "1.0", .routes = routes, .n_routes = 1, .save = rnl_save_nothing,
    .restore = rnl_restore_nothing);
