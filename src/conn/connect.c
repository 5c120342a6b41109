#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/panic.h"
#include "base/units.h"
#include "conn/conn.h"
#include "conn/connect.h"
#include "conn/parts.h"
#include "io/connect.h"
#include "settings/address.h"

enum connector_state {
	CONNECTOR_RESTING,    /* until the start, and when the worker stops */
	CONNECTOR_CONNECTING, /* io and timer are active */
	CONNECTOR_UP,         /* conn is there */
	CONNECTOR_WAITING,    /* timer is active */
};

struct connector {
	struct listener listener;                /* of its connection */
	const struct connect_settings *settings; /* borrowed */
	struct conn_table *table;                /* borrowed */
	struct sockaddr_storage addr;
	socklen_t addr_len;
	enum connector_state state;
	bool was_tried; /* the first attempt is over */
	ev_io io;
	ev_timer timer;
	struct rnl_conn *conn; /* borrowed; NULL: it is not up */
	uint64_t up_ms;        /* since */
	/* In a row. A connection that ends early counts as one. */
	unsigned int n_failures;
	struct log_cap failures, ups, ends;
};

struct upstream {
	struct connector *list; /* owned, one for each address */
	size_t n, next;
};

struct connectors {
	struct conn_table *table; /* borrowed */
	struct upstream *list;    /* owned */
	size_t n;
	size_t n_untried; /* connectors whose first attempt is not over */
	void (*tried)(void *arg);
	void *tried_arg;
};

static void begin(struct connector *connector);

static uint32_t random_below(uint32_t limit)
{
	uint64_t number;

	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
		number = clock_ns();
	return (uint32_t)(number % limit);
}

/* The wait before the next attempt, whose last half is chosen at random. */
static uint32_t back_off(struct connector *connector)
{
	const struct connect_settings *settings = connector->settings;
	uint64_t wait_ms = settings->reconnect_min_ms;

	for (unsigned int i = 0;
	     i < connector->n_failures && wait_ms < settings->reconnect_max_ms; i++)
		wait_ms *= 2;
	connector->n_failures++;
	if (wait_ms > settings->reconnect_max_ms)
		wait_ms = settings->reconnect_max_ms;
	return (uint32_t)(wait_ms - random_below((uint32_t)(wait_ms / 2 + 1)));
}

static void set_timer(struct connector *connector, uint32_t wait_ms)
{
	struct ev_loop *loop = connector->table->loop;

	ev_timer_stop(loop, &connector->timer);
	ev_timer_set(&connector->timer, wait_ms / 1000., 0.);
	ev_timer_start(loop, &connector->timer);
}

/* Try again after a while; what has happened is logged with it. cap NULL: nothing has. */
static void wait_after(struct connector *connector, struct log_cap *cap, const char *what)
{
	uint32_t wait_ms = back_off(connector);
	char addr[ADDRESS_TEXT_SIZE], wait[UNITS_TEXT_SIZE], rest[LOG_REST_SIZE];

	connector->state = CONNECTOR_WAITING;
	set_timer(connector, wait_ms);
	if (cap == NULL || !log_cap_allows(cap, connector->table->now_ms, rest))
		return;
	log_warn("connect %s: %s: %s; next attempt in %s%s", connector->listener.name,
	    address_format(&connector->addr, addr), what, units_format_duration(wait_ms, wait),
	    rest);
}

/* An attempt is over. */
static void note_tried(struct connector *connector)
{
	struct connectors *connectors = connector->table->connectors;

	if (connector->was_tried)
		return;
	connector->was_tried = true;
	if (--connectors->n_untried == 0)
		connectors->tried(connectors->tried_arg);
}

static void fail(struct connector *connector, int error)
{
	char what[128];

	counter_add(connector->table->seat->counters.connect_failures, 1);
	snprintf(what, sizeof(what), "cannot connect: %s", strerror(error));
	wait_after(connector, &connector->failures, what);
	note_tried(connector);
}

