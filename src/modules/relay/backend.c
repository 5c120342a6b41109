#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include <ev.h>

#include "backend.h"
#include "client.h"
#include "clock.h"
#include "conf.h"
#include "report.h"
#include "requests.h"

struct backend {
	struct rnl_conn *conn; /* whose data it is */
	struct requests *requests;
	/* Active while requests are in flight; not later than the first is due. */
	ev_timer timer;
};

/* One that is in flight gets no reply; its client may have ended. */
static void fail_request(struct backend *backend, struct request *request, enum cause cause)
{
	struct rnl_conn *client = rnl_conn_find(request->client);

	if (client != NULL) {
		client_fail(client, request->id, cause);
		client_release(client);
	} else {
		tally_failure(cause);
	}
	tally_in_flight(-1);
	requests_remove(backend->requests, request);
}

/* See to it that the first of those in flight is looked at when it is late. */
static void set_timer(struct backend *backend)
{
	const struct request *first = requests_first(backend->requests);
	uint64_t now = clock_now_ms();

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
	report_late(backend->conn);
	rnl_abort(backend->conn);
}

/* The request that was the first when the timer was set may have been answered since. */
static void on_timer(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct backend *backend = timer->data;
	struct request *first = requests_first(backend->requests);
	uint64_t now = clock_now_ms();

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

struct backend *backend_new(struct rnl_conn *conn)
{
	struct backend *backend = calloc(1, sizeof(*backend));

	if (backend == NULL)
		return NULL;
	backend->requests = requests_new(conf.max_in_flight);
	if (backend->requests == NULL) {
		free(backend);
		return NULL;
	}
	backend->conn = conn;
	ev_init(&backend->timer, on_timer);
	backend->timer.data = backend;
	return backend;
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

static enum rnl_status send_tagged(
    struct rnl_conn *conn, const struct rnl_msg *msg, uint64_t tag)
{
	const struct iovec parts[] = {
		{ .iov_base = &tag, .iov_len = REQUEST_TAG_SIZE },
		{ .iov_base = (void *)(uintptr_t)msg->payload, .iov_len = msg->len },
	};

	return rnl_sendv(conn, msg->id, parts, 2);
}

/* It is in flight before it is sent, so that it has its tag. */
enum cause backend_pass_on(
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
	request->due_ms = clock_now_ms() + conf.timeout_ms;
	client_hold(client);
	tally_in_flight(1);
	if (!ev_is_active(&backend->timer))
		set_timer(backend);
	return CAUSE_NONE;
}

static void deliver(struct backend *backend, struct request *request, uint32_t id,
    const void *payload, size_t len)
{
	struct rnl_conn *client = rnl_conn_find(request->client);
	enum rnl_status status = RNL_ECLOSED;

	if (client != NULL) {
		status = rnl_send(client, id, payload, len);
		client_release(client);
	}
	tally_in_flight(-1);
	tally_reply(status);
	requests_remove(backend->requests, request);
	if (status != RNL_OK && status != RNL_ECLOSED)
		rnl_close(client);
}

static enum rnl_verdict take_tagged(struct backend *backend, const struct rnl_msg *msg)
{
	struct request *request;
	uint64_t tag;

	if (msg->len < REQUEST_TAG_SIZE)
		return rnl_malformed(backend->conn, msg, "a reply without a tag");
	memcpy(&tag, msg->payload, REQUEST_TAG_SIZE);
	request = requests_find(backend->requests, tag);
	if (request == NULL)
		return rnl_malformed(backend->conn, msg,
		    "a reply with the tag of no request in flight: it is late, or wrong");
	deliver(backend, request, msg->id, (const char *)msg->payload + REQUEST_TAG_SIZE,
	    msg->len - REQUEST_TAG_SIZE);
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

enum rnl_verdict backend_take(struct backend *backend, const struct rnl_msg *msg)
{
	if (conf.match == MATCH_NONE)
		return rnl_malformed(backend->conn, msg, "a reply where none is expected");
	return conf.match == MATCH_TAG ? take_tagged(backend, msg)
				       : take_in_order(backend, msg);
}

void backend_end(struct backend *backend)
{
	struct request *first;
	uint64_t now = clock_now_ms();
	size_t n = requests_count(backend->requests);

	if (n > 0)
		report_in_flight(backend->conn, n);
	ev_timer_stop(rnl_loop(), &backend->timer);
	while ((first = requests_first(backend->requests)) != NULL)
		fail_request(backend, first, first->due_ms <= now ? CAUSE_LATE : CAUSE_LOST);
	requests_free(backend->requests);
	free(backend);
}
