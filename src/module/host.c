/*
 * A worker is one process with one loop and one table of connections, so what a
 * call refers to is process-wide. It must come from the loop's thread: each
 * function here begins with ON_LOOP(), which costs four instructions.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/panic.h"
#include "conn/callbacks.h"
#include "conn/conn.h"
#include "conn/names.h"
#include "conn/connect.h"
#include "conn/shared.h"
#include "conn/timers.h"
#include "module/framings.h"
#include "module/host.h"
#include "module/metrics.h"
#include "module/work.h"

static struct {
	struct ev_loop *loop;
	struct conn_table *table;
} host;

/* Objects of this room are linked into programs only, never into a shared object. */
static _Thread_local bool is_loop_thread __attribute__((tls_model("local-exec")));

/* function is the caller's name, host_NAME. */
static _Noreturn void refuse_thread(const char *function)
{
	panic_because("a module calls rnl_%s() in a thread that is not the loop's: what "
		      "rnl_work() runs may not, its done function may",
	    function + strlen("host_"));
}

#define ON_LOOP()                                         \
	do {                                              \
		if (__builtin_expect(!is_loop_thread, 0)) \
			refuse_thread(__func__);          \
	} while (0)

/* Misuse is a bug of the module, and told in its terms. function is as above. */
static _Noreturn void refuse_misuse(const char *function, const char *what)
{
	panic_because("a module calls rnl_%s() %s", function + strlen("host_"), what);
}

#define EXPECT(condition, what)                        \
	do {                                           \
		if (__builtin_expect(!(condition), 0)) \
			refuse_misuse(__func__, what); \
	} while (0)

void host_claim_thread(void)
{
	is_loop_thread = true;
}

void host_attach(struct ev_loop *loop, struct conn_table *table)
{
	host.loop = loop;
	host.table = table;
}

static enum rnl_status host_send(
    struct rnl_conn *conn, uint32_t id, const void *payload, size_t len)
{
	ON_LOOP();
	return conn_send(conn, id, payload, len);
}

static enum rnl_status host_sendv(
    struct rnl_conn *conn, uint32_t id, const struct iovec *parts, size_t n_parts)
{
	ON_LOOP();
	return conn_sendv(conn, id, parts, n_parts);
}

static enum rnl_status host_reserve(struct rnl_conn *conn, size_t len, void **payload)
{
	ON_LOOP();
	return conn_reserve(conn, len, payload);
}

static enum rnl_status host_commit(struct rnl_conn *conn, uint32_t id, size_t len)
{
	ON_LOOP();
	EXPECT(conn_may_commit(conn, len), "with more bytes than it has reserved");
	return conn_commit(conn, id, len);
}

static enum rnl_status host_send_shared(struct rnl_conn *conn, struct rnl_shared *shared)
{
	ON_LOOP();
	return conn_send_shared(conn, shared);
}

static void host_shared_free(struct rnl_shared *shared)
{
	ON_LOOP();
	shared_free(shared);
}

static void host_hold(struct rnl_conn *conn)
{
	ON_LOOP();
	conn_hold(conn);
}

static void host_release(struct rnl_conn *conn)
{
	ON_LOOP();
	EXPECT(conn->n_holds > 0, "more often than rnl_hold()");
	conn_release(conn);
}

static void host_pause(struct rnl_conn *conn)
{
	ON_LOOP();
	conn_rest(conn);
}

static void host_resume(struct rnl_conn *conn)
{
	ON_LOOP();
	conn_resume(conn);
}

static void host_close(struct rnl_conn *conn)
{
	ON_LOOP();
	conn_close(conn, CLOSE_REASON_handler);
}

static void host_abort(struct rnl_conn *conn)
{
	ON_LOOP();
	conn_abort(conn, CLOSE_REASON_handler);
}

static uint64_t host_conn_id(const struct rnl_conn *conn)
{
	ON_LOOP();
	return conn_id(conn);
}

static struct rnl_conn *host_conn_find(uint64_t id)
{
	ON_LOOP();
	return host.table != NULL ? table_find(host.table, id) : NULL;
}

