/*
 * A module with an option that must be given, and with ids that the module
 * probe has, too. When its process exits it logs the option.
 */
#include <stddef.h>

#include <runnel/module.h>

#include "system/modules/probe.h"

static const char *secret;

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

static int demand_configure(struct rnl_setup *setup)
{
	secret = rnl_option_string(setup, "secret");
	return 0;
}

/* As of a static object in C++. */
__attribute__((destructor)) static void destruct(void)
{
	if (secret != NULL)
		rnl_log(RNL_LOG_INFO, "the secret was %s", secret);
}

RNL_MODULE(.routes = routes, .n_routes = 1, .options = options, .n_options = 1,
    .configure = demand_configure);
