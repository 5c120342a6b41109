#include "config.h"

#include <errno.h>
#include <ev.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "conn/conn.h"
#include "conn/moving.h"
#include "io/passing.h"
#include "worker/handover.h"

/* A connection that was sent, and whose reply has not come. */
struct flight {
	struct link link;
	int fd; /* owned */
	size_t len;
	uint8_t message[];
};

struct handover {
	struct link link; /* in the worker's list */
	ev_timer pause;   /* until it is worth while to send again */
	ev_io io;         /* readable: offers, replies; writable: the other worker takes more */
	struct conn_table *table;
	const struct listeners *listeners;
	uint64_t offered;    /* listeners, by their bits */
	bool is_known;       /* all offers have come */
	bool is_over;        /* it sends no more */
	size_t n_left;       /* of the table's connections, to be looked at in this pass */
	struct link flights; /* oldest first */
	size_t n_flights;
	void (*on_landed)(void *arg);
	void *arg;
	uint8_t message[MOVING_SIZE];
};

static void want(struct ev_loop *loop, ev_io *io, int events)
{
	if (ev_is_active(io) && (io->events & (EV_READ | EV_WRITE)) == events)
		return;
	ev_io_stop(loop, io);
	ev_io_set(io, io->fd, events);
	ev_io_start(loop, io);
}

/* As soon as the other worker takes more. */
static void look_at_all(struct handover *handover)
{
	handover->n_left = handover->table->n_conns;
	want(handover->table->loop, &handover->io, EV_READ | EV_WRITE);
}

/* The socket may be writable all the time. */
static void stop_sweep(struct handover *handover)
{
	handover->n_left = 0;
	want(handover->table->loop, &handover->io, EV_READ);
}

static void pause_sweep(struct handover *handover)
{
	struct ev_loop *loop = handover->table->loop;

	stop_sweep(handover);
	if (!ev_is_active(&handover->pause)) {
		ev_timer_set(&handover->pause, HANDOVER_PAUSE_S, 0.);
		ev_timer_start(loop, &handover->pause);
	}
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)revents;
	look_at_all(container_of(timer, struct handover, pause));
}

/* The table's move while there is nobody to hand over to. */
static bool stay(struct rnl_conn *conn, void *arg)
{
	(void)conn;
	(void)arg;
	return false;
}

static void end(struct handover *handover)
{
	handover->is_over = true;
	ev_timer_stop(handover->table->loop, &handover->pause);
	stop_sweep(handover);
}

static struct flight *flight_new(const struct handover *handover, size_t len, int fd)
{
	struct flight *flight = malloc(sizeof(*flight) + len);

	if (flight == NULL)
		return NULL;
	list_init(&flight->link);
	flight->fd = fd;
	flight->len = len;
	memcpy(flight->message, handover->message, len);
	return flight;
}

/* It has not moved: errno. */
static void consider_rest(struct handover *handover)
{
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		look_at_all(handover);
	else if (errno == EPIPE || errno == ECONNRESET)
		/* The other's end comes behind its replies. */
		end(handover);
	else if (errno != EMSGSIZE)
		pause_sweep(handover);
}

static bool can_send(struct handover *handover)
{
	/* Until the offers are known nobody knows which can move. */
	return handover->is_known && !handover->is_over && !ev_is_active(&handover->pause) &&
	       handover->n_flights < HANDOVER_WINDOW;
}

/* The table's move: false when it is not offered, or has to wait. */
static bool hand_over(struct rnl_conn *conn, void *arg)
{
	struct handover *handover = arg;
	struct flight *flight;
	size_t len;

	if (!can_send(handover))
		return false;
	len = moving_pack(conn, handover->message);
	if (len == 0)
		return false;
	flight = flight_new(handover, len, conn->fd);
	if (flight == NULL)
		return false;
	if (passing_send(handover->io.fd, handover->message, len, conn->fd) < 0) {
		consider_rest(handover);
		free(flight);
		return false;
	}
	list_append(&handover->flights, &flight->link);
	if (++handover->n_flights == HANDOVER_WINDOW)
		stop_sweep(handover);
	return true;
}

/* Look at some connections, each of which is put behind the others. */
static void sweep(struct handover *handover)
{
	struct conn_table *table = handover->table;

	for (int i = 0; i < HANDOVER_BUDGET && handover->n_left > 0 && table->n_conns > 0;
	     i++) {
		struct link *first = table->conns.next;

		handover->n_left--;
		list_remove(first);
		list_append(&table->conns, first);
		conn_turn(container_of(first, struct rnl_conn, all));
	}
	if (handover->n_left == 0 || table->n_conns == 0)
		want(table->loop, &handover->io, EV_READ);
}

static void take_offer(struct handover *handover, const char *offer, size_t len)
{
	char text[MOVING_OFFER_SIZE];

	for (size_t i = 0; i < handover->listeners->n; i++) {
		const struct listener *listener = &handover->listeners->list[i];

		if (moving_describe(listener, text) && strlen(text) + 1 == len &&
		    memcmp(text, offer, len) == 0)
			handover->offered |= UINT64_C(1) << listener->index;
	}
}

/* Those that do not move have to be given other moments to go. */
static void end_offers(struct handover *handover)
{
	handover->is_known = true;
	handover->table->movable = handover->offered;
	look_at_all(handover);
}