static const char *host_conn_peer(const struct rnl_conn *conn)
{
	static char text[ENDPOINT_TEXT_SIZE];

	ON_LOOP();
	/* An endpoint has no room for a path. */
	if (conn->peer.is_unix)
		return connector_address(conn->listener->connector, text);
	return endpoint_format(&conn->peer, text);
}

static const char *host_conn_local(const struct rnl_conn *conn)
{
	static char text[ENDPOINT_TEXT_SIZE];
	struct endpoint local;

	ON_LOOP();
	if (endpoint_local(conn->fd, &local) != STATUS_OK)
		return "unknown";
	return endpoint_format(&local, text);
}

static const char *host_conn_listener(const struct rnl_conn *conn)
{
	ON_LOOP();
	return conn->listener->name;
}

static int host_conn_is_upstream(const struct rnl_conn *conn)
{
	ON_LOOP();
	return conn->listener->is_outgoing;
}

static uint64_t host_conn_age_ms(const struct rnl_conn *conn)
{
	ON_LOOP();
	return conn_age_ms(conn);
}

static uint32_t host_conn_idle_ms(const struct rnl_conn *conn)
{
	ON_LOOP();
	return conn_idle_ms(conn);
}

static void *host_data(struct rnl_self *self, const struct rnl_conn *conn)
{
	ON_LOOP();
	return conn->data[self->index];
}

static void host_set_data(struct rnl_self *self, struct rnl_conn *conn, void *data)
{
	ON_LOOP();
	conn_set_data(conn, self->index, data);
}

/* One that is missing would end the worker when it is called, with nobody to be seen. */
static bool has_function(struct rnl_self *self, bool is_there, const char *call)
{
	char rest[LOG_REST_SIZE];

	if (!is_there && log_cap_allows(&self->bad_calls, clock_ms(), rest))
		log_error("module '%s': %s() without a function%s", self->name, call, rest);
	return is_there;
}

static enum rnl_status host_add_on_close(struct rnl_self *self, struct rnl_conn *conn,
    const void *key, rnl_closed_f *call, void *arg)
{
	ON_LOOP();
	if (!has_function(self, call != NULL, "rnl_add_on_close"))
		return RNL_EINVAL;
	return callbacks_add(conn, self->index, key, call, arg);
}

static void host_remove_on_close(struct rnl_self *self, struct rnl_conn *conn, const void *key)
{
	ON_LOOP();
	callbacks_remove(conn, self->index, key);
}

static enum rnl_status host_bind_here(struct rnl_self *self, struct rnl_conn *conn,
    const void *key, size_t key_len, struct rnl_conn **former)
{
	struct rnl_conn *before = NULL;
	enum rnl_status status;
	char rest[LOG_REST_SIZE];

	ON_LOOP();
	if (key_len == 0 || key_len > RNL_MAX_KEY) {
		if (log_cap_allows(&self->bad_calls, clock_ms(), rest))
			log_error("module '%s': a key of %zu bytes: it must have 1 to %d%s",
			    self->name, key_len, RNL_MAX_KEY, rest);
		return RNL_EINVAL;
	}
	status = names_bind(conn, self->index, key, key_len, &before);
	if (status == RNL_OK && former != NULL)
		*former = before;
	return status;
}

static struct rnl_conn *host_find_here(struct rnl_self *self, const void *key, size_t key_len)
{
	ON_LOOP();
	if (host.table == NULL)
		return NULL;
	return names_find(host.table, self->index, key, key_len);
}

static void host_unbind_here(
    struct rnl_self *self, struct rnl_conn *conn, const void *key, size_t key_len)
{
	ON_LOOP();
	names_unbind(conn, self->index, key, key_len);
}

static struct rnl_timer *host_start_timer(
    struct rnl_self *self, uint32_t after_ms, uint32_t every_ms, rnl_timer_f *call, void *arg)
{
	ON_LOOP();
	if (host.table == NULL || !has_function(self, call != NULL, "rnl_start_timer"))
		return NULL;
	return timer_start(host.table, self->index, after_ms, every_ms, call, arg);
}

static struct rnl_timer *host_start_conn_timer(struct rnl_self *self, struct rnl_conn *conn,
    uint32_t after_ms, uint32_t every_ms, rnl_timer_f *call, void *arg)
{
	ON_LOOP();
	if (!has_function(self, call != NULL, "rnl_start_conn_timer"))
		return NULL;
	return timer_start_for(conn, self->index, after_ms, every_ms, call, arg);
}

