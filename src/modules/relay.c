/*
 * relay: passes messages of clients on to backends, the servers of an upstream, and
 * their replies back; see runnel-relay(7).
 *
 * A reply goes to the client whose request it answers, or to nobody. A request is
 * kept until then in the place where its reply is looked for: with the connection
 * that it was sent on. It names its client by the id of its connection, which is
 * never given again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>

#include <ev.h>

#include <runnel/module.h>

#include "requests.h"

#define TAG_SIZE sizeof(uint64_t)

/* How a reply finds its request. */
enum match {
	MATCH_TAG,   /* by the tag before its payload, which it has from the request */
	MATCH_ORDER, /* it is the reply to the first request of those in flight */
	MATCH_NONE,  /* there are no replies */
};

/* Why a request has none; also what a client is told. */
enum cause {
	CAUSE_NONE,
	CAUSE_BUSY,    /* the queue to the backend is full, or too many are in flight there */
	CAUSE_DOWN,    /* no backend is up */
	CAUSE_LOST,    /* the connection to the backend has ended */
	CAUSE_LATE,    /* reply-timeout is over */
	CAUSE_TOO_BIG, /* it is longer than the backend takes, or can never fit the queue to it */
	CAUSE_UNSAYABLE, /* the framing of the backends has no frame for it */
	CAUSE_MEMORY,    /* there is none */
	N_CAUSES
};

/*
 * A client's data is the number of its requests in flight, each of which holds it: so what
 * another worker takes over has none. An upstream's data is one of these.
 */
struct backend {
	struct rnl_conn *conn; /* whose data it is */
	struct requests *requests;
	ev_timer
	    timer; /* active while requests are in flight; not later than the first is due */
};

static struct {
	const char *upstream_name;
	int upstream;
	size_t n_backends;
	bool is_by_client; /* a client's messages go to one backend */
	enum match match;
	bool is_telling; /* of a failure, instead of closing */
	uint32_t failure_id;
	uint64_t timeout_ms;
	size_t max_in_flight; /* on a connection to a backend */
	uintptr_t max_per_client;
} conf;

/* For the log, at the end. */
static struct {
	uint64_t requests, replies;
	uint64_t failed[N_CAUSES];
	uint64_t gone;        /* replies whose client has ended */
	uint64_t undelivered; /* replies for which the client's queue had no room */
} counts;

/* The same for whoever watches; NULL: there was no place for one. */
static struct {
	struct rnl_counter *requests, *replies, *failed;
	struct rnl_gauge *in_flight;
} metrics;

static void count(struct rnl_counter *counter)
{
	if (counter != NULL)
		rnl_counter_add(counter, 1);
}

static void move_in_flight(int by)
{
	if (metrics.in_flight != NULL)
		rnl_gauge_add(metrics.in_flight, by);
}

static uintptr_t in_flight(const struct rnl_conn *client)
{
	return (uintptr_t)rnl_data(client);
}

static void set_in_flight(struct rnl_conn *client, uintptr_t n)
{
	rnl_set_data(client, (void *)n);
}

/* A client that waits for as many replies as it may is not read until one has come. */
static void hold(struct rnl_conn *client)
{
	uintptr_t n = in_flight(client) + 1;

	set_in_flight(client, n);
	rnl_hold(client);
	if (n == conf.max_per_client)
		rnl_pause(client);
}

static void release(struct rnl_conn *client)
{
	uintptr_t n = in_flight(client);

	if (n == conf.max_per_client)
		rnl_resume(client);
	set_in_flight(client, n - 1);
	rnl_release(client);
}

static void put_be32(unsigned char *at, uint32_t value)
{
	at[0] = (unsigned char)(value >> 24);
	at[1] = (unsigned char)(value >> 16);
	at[2] = (unsigned char)(value >> 8);
	at[3] = (unsigned char)value;
}

/* A request gets no reply. A client that is not told of it must not go on waiting. */
static void fail(struct rnl_conn *client, uint32_t id, enum cause cause)
{
	unsigned char payload[8];

	counts.failed[cause]++;
	count(metrics.failed);
	put_be32(payload, id);
	put_be32(payload + 4, cause);
	if (!conf.is_telling ||
	    rnl_send(client, conf.failure_id, payload, sizeof(payload)) != RNL_OK)
		rnl_close(client);
}

/* The same for one that is in flight, whose client may have ended. */
static void fail_request(struct backend *backend, struct request *request, enum cause cause)
{
	struct rnl_conn *client = rnl_conn_find(request->client);

	if (client != NULL) {
		fail(client, request->id, cause);
		release(client);
	} else {
		counts.failed[cause]++;
		count(metrics.failed);
	}
	move_in_flight(-1);
	requests_remove(backend->requests, request);
}

