/*
 * relay: passes messages of clients on to backends, the servers of an upstream, and
 * their replies back; see runnel-relay(7).
 *
 * A request is kept until its reply comes in the place where that is looked for: with the
 * connection to a backend that it was sent on (backend.h). It names its client by the id of the
 * connection, which is never given again.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <runnel/module.h>

#include "backend.h"
#include "client.h"
#include "conf.h"
#include "report.h"
#include "tally.h"

/* May another backend take what one has not? They are all of one section. */
static bool is_worth_a_try(enum cause cause)
{
	return cause == CAUSE_BUSY || cause == CAUSE_DOWN;
}

/* Ids of connections differ in their low bits most: see SplitMix64. */
static size_t hash(uint64_t id)
{
	id = (id ^ (id >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	id = (id ^ (id >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (size_t)((id ^ (id >> 31)) >> 32);
}

/* The client's own backend, or the next that is up. NULL: none is. */
static struct rnl_conn *pick_for(const struct rnl_conn *client)
{
	size_t own = hash(rnl_conn_id(client));

	for (size_t i = 0; i < conf.n_backends; i++) {
		struct rnl_conn *conn =
		    rnl_upstream_get(conf.upstream, (own + i) % conf.n_backends);

		if (conn != NULL && rnl_data(conn) != NULL)
			return conn;
	}
	return NULL;
}

static enum rnl_verdict forward(struct rnl_conn *client, const struct rnl_msg *msg, void *arg)
{
	size_t n_tries = conf.is_by_client ? 1 : conf.n_backends;
	enum cause cause = CAUSE_DOWN;

	(void)arg;
	tally_request();
	while (n_tries-- > 0 && is_worth_a_try(cause)) {
		struct rnl_conn *conn =
		    conf.is_by_client ? pick_for(client) : rnl_upstream_next(conf.upstream);

		if (conn == NULL)
			break;
		if (rnl_data(conn) != NULL)
			cause = backend_pass_on(rnl_data(conn), client, msg);
	}
	if (cause != CAUSE_NONE) {
		report_unsent(cause);
		client_fail(client, msg->id, cause);
	}
	return RNL_DONE;
}

static enum rnl_verdict take_reply(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct backend *backend = rnl_data(conn);

	(void)arg;
	return backend != NULL ? backend_take(backend, msg) : RNL_NEXT;
}

/* A decimal id at *at, which is moved behind it. */
static bool read_id(const char **at, uint32_t *id)
{
	char *end;
	unsigned long long number;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	number = strtoull(*at, &end, 10);
	if (errno != 0 || number > UINT32_MAX)
		return false;
	*at = end;
	*id = (uint32_t)number;
	return true;
}

static void skip_blanks(const char **at)
{
	*at += strspn(*at, " \t");
}

/* "7" or "1000-1999" at *at, which is moved behind it. */
static bool read_range(const char **at, struct rnl_route *route)
{
	skip_blanks(at);
	if (!read_id(at, &route->first))
		return false;
	route->last = route->first;
	skip_blanks(at);
	if (**at == '-') {
		++*at;
		skip_blanks(at);
		if (!read_id(at, &route->last))
			return false;
		skip_blanks(at);
	}
	return route->first <= route->last && (**at == ',' || **at == '\0');
}

static int add_routes(struct rnl_setup *setup)
{
	/* Of all ids but that of heartbeats, where the upstream has them. */
	static const struct rnl_route replies = RNL_ON_DEFAULT(take_reply);
	const char *ids = rnl_option_string(setup, "ids"), *at = ids;
	struct rnl_route route = { .handler = forward };

	do {
		if (!read_range(&at, &route))
			return rnl_refuse(setup,
			    "ids: '%s' is refused; give ids and ranges of them, such as "
			    "\"7, 1000-1999\"",
			    ids);
		if (rnl_add_route(setup, &route) != RNL_OK)
			return rnl_refuse(setup, "out of memory");
	} while (*at++ == ',');
	if (rnl_add_upstream_route(setup, &replies) != RNL_OK)
		return rnl_refuse(setup, "out of memory");
	return 0;
}

static int configure(struct rnl_setup *setup)
{
	if (conf_read(setup) < 0)
		return -1;
	tally_configure(setup);
	return add_routes(setup);
}

/* Another upstream may have this module, too; it is not looked at. */
static void on_open(struct rnl_conn *conn)
{
	struct backend *backend;

	if (!rnl_conn_is_upstream(conn) ||
	    strcmp(rnl_conn_listener(conn), conf.upstream_name) != 0)
		return;
	backend = backend_new(conn);
	if (backend == NULL)
		rnl_abort(conn);
	else
		rnl_set_data(conn, backend);
}

static void on_close(struct rnl_conn *conn)
{
	if (rnl_conn_is_upstream(conn) && rnl_data(conn) != NULL)
		backend_end(rnl_data(conn));
}

RNL_MODULE(.version = "1.0", .options = conf_options, .n_options = CONF_N_OPTIONS,
    .configure = configure, .open = on_open, .close = on_close, .save = rnl_save_nothing,
    .restore = rnl_restore_nothing, .stop = tally_log);