/* Stop watching; returns the socket, which is the caller's then. */
static int take_socket(struct connector *connector)
{
	struct ev_loop *loop = connector->table->loop;

	ev_io_stop(loop, &connector->io);
	ev_timer_stop(loop, &connector->timer);
	connector->state = CONNECTOR_RESTING;
	return connector->io.fd;
}

void connector_down(struct rnl_conn *conn)
{
	struct connector *connector = conn->listener->connector;
	struct conn_table *table = connector->table;
	char what[128];

	connector->conn = NULL;
	connector->state = CONNECTOR_RESTING;
	if (table_is_ending(table))
		return;
	if (table->now_ms - connector->up_ms >= connector->settings->reconnect_max_ms)
		connector->n_failures = 0;
	snprintf(
	    what, sizeof(what), "the connection ended: %s", close_reason_text(conn->reason));
	/*
	 * A worker that drains ends it when its last client is gone. One that has come since may
	 * need another, but the worker may as well be gone before that is tried.
	 */
	wait_after(
	    connector, conn->reason == CLOSE_REASON_shutdown ? NULL : &connector->ends, what);
}

void connector_up(struct rnl_conn *conn)
{
	struct connector *connector = conn->listener->connector;
	char addr[ADDRESS_TEXT_SIZE], rest[LOG_REST_SIZE];

	connector->state = CONNECTOR_UP;
	connector->conn = conn;
	connector->up_ms = connector->table->now_ms;
	if (log_cap_allows(&connector->ups, connector->table->now_ms, rest))
		log_info("connect %s: %s: connected%s", connector->listener.name,
		    address_format(&connector->addr, addr), rest);
}

static void succeed(struct connector *connector, int fd)
{
	struct endpoint peer;

	endpoint_set(&peer, &connector->addr);
	/* It may be gone when that returns, and the connector wait for the next attempt. */
	if (conn_new(connector->table, &connector->listener, fd, &peer) != STATUS_OK)
		fail(connector, errno);
	else
		note_tried(connector);
}

static void on_outcome(struct ev_loop *loop, ev_io *io, int revents)
{
	struct connector *connector = container_of(io, struct connector, io);
	int fd = take_socket(connector);
	/* libev has stopped the watcher when the kernel refused it. */
	int error = revents & EV_ERROR ? EIO : connect_outcome(fd);

	(void)loop;
	if (error != 0 || table_is_ending(connector->table)) {
		close(fd);
		if (error != 0 && !table_is_ending(connector->table))
			fail(connector, error);
		return;
	}
	succeed(connector, fd);
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct connector *connector = container_of(timer, struct connector, timer);
	bool is_late = connector->state == CONNECTOR_CONNECTING;

	(void)loop;
	(void)revents;
	if (is_late)
		close(take_socket(connector));
	connector->state = CONNECTOR_RESTING;
	if (table_is_ending(connector->table))
		return;
	if (is_late)
		fail(connector, ETIMEDOUT);
	else
		begin(connector);
}

static void begin(struct connector *connector)
{
	const struct connect_settings *settings = connector->settings;
	const struct socket_options options = {
		.notsent_lowat = settings->common.tcp_notsent_lowat,
		.user_timeout_ms = settings->common.tcp_user_timeout_ms,
		.send_buffer = settings->common.socket_send_buffer,
		.receive_buffer = settings->common.socket_receive_buffer,
		.keepalive_ms = settings->tcp_keepalive_ms,
	};
	int fd;

	if (connect_begin(&connector->addr, connector->addr_len, &options, &fd) != STATUS_OK) {
		fail(connector, errno);
		return;
	}
	connector->state = CONNECTOR_CONNECTING;
	ev_io_set(&connector->io, fd, EV_WRITE);
	ev_io_start(connector->table->loop, &connector->io);
	set_timer(connector, settings->connect_timeout_ms);
}

/* The listener is copied for each address, so that a connection tells its connector. */
static void connector_init(struct connector *connector, struct conn_table *table,
    const struct listener *listener, const struct connect_settings *settings, size_t address)
{
	connector->listener = *listener;
	connector->listener.is_outgoing = true;
	connector->listener.connector = connector;
	connector->settings = settings;
	connector->table = table;
	ev_init(&connector->io, on_outcome);
	ev_init(&connector->timer, on_timer);
	/* The loader has parsed it before. */
	CHECK(address_parse(settings->common.addresses[address], &connector->addr,
		  &connector->addr_len) == STATUS_OK);
}