static void host_stop_timer(struct rnl_timer *timer)
{
	ON_LOOP();
	EXPECT(timer_is_there(timer), "with a timer that is gone");
	timer_stop(timer);
}

static const struct module_value *find_value(const struct rnl_setup *setup, const char *name)
{
	for (size_t i = 0; i < setup->settings->n_values; i++) {
		if (strcmp(setup->settings->values[i].option->name, name) == 0)
			return &setup->settings->values[i];
	}
	return NULL;
}

static int64_t host_option_number(struct rnl_setup *setup, const char *name)
{
	const struct module_value *value = find_value(setup, name);

	ON_LOOP();
	EXPECT(value != NULL, "for an option that is not in its table");
	EXPECT(value->option->type != RNL_STRING, "for an RNL_STRING");
	return value->number;
}

static const char *host_option_string(struct rnl_setup *setup, const char *name)
{
	const struct module_value *value = find_value(setup, name);

	ON_LOOP();
	EXPECT(value != NULL, "for an option that is not in its table");
	EXPECT(value->option->type == RNL_STRING, "for an option that is no RNL_STRING");
	return value->string;
}

static enum rnl_status append_route(
    const struct module *module, struct routes *routes, const struct rnl_route *route)
{
	struct rnl_route *list;

	if (route->first > route->last || route->handler == NULL) {
		log_error("module '%s': route %" PRIu32 "-%" PRIu32 ": %s", module->self.name,
		    route->first, route->last,
		    route->handler == NULL ? "no handler"
					   : "the first id is greater than the last");
		return RNL_EINVAL;
	}
	list = reallocarray(routes->list, routes->n + 1, sizeof(*list));
	if (list == NULL)
		return RNL_ENOMEM;
	routes->list = list;
	routes->list[routes->n++] = *route;
	return RNL_OK;
}

static enum rnl_status host_add_route(struct rnl_setup *setup, const struct rnl_route *route)
{
	ON_LOOP();
	return append_route(setup->module, &setup->module->routes, route);
}

static enum rnl_status host_add_upstream_route(
    struct rnl_setup *setup, const struct rnl_route *route)
{
	ON_LOOP();
	return append_route(setup->module, &setup->module->upstream_routes, route);
}

static enum rnl_status host_add_framing(
    struct rnl_setup *setup, const struct rnl_framing *framing)
{
	ON_LOOP();
	return module_framing_add(setup->module, framing);
}

static enum rnl_status host_add_counter(
    struct rnl_setup *setup, const char *name, const char *help, struct rnl_counter **counter)
{
	union metric_cell *cell;
	enum rnl_status status;

	ON_LOOP();
	status = module_metric_add(setup->module, METRIC_COUNTER, name, help, &cell);
	if (status == RNL_OK)
		*counter = container_of(cell, struct rnl_counter, cell);
	return status;
}

static enum rnl_status host_add_gauge(
    struct rnl_setup *setup, const char *name, const char *help, struct rnl_gauge **gauge)
{
	union metric_cell *cell;
	enum rnl_status status;

	ON_LOOP();
	status = module_metric_add(setup->module, METRIC_GAUGE, name, help, &cell);
	if (status == RNL_OK)
		*gauge = container_of(cell, struct rnl_gauge, cell);
	return status;
}

static void host_counter_add(struct rnl_counter *counter, uint64_t n)
{
	ON_LOOP();
	counter_add(counter->cell.count, n);
}

static void host_gauge_set(struct rnl_gauge *gauge, double level)
{
	ON_LOOP();
	__atomic_store(&gauge->cell.level, &level, __ATOMIC_RELAXED);
}

static void host_gauge_add(struct rnl_gauge *gauge, double by)
{
	ON_LOOP();
	host_gauge_set(gauge, gauge->cell.level + by);
}

static int host_refuse(struct rnl_setup *setup, const char *fmt, va_list args) RNL_PRINTF(2, 0);
static void host_log(struct rnl_self *self, enum rnl_level level, const char *fmt, va_list args)
    RNL_PRINTF(3, 0);