/* Not the loop's time, ev_now(), which is that of the wall clock, and may be set. */
static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* See to it that the first of those in flight is looked at when it is late. */
static void set_timer(struct backend *backend)
{
	const struct request *first = requests_first(backend->requests);
	uint64_t now = now_ms();

	ev_timer_stop(rnl_loop(), &backend->timer);
	if (first == NULL)
		return;
	ev_timer_set(&backend->timer,
	    first->due_ms > now ? (double)(first->due_ms - now) / 1000 : 0., 0.);
	ev_timer_start(rnl_loop(), &backend->timer);
}

/*
 * By order, a backend that leaves out one reply would have all later ones go to the wrong
 * clients: it gets no chance to. The close hook then fails those that are in flight.
 */
static void give_up(struct backend *backend)
{
	rnl_log(RNL_LOG_WARN, "%s: a reply is late: the connection is given up",
	    rnl_conn_peer(backend->conn));
	rnl_abort(backend->conn);
}

/* The request that was the first when the timer was set may have been answered since. */
static void on_timer(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct backend *backend = timer->data;
	struct request *first = requests_first(backend->requests);
	uint64_t now = now_ms();

	(void)loop;
	(void)revents;
	while (first != NULL && first->due_ms <= now) {
		if (conf.match == MATCH_ORDER) {
			give_up(backend);
			return;
		}
		fail_request(backend, first, CAUSE_LATE);
		first = requests_first(backend->requests);
	}
	set_timer(backend);
}

static enum cause cause_of(enum rnl_status status)
{
	switch (status) {
	case RNL_OK:
		return CAUSE_NONE;
	case RNL_ETOOBIG:
		return CAUSE_TOO_BIG;
	case RNL_ECLOSED:
		return CAUSE_DOWN;
	case RNL_EINVAL:
		return CAUSE_UNSAYABLE;
	case RNL_ENOMEM:
		return CAUSE_MEMORY;
	default:
		return CAUSE_BUSY;
	}
}

/* May another backend take what one has not? They are all of one section. */
static bool is_worth_a_try(enum cause cause)
{
	return cause == CAUSE_BUSY || cause == CAUSE_DOWN;
}

static enum rnl_status send_tagged(
    struct rnl_conn *conn, const struct rnl_msg *msg, uint64_t tag)
{
	const struct iovec parts[] = {
		{ .iov_base = &tag, .iov_len = TAG_SIZE },
		{ .iov_base = (void *)(uintptr_t)msg->payload, .iov_len = msg->len },
	};

	return rnl_sendv(conn, msg->id, parts, 2);
}

/* Send it to a backend. A request is in flight before it is sent, so that it has its tag. */
static enum cause pass_on(
    struct backend *backend, struct rnl_conn *client, const struct rnl_msg *msg)
{
	struct request *request = requests_add(backend->requests);
	enum rnl_status status;

	if (request == NULL)
		return CAUSE_BUSY;
	if (conf.match == MATCH_TAG)
		status = send_tagged(backend->conn, msg, request->tag);
	else
		status = rnl_send(backend->conn, msg->id, msg->payload, msg->len);
	if (status != RNL_OK || conf.match == MATCH_NONE) {
		requests_remove(backend->requests, request);
		return cause_of(status);
	}
	request->client = rnl_conn_id(client);
	request->id = msg->id;
	request->due_ms = now_ms() + conf.timeout_ms;
	hold(client);
	move_in_flight(1);
	if (!ev_is_active(&backend->timer))
		set_timer(backend);
	return CAUSE_NONE;
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
	counts.requests++;
	count(metrics.requests);
	while (n_tries-- > 0 && is_worth_a_try(cause)) {
		struct rnl_conn *conn =
		    conf.is_by_client ? pick_for(client) : rnl_upstream_next(conf.upstream);

		if (conn == NULL)
			break;
		if (rnl_data(conn) != NULL)
			cause = pass_on(rnl_data(conn), client, msg);
	}
	if (cause != CAUSE_NONE)
		fail(client, msg->id, cause);
	return RNL_DONE;
}

static void deliver(struct backend *backend, struct request *request, uint32_t id,
    const void *payload, size_t len)
{
	struct rnl_conn *client = rnl_conn_find(request->client);
	enum rnl_status status = RNL_ECLOSED;

	if (client != NULL) {
		status = rnl_send(client, id, payload, len);
		release(client);
	}
	move_in_flight(-1);
	requests_remove(backend->requests, request);
	if (status == RNL_OK) {
		counts.replies++;
		count(metrics.replies);
	} else if (status == RNL_ECLOSED) {
		counts.gone++;
	} else {
		counts.undelivered++;
		rnl_close(client);
	}
}

