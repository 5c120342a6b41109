/*
 * A module with an option that must be given, and with ids that the module
 * probe has, too.
 */
#include <runnel/module.h>

#include "system/modules/probe.h"

static enum rnl_verdict on_any(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)conn;
	(void)msg;
	(void)arg;
	return RNL_DONE;
}

static const struct rnl_route routes[] = { RNL_ON_RANGE(PROBE_WHO, PROBE_FIND, on_any) };

static const struct rnl_option options[] = {
	{ "secret", RNL_STRING, NULL, 0, 0, "there is no default" },
};

RNL_MODULE(.routes = routes, .n_routes = 1, .options = options, .n_options = 1);