static int host_refuse(struct rnl_setup *setup, const char *fmt, va_list args)
{
	ON_LOOP();
	vsnprintf(setup->why->text, sizeof(setup->why->text), fmt, args);
	setup->is_refused = true;
	return -1;
}

/* Cut to what one line holds. */
#define MESSAGE_SIZE 1024

static void host_log(struct rnl_self *self, enum rnl_level level, const char *fmt, va_list args)
{
	char message[MESSAGE_SIZE];

	ON_LOOP();
	vsnprintf(message, sizeof(message), fmt, args);
	switch (level) {
	case RNL_LOG_ERROR:
		log_error("module '%s': %s", self->name, message);
		break;
	case RNL_LOG_WARN:
		log_warn("module '%s': %s", self->name, message);
		break;
	case RNL_LOG_INFO:
		log_info("module '%s': %s", self->name, message);
		break;
	case RNL_LOG_DEBUG:
		log_debug("module '%s': %s", self->name, message);
		break;
	}
}

static void host_malformed(
    struct rnl_self *self, struct rnl_conn *conn, const struct rnl_msg *msg, const char *why)
{
	char peer[ENDPOINT_TEXT_SIZE];
	char rest[LOG_REST_SIZE];

	ON_LOOP();
	counter_add(conn->table->seat->counters.malformed, 1);
	if (!log_cap_allows(&self->malformed, conn->table->now_ms, rest))
		return;
	log_warn("module '%s': %s: message %" PRIu32 " of %zu bytes: %s%s", self->name,
	    endpoint_format(&conn->peer, peer), msg->id, msg->len, why, rest);
}

static struct rnl_shared *host_shared_new(uint32_t id, const void *payload, size_t len)
{
	ON_LOOP();
	return host.table != NULL ? shared_new(host.table, id, payload, len) : NULL;
}

struct visit {
	const struct rnl_module *module;
	rnl_visit_f *visit;
	void *arg;
};

static bool has_module(const struct listener *listener, const struct rnl_module *module)
{
	for (size_t i = 0; i < listener->n_modules; i++) {
		if (listener->modules[i].api == module)
			return true;
	}
	return false;
}

static void visit_own(struct rnl_conn *conn, void *arg)
{
	const struct visit *visit = arg;

	if (!conn->listener->is_outgoing && has_module(conn->listener, visit->module))
		visit->visit(conn, visit->arg);
}

static void host_each(struct rnl_self *self, rnl_visit_f *visit, void *arg)
{
	struct module *module = container_of(self, struct module, self);
	struct visit own = { .module = &module->api, .visit = visit, .arg = arg };

	ON_LOOP();
	if (host.table != NULL && has_function(self, visit != NULL, "rnl_each"))
		table_each(host.table, visit_own, &own);
}

static void count_one(struct rnl_conn *conn, void *arg)
{
	size_t *n = arg;

	(void)conn;
	++*n;
}

static size_t host_count(struct rnl_self *self)
{
	size_t n = 0;

	ON_LOOP();
	host_each(self, count_one, &n);
	return n;
}

static bool has_name(const struct listen_settings *settings, const char *module)
{
	for (size_t i = 0; i < settings->n_modules; i++) {
		if (strcmp(settings->modules[i], module) == 0)
			return true;
	}
	return false;
}

static int host_upstream_find(struct rnl_setup *setup, const char *name, size_t *n_addresses)
{
	ON_LOOP();
	for (size_t i = 0; i < setup->all->n_upstreams; i++) {
		const struct listen_settings *common = &setup->all->upstreams[i].common;

		if (strcmp(common->name, name) != 0 || !has_name(common, setup->module->name))
			continue;
		*n_addresses = common->n_addresses;
		return (int)i;
	}
	return -1;
}

/* As with the -1 of rnl_upstream_find(). */
#define NO_UPSTREAM "for an upstream that is not there"

static size_t host_upstream_max_message(struct rnl_setup *setup, int upstream)
{
	ON_LOOP();
	EXPECT(upstream >= 0 && (size_t)upstream < setup->all->n_upstreams, NO_UPSTREAM);
	return setup->all->upstreams[upstream].common.max_message;
}

