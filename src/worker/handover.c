#include "config.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
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

/* Connections in one turn of the loop, so that those that stay are served meanwhile. */
#define BUDGET 64

/* A rest when descriptors are short. */
#define PAUSE_S 0.05

struct handover {
	ev_timer pause; /* until the kernel lets more descriptors travel */
	ev_io io;       /* readable: offers; writable: the other worker takes more */
	struct conn_table *table;
	const struct listeners *listeners;
	uint64_t offered; /* listeners, by their bits */
	bool is_known;    /* all offers have come */
	size_t n_left;    /* of the table's connections, to be looked at in this pass */
	uint8_t message[MOVING_SIZE];
};

struct receiver {
	ev_io io;
	ev_timer pause; /* for want of a descriptor */
	int reserve;    /* its place is the next connection's; -1: there is none */
	void (*on_end)(void *arg);
	void *arg;
	struct link link; /* in the worker's list */
	struct conn_table *table;
	const struct listeners *listeners;
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

/* The socket would be writable all the time. */
static void pause_sweep(struct handover *handover)
{
	struct ev_loop *loop = handover->table->loop;

	handover->n_left = 0;
	want(loop, &handover->io, EV_READ);
	if (!ev_is_active(&handover->pause)) {
		ev_timer_set(&handover->pause, PAUSE_S, 0.);
		ev_timer_start(loop, &handover->pause);
	}
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)revents;
	look_at_all(container_of(timer, struct handover, pause));
}

/* The other worker is gone: each connection is closed at its moment. */
static void give_up(struct handover *handover)
{
	handover->table->movable = 0;
	table_schedule_all(handover->table);
	ev_io_stop(handover->table->loop, &handover->io);
}

/* The table's move: false when it is not offered, or has to wait. */
static bool hand_over(struct rnl_conn *conn, void *arg)
{
	struct handover *handover = arg;
	size_t len;

	/* Until the offers are known it may be that all can move. */
	if (!handover->is_known)
		return false;
	len = moving_pack(conn, handover->message);
	if (len == 0)
		return false;
	if (passing_send(handover->io.fd, handover->message, len, conn->fd) >= 0)
		return true;
	if (errno == EAGAIN || errno == EWOULDBLOCK)
		look_at_all(handover);
	else if (errno == ETOOMANYREFS)
		pause_sweep(handover);
	else
		give_up(handover);
	return false;
}