static enum status upstream_init(struct upstream *upstream, struct conn_table *table,
    const struct listener *listener, const struct connect_settings *settings)
{
	size_t n = settings->common.n_addresses;

	upstream->list = calloc(n, sizeof(*upstream->list));
	if (upstream->list == NULL)
		return STATUS_NOMEM;
	for (; upstream->n < n; upstream->n++)
		connector_init(
		    &upstream->list[upstream->n], table, listener, settings, upstream->n);
	return STATUS_OK;
}

enum status connectors_new(struct conn_table *table, const struct listener *upstreams,
    const struct connect_settings *settings, size_t n, struct connectors **result)
{
	struct connectors *connectors = calloc(1, sizeof(*connectors));
	enum status status = STATUS_OK;

	if (connectors == NULL)
		return STATUS_NOMEM;
	connectors->table = table;
	connectors->list = calloc(n > 0 ? n : 1, sizeof(*connectors->list));
	if (connectors->list == NULL)
		status = STATUS_NOMEM;
	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		connectors->n++;
		status =
		    upstream_init(&connectors->list[i], table, &upstreams[i], &settings[i]);
	}
	if (status == STATUS_OK)
		table->connectors = connectors;
	else
		connectors_destroy(&connectors);
	*result = connectors;
	return status;
}

void connectors_start(struct connectors *connectors, void (*tried)(void *arg), void *arg)
{
	connectors->tried = tried;
	connectors->tried_arg = arg;
	/* One more, so that those that fail at once do not end the count. */
	connectors->n_untried = 1;
	for (size_t i = 0; i < connectors->n; i++)
		connectors->n_untried += connectors->list[i].n;
	for (size_t i = 0; i < connectors->n; i++) {
		for (size_t j = 0; j < connectors->list[i].n; j++)
			begin(&connectors->list[i].list[j]);
	}
	if (--connectors->n_untried == 0)
		tried(arg);
}

size_t connectors_n_addresses(const struct connectors *connectors, size_t upstream)
{
	return upstream < connectors->n ? connectors->list[upstream].n : 0;
}

struct rnl_conn *connectors_get(const struct connectors *connectors, size_t upstream, size_t i)
{
	struct rnl_conn *conn;

	CHECK(upstream < connectors->n && i < connectors->list[upstream].n);
	conn = connectors->list[upstream].list[i].conn;
	if (conn == NULL || conn->state != CONN_OPEN || conn->is_input_over ||
	    conn->is_stopping)
		return NULL;
	return conn;
}

struct rnl_conn *connectors_next(struct connectors *connectors, size_t index)
{
	struct upstream *upstream;

	CHECK(index < connectors->n);
	upstream = &connectors->list[index];
	for (size_t i = 0; i < upstream->n; i++) {
		size_t at = upstream->next;
		struct rnl_conn *conn = connectors_get(connectors, index, at);

		upstream->next = (at + 1) % upstream->n;
		if (conn != NULL)
			return conn;
	}
	return NULL;
}

const char *connector_address(const struct connector *connector, char text[ADDRESS_TEXT_SIZE])
{
	return address_format(&connector->addr, text);
}

static void connector_rest(struct connector *connector)
{
	if (connector->state == CONNECTOR_CONNECTING)
		close(take_socket(connector));
	ev_timer_stop(connector->table->loop, &connector->timer);
}

void connectors_destroy(struct connectors **connectorsp)
{
	struct connectors *connectors = *connectorsp;

	for (size_t i = 0; i < connectors->n; i++) {
		for (size_t j = 0; j < connectors->list[i].n; j++)
			connector_rest(&connectors->list[i].list[j]);
		free(connectors->list[i].list);
	}
	free(connectors->list);
	connectors->table->connectors = NULL;
	free(connectors);
	*connectorsp = NULL;
}