static const char *host_upstream_framing(struct rnl_setup *setup, int upstream)
{
	ON_LOOP();
	EXPECT(upstream >= 0 && (size_t)upstream < setup->all->n_upstreams, NO_UPSTREAM);
	return setup->all->upstreams[upstream].common.framing;
}

static size_t host_max_message(struct rnl_setup *setup)
{
	size_t most = 0;

	ON_LOOP();
	for (size_t i = 0; i < setup->all->n_listeners; i++) {
		const struct listen_settings *listener = &setup->all->listeners[i];

		if (listener->max_message > most && has_name(listener, setup->module->name))
			most = listener->max_message;
	}
	return most;
}

static struct rnl_conn *host_upstream_get(int upstream, size_t i)
{
	size_t n_addresses;

	ON_LOOP();
	if (host.table == NULL || host.table->connectors == NULL)
		return NULL;
	n_addresses = connectors_n_addresses(host.table->connectors, (size_t)upstream);
	EXPECT(n_addresses > 0, NO_UPSTREAM);
	EXPECT(i < n_addresses, "for an address that the upstream does not have");
	return connectors_get(host.table->connectors, (size_t)upstream, i);
}

static struct rnl_conn *host_upstream_next(int upstream)
{
	ON_LOOP();
	if (host.table == NULL || host.table->connectors == NULL)
		return NULL;
	EXPECT(
	    connectors_n_addresses(host.table->connectors, (size_t)upstream) > 0, NO_UPSTREAM);
	return connectors_next(host.table->connectors, (size_t)upstream);
}

static struct ev_loop *host_loop(void)
{
	ON_LOOP();
	return host.loop;
}

static enum rnl_status host_work(struct rnl_self *self, struct rnl_conn *conn, uint64_t key,
    rnl_work_f *work, rnl_done_f *done, void *arg)
{
	ON_LOOP();
	return work_submit(container_of(self, struct module, self), conn, key, work, done, arg);
}

static int host_worker(void)
{
	ON_LOOP();
	return host.table != NULL ? (int)host.table->slot : -1;
}

const struct rnl_host host_table = {
	.size = sizeof(host_table),
	.abi_major = RNL_ABI_MAJOR,
	.abi_minor = RNL_ABI_MINOR,
	.send = host_send,
	.sendv = host_sendv,
	.reserve = host_reserve,
	.commit = host_commit,
	.shared_new = host_shared_new,
	.send_shared = host_send_shared,
	.shared_free = host_shared_free,
	.hold = host_hold,
	.release = host_release,
	.pause = host_pause,
	.resume = host_resume,
	.close = host_close,
	.abort = host_abort,
	.conn_id = host_conn_id,
	.conn_find = host_conn_find,
	.each = host_each,
	.count = host_count,
	.conn_peer = host_conn_peer,
	.conn_local = host_conn_local,
	.conn_listener = host_conn_listener,
	.conn_age_ms = host_conn_age_ms,
	.conn_idle_ms = host_conn_idle_ms,
	.conn_is_upstream = host_conn_is_upstream,
	.data = host_data,
	.set_data = host_set_data,
	.add_on_close = host_add_on_close,
	.remove_on_close = host_remove_on_close,
	.bind_here = host_bind_here,
	.find_here = host_find_here,
	.unbind_here = host_unbind_here,
	.start_timer = host_start_timer,
	.start_conn_timer = host_start_conn_timer,
	.stop_timer = host_stop_timer,
	.option_number = host_option_number,
	.option_string = host_option_string,
	.add_route = host_add_route,
	.add_framing = host_add_framing,
	.add_upstream_route = host_add_upstream_route,
	.upstream_find = host_upstream_find,
	.upstream_max_message = host_upstream_max_message,
	.upstream_framing = host_upstream_framing,
	.max_message = host_max_message,
	.upstream_get = host_upstream_get,
	.upstream_next = host_upstream_next,
	.add_counter = host_add_counter,
	.add_gauge = host_add_gauge,
	.add_to_counter = host_counter_add,
	.set_gauge = host_gauge_set,
	.add_to_gauge = host_gauge_add,
	.refuse = host_refuse,
	.malformed = host_malformed,
	.log = host_log,
	.loop = host_loop,
	.worker = host_worker,
	.work = host_work,
};