/* It is served here again, or moves once more. */
static void take_back(struct handover *handover, const struct flight *flight)
{
	const struct listeners *listeners = handover->listeners;
	char rest[LOG_REST_SIZE];
	struct rnl_conn *conn;
	enum status status = moving_unpack(handover->table, listeners->list, listeners->n,
	    flight->message, flight->len, flight->fd, &conn);

	if (status == STATUS_OK)
		moving_resume(conn, flight->message, flight->len);
	else if (log_cap_allows(&handover->table->losses, handover->table->now_ms, rest))
		log_error("a connection that no later worker took is lost: %s%s",
		    status == STATUS_NOMEM ? "out of memory" : strerror(errno), rest);
}

static struct flight *shift(struct handover *handover)
{
	struct link *link = list_shift(&handover->flights);

	if (link == NULL)
		return NULL;
	handover->n_flights--;
	return container_of(link, struct flight, link);
}

/* The oldest has its reply. */
static void land(struct handover *handover, bool is_taken)
{
	struct flight *flight = shift(handover);

	if (flight == NULL)
		return;
	if (is_taken) {
		close(flight->fd);
	} else {
		if (!handover->is_over)
			pause_sweep(handover);
		take_back(handover, flight);
	}
	free(flight);
	if (handover->n_flights == HANDOVER_WINDOW / 2 && can_send(handover))
		look_at_all(handover);
	if (handover->n_flights == 0)
		handover->on_landed(handover->arg);
}

static void handover_destroy(struct handover *handover)
{
	struct conn_table *table = handover->table;
	struct flight *flight;

	if (table->move_arg == handover) {
		table->move = stay;
		table->move_arg = NULL;
	}
	while ((flight = shift(handover)) != NULL) {
		close(flight->fd);
		free(flight);
	}
	list_remove(&handover->link);
	ev_timer_stop(table->loop, &handover->pause);
	ev_io_stop(table->loop, &handover->io);
	close(handover->io.fd);
	free(handover);
}

/*
 * The other worker is gone. What it has not taken it never will. Others stay as they are,
 * with time to move: the next worker in its slot may take them.
 */
static void be_left(struct handover *handover)
{
	end(handover);
	if (handover->n_flights > 0)
		log_info("%zu %s here: the later worker that was to have %s is gone",
		    handover->n_flights,
		    handover->n_flights == 1 ? "connection is served"
					     : "connections are served",
		    handover->n_flights == 1 ? "it" : "them");
	while (handover->n_flights > 0)
		land(handover, false);
	handover_destroy(handover);
}

/* An empty text ends the offers; then replies come. */
static void read_message(struct handover *handover, const char *bytes, size_t len)
{
	if (handover->is_known)
		land(handover, bytes[0] == HANDOVER_TAKEN);
	else if (len == 1)
		end_offers(handover);
	else
		take_offer(handover, bytes, len);
}

/* False: the handover is gone. */
static bool read_all(struct handover *handover)
{
	char bytes[MOVING_OFFER_SIZE];

	for (;;) {
		ssize_t n = recv(handover->io.fd, bytes, sizeof(bytes), 0);

		if (n > 0) {
			read_message(handover, bytes, (size_t)n);
		} else if (n == 0) {
			be_left(handover);
			return false;
		} else {
			/* Also when it died with unread messages: what it sent comes behind that. */
			return true;
		}
	}
}

static void on_handover(struct ev_loop *loop, ev_io *io, int revents)
{
	struct handover *handover = container_of(io, struct handover, io);

	(void)loop;
	if ((revents & EV_READ) && !read_all(handover))
		return;
	if ((revents & EV_WRITE) && (io->events & EV_WRITE))
		sweep(handover);
}

/* Its replies are still to come. */
static void end_all(struct link *list)
{
	struct link *link;

	list_foreach(link, list)
		end(container_of(link, struct handover, link));
}

enum status handover_new(struct link *list, struct conn_table *table,
    const struct listeners *listeners, int fd, void (*on_landed)(void *arg), void *arg)
{
	struct handover *handover = calloc(1, sizeof(*handover));

	if (handover == NULL) {
		close(fd);
		return STATUS_NOMEM;
	}
	end_all(list);
	handover->table = table;
	handover->listeners = listeners;
	handover->on_landed = on_landed;
	handover->arg = arg;
	list_init(&handover->flights);
	list_append(list, &handover->link);
	table->move = hand_over;
	table->move_arg = handover;
	table->movable = UINT64_MAX;
	ev_init(&handover->pause, on_pause_over);
	ev_io_init(&handover->io, on_handover, fd, EV_READ);
	ev_io_start(table->loop, &handover->io);
	return STATUS_OK;
}

bool handovers_are_flying(struct link *list)
{
	struct link *link;

	list_foreach(link, list) {
		if (container_of(link, struct handover, link)->n_flights > 0)
			return true;
	}
	return false;
}

void handovers_end(struct link *list)
{
	struct link *link;

	list_foreach(link, list) {
		struct handover *handover = container_of(link, struct handover, link);

		handover->table->movable = 0;
		end(handover);
	}
}

void handovers_close(struct link *list)
{
	struct link *link, *after;

	handovers_end(list);
	list_foreach_safe(link, after, list)
		handover_destroy(container_of(link, struct handover, link));
}