static enum rnl_verdict take_tagged(struct backend *backend, const struct rnl_msg *msg)
{
	struct request *request;
	uint64_t tag;

	if (msg->len < TAG_SIZE)
		return rnl_malformed(backend->conn, msg, "a reply without a tag");
	memcpy(&tag, msg->payload, TAG_SIZE);
	request = requests_find(backend->requests, tag);
	if (request == NULL)
		return rnl_malformed(backend->conn, msg,
		    "a reply with the tag of no request in flight: it is late, or wrong");
	deliver(backend, request, msg->id, (const char *)msg->payload + TAG_SIZE,
	    msg->len - TAG_SIZE);
	return RNL_DONE;
}

static enum rnl_verdict take_in_order(struct backend *backend, const struct rnl_msg *msg)
{
	struct request *first = requests_first(backend->requests);

	if (first == NULL || first->id != msg->id) {
		rnl_malformed(backend->conn, msg,
		    first == NULL
			? "a reply to no request: the connection is given up"
			: "a reply to another request than the first: the connection is "
			  "given up");
		return RNL_ABORT;
	}
	deliver(backend, first, msg->id, msg->payload, msg->len);
	return RNL_DONE;
}

static enum rnl_verdict take_reply(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct backend *backend = rnl_data(conn);

	(void)arg;
	if (backend == NULL)
		return RNL_NEXT;
	if (conf.match == MATCH_NONE)
		return rnl_malformed(conn, msg, "a reply where none is expected");
	return conf.match == MATCH_TAG ? take_tagged(backend, msg)
				       : take_in_order(backend, msg);
}

/* Another upstream may have this module, too; it is not looked at. */
static void on_open(struct rnl_conn *conn)
{
	struct backend *backend;

	if (!rnl_conn_is_upstream(conn) ||
	    strcmp(rnl_conn_listener(conn), conf.upstream_name) != 0)
		return;
	backend = calloc(1, sizeof(*backend));
	if (backend != NULL)
		backend->requests = requests_new(conf.max_in_flight);
	if (backend == NULL || backend->requests == NULL) {
		free(backend);
		rnl_abort(conn);
		return;
	}
	backend->conn = conn;
	ev_init(&backend->timer, on_timer);
	backend->timer.data = backend;
	rnl_set_data(conn, backend);
}

static void on_close(struct rnl_conn *conn)
{
	struct backend *backend = rnl_data(conn);
	struct request *first;
	uint64_t now = now_ms();
	size_t n;

	if (!rnl_conn_is_upstream(conn) || backend == NULL)
		return;
	n = requests_count(backend->requests);
	if (n > 0)
		rnl_log(RNL_LOG_WARN, "%s: %zu requests were in flight on the connection",
		    rnl_conn_peer(conn), n);
	ev_timer_stop(rnl_loop(), &backend->timer);
	while ((first = requests_first(backend->requests)) != NULL)
		fail_request(backend, first, first->due_ms <= now ? CAUSE_LATE : CAUSE_LOST);
	requests_free(backend->requests);
	free(backend);
}

static void stop(void)
{
	if (counts.requests == 0)
		return;
	rnl_log(RNL_LOG_INFO,
	    "requests=%" PRIu64 " replies=%" PRIu64 " busy=%" PRIu64 " down=%" PRIu64
	    " lost=%" PRIu64 " late=%" PRIu64 " too_big=%" PRIu64 " unsayable=%" PRIu64
	    " no_memory=%" PRIu64 " gone=%" PRIu64 " undelivered=%" PRIu64,
	    counts.requests, counts.replies, counts.failed[CAUSE_BUSY],
	    counts.failed[CAUSE_DOWN], counts.failed[CAUSE_LOST], counts.failed[CAUSE_LATE],
	    counts.failed[CAUSE_TOO_BIG], counts.failed[CAUSE_UNSAYABLE],
	    counts.failed[CAUSE_MEMORY], counts.gone, counts.undelivered);
}

/* One of the words of an option, by its index; -1 after a refusal. */
static int read_word(
    struct rnl_setup *setup, const char *name, const char *const words[], const char *all)
{
	const char *value = rnl_option_string(setup, name);

	for (int i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], value) == 0)
			return i;
	}
	return rnl_refuse(setup, "%s: '%s' is refused; give %s", name, value, all);
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

static void add_counter(
    struct rnl_setup *setup, const char *name, const char *help, struct rnl_counter **counter)
{
	if (rnl_add_counter(setup, name, help, counter) != RNL_OK)
		*counter = NULL;
}

