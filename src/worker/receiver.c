#include "config.h"

#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "conn/conn.h"
#include "conn/moving.h"
#include "io/passing.h"
#include "worker/handover.h"
#include "worker/receiver.h"

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

enum receipt { RECEIPT_TAKEN, RECEIPT_NONE_NOW, RECEIPT_NO_PLACE, RECEIPT_END };

/* A sender that is gone has left it all to us. END: it could not be told, and keeps it. */
static enum receipt reply(struct receiver *receiver, enum handover_reply what)
{
	const uint8_t byte = (uint8_t)what;
	ssize_t n;

	do
		n = send(receiver->io.fd, &byte, sizeof(byte), MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	if (n > 0 || errno == EPIPE || errno == ECONNRESET)
		return RECEIPT_TAKEN;
	log_warn("an earlier worker keeps its connections: no reply can be sent: %s",
	    strerror(errno));
	return RECEIPT_END;
}

/* What one cause does to one it may do to all. */
static enum receipt refuse(struct receiver *receiver, const char *why)
{
	struct conn_table *table = receiver->table;
	char rest[LOG_REST_SIZE];

	if (log_cap_allows(&table->losses, table->now_ms, rest))
		log_error(
		    "a connection of an earlier worker is not taken over: %s%s", why, rest);
	return reply(receiver, HANDOVER_REFUSED);
}

/* From the reply on it is ours, whatever happens to us. */
static enum receipt take(struct receiver *receiver, size_t len, int fd)
{
	const struct listeners *listeners = receiver->listeners;
	enum receipt receipt;
	struct rnl_conn *conn;
	enum status status;

	if (fd < 0)
		return refuse(receiver, "its descriptor did not come with it");
	status = moving_unpack(
	    receiver->table, listeners->list, listeners->n, receiver->message, len, fd, &conn);
	if (status != STATUS_OK)
		return refuse(receiver, status == STATUS_ERRNO   ? strerror(errno)
					: status == STATUS_NOMEM ? "out of memory"
								 : "it is of another version");
	receipt = reply(receiver, HANDOVER_TAKEN);
	if (receipt == RECEIPT_TAKEN)
		moving_resume(conn, receiver->message, len);
	else
		moving_undo(conn);
	return receipt;
}

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
	if (n > 0)
		return take(receiver, (size_t)n, passed);
	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
		return RECEIPT_NONE_NOW;
	return RECEIPT_END;
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
	for (int i = 0; i < HANDOVER_BUDGET && receipt == RECEIPT_TAKEN; i++)
		receipt = receive_one(receiver);
	if (receipt == RECEIPT_NO_PLACE) {
		ev_io_stop(loop, io);
		ev_timer_set(&receiver->pause, HANDOVER_PAUSE_S, 0.);
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
