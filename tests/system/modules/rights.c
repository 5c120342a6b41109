/*
 * A module that says whose rights its code has: when it is loaded, in the check of the conf, and
 * in a worker.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <runnel/module.h>

#define SIZE 160

static char on_load[SIZE], on_configure[SIZE];

static void describe(char text[SIZE])
{
	struct rlimit core = { 0 };
	gid_t groups[64];

	getrlimit(RLIMIT_CORE, &core);
	snprintf(text, SIZE,
	    "uid=%d gid=%d groups=%d root=%s no_new_privs=%d dumpable=%d core=%llu",
	    (int)geteuid(), (int)getegid(), getgroups(64, groups),
	    getuid() != 0 && setuid(0) == 0 ? "yes" : "no",
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0), prctl(PR_GET_DUMPABLE, 0, 0, 0, 0),
	    (unsigned long long)core.rlim_cur);
}

__attribute__((constructor)) static void load(void)
{
	describe(on_load);
}

/* What is between the service manager and the master. */
static const char *const variables[] = { "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
	"LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES" };

static int configure(struct rnl_setup *setup)
{
	(void)setup;
	describe(on_configure);
	rnl_log(RNL_LOG_INFO, "load: %s", on_load);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
		if (getenv(variables[i]) != NULL)
			rnl_log(RNL_LOG_INFO, "inherited: %s", variables[i]);
	}
	rnl_log(RNL_LOG_INFO, "configure: %s", on_configure);
	return 0;
}

static enum rnl_verdict greet(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	rnl_log(RNL_LOG_INFO, "message %u", msg->id);
	rnl_send(conn, msg->id, msg->payload, msg->len);
	return RNL_DONE;
}

static const struct rnl_route routes[] = { RNL_ON_RANGE(0, 100, greet) };

RNL_MODULE(.configure = configure, .routes = routes, .n_routes = 1);