/* The relay is of use without them. */
static void add_metrics(struct rnl_setup *setup)
{
	add_counter(
	    setup, "requests_total", "requests that came from clients", &metrics.requests);
	add_counter(setup, "replies_total", "replies that were passed back to clients",
	    &metrics.replies);
	add_counter(
	    setup, "failed_requests_total", "requests that got no reply", &metrics.failed);
	if (rnl_add_gauge(setup, "requests_in_flight", "requests that wait for their replies",
		&metrics.in_flight) != RNL_OK) {
		metrics.in_flight = NULL;
		rnl_log(RNL_LOG_WARN, "there is no place for all of its metrics");
	}
}

static int find_upstream(struct rnl_setup *setup)
{
	conf.upstream_name = rnl_option_string(setup, "upstream");
	conf.upstream = rnl_upstream_find(setup, conf.upstream_name, &conf.n_backends);
	if (conf.upstream < 0)
		return rnl_refuse(setup,
		    "upstream: there is no section connect %s whose modules list this one",
		    conf.upstream_name);
	return 0;
}

/* A tag may have any bytes; those of a framing that a module supplies are its own affair. */
static int check_framing(struct rnl_setup *setup)
{
	if (conf.match == MATCH_TAG &&
	    strcmp(rnl_upstream_framing(setup, conf.upstream), "line") == 0)
		return rnl_refuse(setup,
		    "connect %s: framing = line: a line has no place for the tag of match = "
		    "tag; give match = order or none, or another framing",
		    conf.upstream_name);
	return 0;
}

/* A message of a client that is too long for a backend fails: it would end the connection. */
static int check_limits(struct rnl_setup *setup)
{
	size_t tag = conf.match == MATCH_TAG ? TAG_SIZE : 0;
	size_t most = rnl_upstream_max_message(setup, conf.upstream);

	if (most < tag)
		return rnl_refuse(setup,
		    "connect %s: max-message: %zu bytes are less than the tag of match = tag "
		    "has; give %zu and what the messages have",
		    conf.upstream_name, most, tag);
	if (rnl_max_message(setup) > most - tag)
		rnl_log(RNL_LOG_WARN,
		    "connect %s: max-message = %zu: messages of more than %zu bytes are not "
		    "passed on; let the max-message of listeners be so much at most",
		    conf.upstream_name, most, most - tag);
	return 0;
}

static int configure(struct rnl_setup *setup)
{
	static const char *const spreads[] = { "message", "client", NULL };
	static const char *const matches[] = { "tag", "order", "none", NULL };
	static const char *const failures[] = { "close", "tell", NULL };
	int spread = read_word(setup, "spread", spreads, "message or client");
	int match = read_word(setup, "match", matches, "tag, order or none");
	int failure = read_word(setup, "on-failure", failures, "close or tell");

	if (spread < 0 || match < 0 || failure < 0)
		return -1;
	conf.is_by_client = spread == 1;
	conf.match = (enum match)match;
	conf.is_telling = failure == 1;
	conf.failure_id = (uint32_t)rnl_option_number(setup, "failure-id");
	conf.timeout_ms = (uint64_t)rnl_option_number(setup, "reply-timeout");
	conf.max_in_flight = (size_t)rnl_option_number(setup, "max-in-flight");
	conf.max_per_client = (uintptr_t)rnl_option_number(setup, "max-per-client");
	if (find_upstream(setup) < 0 || check_framing(setup) < 0 || check_limits(setup) < 0)
		return -1;
	add_metrics(setup);
	return add_routes(setup);
}

static const struct rnl_option options[] = {
	{ "upstream", RNL_STRING, NULL, 0, 0, "the connect section of the backends" },
	{ "ids", RNL_STRING, "0-4294967295", 0, 0, "the messages that are passed on" },
	{ "spread", RNL_STRING, "message", 0, 0,
	    "message: each goes to the next backend; client: a client's all go to one" },
	{ "match", RNL_STRING, "tag", 0, 0,
	    "how replies find their clients: tag, order or none" },
	{ "reply-timeout", RNL_DURATION, "10s", 1, 86400000, "a reply is late after so long" },
	{ "max-in-flight", RNL_NUMBER, "1024", 1, 1048576,
	    "requests in flight on a connection to a backend" },
	{ "max-per-client", RNL_NUMBER, "64", 1, 1048576,
	    "requests in flight of a client; it is not read meanwhile" },
	{ "on-failure", RNL_STRING, "close", 0, 0,
	    "what happens to the client of a request without reply: close or tell" },
	{ "failure-id", RNL_NUMBER, "4294967295", 0, UINT32_MAX,
	    "the id of the message that tells of a failure" },
};

RNL_MODULE(.version = "1.0", .options = options,
    .n_options = sizeof(options) / sizeof(options[0]), .configure = configure, .open = on_open,
    .close = on_close, .save = rnl_save_nothing, .restore = rnl_restore_nothing, .stop = stop);
