#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "worker/limits.h"

/* For the loop, the log, the channel, the reserve, standard streams, and what modules open. */
#define OTHER_DESCRIPTORS 64

/* The kernel spreads connections by hash: a worker has to hold this much more than its share. */
#define SPREAD_PERCENT 125

static enum status raise_limit(uint64_t *limit, struct reason *why)
{
	struct rlimit nofile;

	if (getrlimit(RLIMIT_NOFILE, &nofile) < 0)
		return reason_set(
		    why, "cannot read the limit of descriptors: %s", strerror(errno));
	if (nofile.rlim_cur < nofile.rlim_max) {
		nofile.rlim_cur = nofile.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &nofile) < 0)
			return reason_set(why,
			    "cannot raise the limit of descriptors to %" PRIu64 ": %s",
			    (uint64_t)nofile.rlim_max, strerror(errno));
	}
	*limit = nofile.rlim_cur;
	return STATUS_OK;
}

/* A connection to an upstream may still linger when the next one is made. */
#define UPSTREAM_DESCRIPTORS 2

/* All slots' sockets: every worker inherits them. And what it connects to upstreams. */
static uint64_t other_descriptors(const struct settings *settings)
{
	uint64_t n = OTHER_DESCRIPTORS;

	for (size_t i = 0; i < settings->n_listeners; i++)
		n += (uint64_t)settings->listeners[i].n_addresses * settings->workers;
	for (size_t i = 0; i < settings->n_upstreams; i++)
		n += (uint64_t)settings->upstreams[i].common.n_addresses * UPSTREAM_DESCRIPTORS;
	return n;
}

/* Connections that one worker has to be able to hold. */
static uint64_t worker_share(const struct settings *settings, uint64_t max_connections)
{
	uint64_t share;

	if (settings->workers == 1)
		return max_connections;
	share = (max_connections * SPREAD_PERCENT / 100 + settings->workers - 1) /
		settings->workers;
	return share < max_connections ? share : max_connections;
}

enum status limits_apply(struct settings *settings, struct reason *why)
{
	uint64_t others = other_descriptors(settings), asked = 0, limit = 0, need;

	if (raise_limit(&limit, why) != STATUS_OK)
		return STATUS_INVALID;
	for (size_t i = 0; i < settings->n_listeners; i++)
		asked += settings->listeners[i].max_connections;
	if (others >= limit)
		return reason_set(why,
		    "the limit of %" PRIu64 " descriptors leaves none for connections: raise "
		    "it to more than %" PRIu64
		    " (ulimit -n, or LimitNOFILE in the systemd unit)",
		    limit, others);
	need = others + worker_share(settings, asked);
	if (need > limit)
		return reason_set(why,
		    "max-connections = %" PRIu64 " over %" PRIu32 " workers needs %" PRIu64
		    " descriptors in each and the limit is %" PRIu64
		    ": raise it (ulimit -n %" PRIu64 ", or LimitNOFILE=%" PRIu64
		    " in the systemd unit), or lower max-connections",
		    asked, settings->workers, need, limit, need, need);
	for (size_t i = 0; i < settings->n_listeners; i++) {
		uint64_t most = (limit - others) * settings->workers;

		if (settings->listeners[i].max_connections == 0)
			settings->listeners[i].max_connections =
			    most < UINT32_MAX ? (uint32_t)most : UINT32_MAX;
	}
	return STATUS_OK;
}