/* Look at some connections, each of which is put behind the others. */
static void sweep(struct handover *handover)
{
	struct conn_table *table = handover->table;

	for (int i = 0; i < BUDGET && handover->n_left > 0 && table->n_conns > 0; i++) {
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

/* An empty text ends the offers. */
static void read_offers(struct handover *handover)
{
	char offer[MOVING_OFFER_SIZE];
	ssize_t n;

	while ((n = recv(handover->io.fd, offer, sizeof(offer), 0)) > 0) {
		if (n == 1)
			end_offers(handover);
		else
			take_offer(handover, offer, (size_t)n);
	}
	if (n == 0)
		give_up(handover);
}

static void on_handover(struct ev_loop *loop, ev_io *io, int revents)
{
	struct handover *handover = container_of(io, struct handover, io);

	(void)loop;
	if (revents & EV_READ)
		read_offers(handover);
	if ((revents & EV_WRITE) && ev_is_active(io))
		sweep(handover);
}

struct handover *handover_new(
    struct conn_table *table, const struct listeners *listeners, int fd)
{
	struct handover *handover = calloc(1, sizeof(*handover));

	if (handover == NULL) {
		close(fd);
		return NULL;
	}
	handover->table = table;
	handover->listeners = listeners;
	table->move = hand_over;
	table->move_arg = handover;
	table->movable = UINT64_MAX;
	ev_init(&handover->pause, on_pause_over);
	ev_io_init(&handover->io, on_handover, fd, EV_READ);
	ev_io_start(table->loop, &handover->io);
	return handover;
}

void handover_destroy(struct handover **handoverp)
{
	struct handover *handover = *handoverp;

	if (handover == NULL)
		return;
	handover->table->movable = 0;
	ev_timer_stop(handover->table->loop, &handover->pause);
	ev_io_stop(handover->table->loop, &handover->io);
	close(handover->io.fd);
	free(handover);
	*handoverp = NULL;
}

static void receiver_destroy(struct receiver *receiver)
{
	list_remove(&receiver->link);
	ev_io_stop(receiver->table->loop, &receiver->io);
	ev_timer_stop(receiver->table->loop, &receiver->pause);
	if (receiver->reserve >= 0)
		close(receiver->reserve);
	close(receiver->io.fd);
	free(receiver);
}

static void take(struct receiver *receiver, size_t len, int fd)
{
	const struct listeners *listeners = receiver->listeners;
	enum status status = moving_unpack(
	    receiver->table, listeners->list, listeners->n, receiver->message, len, fd);

	if (status != STATUS_OK)
		log_error("a connection of an earlier worker cannot go on: %s",
		    status == STATUS_ERRNO   ? strerror(errno)
		    : status == STATUS_NOMEM ? "out of memory"
					     : "it is of another version");
}

enum receipt { RECEIPT_TAKEN, RECEIPT_NONE_NOW, RECEIPT_NO_PLACE, RECEIPT_END };

/* Without a descriptor for it the kernel would drop the connection. */
static bool has_place(struct receiver *receiver)
{
	if (receiver->reserve < 0)
		receiver->reserve = fcntl(receiver->io.fd, F_DUPFD_CLOEXEC, 0);
	return receiver->reserve >= 0;
}

static enum receipt receive_one(struct receiver *receiver)
{
	int passed;
	ssize_t n;

	if (!has_place(receiver))
		return RECEIPT_NO_PLACE;
	close(receiver->reserve);
	receiver->reserve = -1;
	n = passing_receive(
	    receiver->io.fd, receiver->message, sizeof(receiver->message), &passed);
	if (n > 0 && passed >= 0)
		take(receiver, (size_t)n, passed);
	else if (n > 0)
		log_error("a connection of an earlier worker came without its descriptor");
	if (n < 0)
		return errno == EAGAIN || errno == EWOULDBLOCK ? RECEIPT_NONE_NOW : RECEIPT_END;
	return n == 0 ? RECEIPT_END : RECEIPT_TAKEN;
}

static void end(struct receiver *receiver)
{
	void (*on_end)(void *) = receiver->on_end;
	void *arg = receiver->arg;

	receiver_destroy(receiver);
	on_end(arg);
}

static void on_receiver(struct ev_loop *loop, ev_io *io, int revents)
{
	struct receiver *receiver = container_of(io, struct receiver, io);
	enum receipt receipt = RECEIPT_TAKEN;

	(void)revents;
	for (int i = 0; i < BUDGET && receipt == RECEIPT_TAKEN; i++)
		receipt = receive_one(receiver);
	if (receipt == RECEIPT_NO_PLACE) {
		ev_io_stop(loop, io);
		ev_timer_set(&receiver->pause, PAUSE_S, 0.);
		ev_timer_start(loop, &receiver->pause);
	} else if (receipt == RECEIPT_END) {
		end(receiver);
	}
}

static void on_place(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)revents;
	ev_io_start(loop, &container_of(timer, struct receiver, pause)->io);
}

static void say(int fd, const char *text)
{
	if (send(fd, text, strlen(text) + 1, MSG_NOSIGNAL) < 0)
		log_debug("an earlier worker hears no offer: %s", strerror(errno));
}

/* They are few and small: a new pair holds them. */
static void make_offers(const struct listeners *listeners, int fd)
{
	char text[MOVING_OFFER_SIZE];

	for (size_t i = 0; i < listeners->n; i++) {
		if (moving_describe(&listeners->list[i], text))
			say(fd, text);
	}
	say(fd, "");
}

enum status receiver_new(struct link *list, struct conn_table *table,
    const struct listeners *listeners, int fd, void (*on_end)(void *arg), void *arg)
{
	struct receiver *receiver = calloc(1, sizeof(*receiver));

	if (receiver == NULL) {
		close(fd);
		return STATUS_NOMEM;
	}
	receiver->table = table;
	receiver->listeners = listeners;
	receiver->reserve = -1;
	receiver->on_end = on_end;
	receiver->arg = arg;
	ev_init(&receiver->pause, on_place);
	list_append(list, &receiver->link);
	make_offers(listeners, fd);
	ev_io_init(&receiver->io, on_receiver, fd, EV_READ);
	ev_io_start(table->loop, &receiver->io);
	return STATUS_OK;
}

void receivers_close(struct link *list)
{
	struct link *link, *after;

	list_foreach_safe(link, after, list) {
		struct receiver *receiver = container_of(link, struct receiver, link);

		/* What comes after this the other end cannot send. */
		shutdown(receiver->io.fd, SHUT_RD);
		while (receive_one(receiver) == RECEIPT_TAKEN)
			continue;
		receiver_destroy(receiver);
	}
}
