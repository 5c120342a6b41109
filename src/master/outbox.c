#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "master/outbox.h"

struct order {
	struct link link;
	enum channel_type type;
	uint32_t arg;
	int passed; /* our own; -1: none */
};

static void drop(struct outbox *outbox, struct order *order)
{
	list_remove(&order->link);
	outbox->n--;
	if (order->passed >= 0)
		close(order->passed);
	free(order);
}

/* Until there is no room again. What cannot be sent at all is for nobody any more. */
static void on_writable(struct ev_loop *loop, ev_io *io, int revents)
{
	struct outbox *outbox = container_of(io, struct outbox, io);
	struct link *link, *after;

	(void)loop;
	(void)revents;
	list_foreach_safe(link, after, &outbox->orders) {
		struct order *order = container_of(link, struct order, link);

		if (!channel_send_fd(io->fd, order->type, order->arg, order->passed) &&
		    errno == EAGAIN)
			return;
		drop(outbox, order);
	}
	ev_io_stop(outbox->loop, io);
}

void outbox_init(struct outbox *outbox, struct ev_loop *loop)
{
	outbox->loop = loop;
	outbox->n = 0;
	list_init(&outbox->orders);
	ev_init(&outbox->io, on_writable);
}

void outbox_open(struct outbox *outbox, int channel)
{
	ev_io_set(&outbox->io, channel, EV_WRITE);
}

/* Does only the last of its type count? */
static bool is_last_word(enum channel_type type)
{
	switch (type) {
	case CHANNEL_SERVE:
	case CHANNEL_STOP:
	case CHANNEL_STOP_NOW:
	case CHANNEL_DRAIN:
	case CHANNEL_LOG:
	case CHANNEL_JOURNAL:
	case CHANNEL_LOG_LEVEL:
		return true;
	default:
		return false;
	}
}

static void drop_type(struct outbox *outbox, enum channel_type type)
{
	struct link *link, *after;

	list_foreach_safe(link, after, &outbox->orders) {
		struct order *order = container_of(link, struct order, link);

		if (order->type == type)
			drop(outbox, order);
	}
}

static bool keep(struct outbox *outbox, enum channel_type type, uint32_t arg, int passed)
{
	int own = passed >= 0 ? fcntl(passed, F_DUPFD_CLOEXEC, 0) : -1;
	struct order *order;

	if (passed >= 0 && own < 0)
		return false;
	order = must_alloc(1, sizeof(*order));
	order->type = type;
	order->arg = arg;
	order->passed = own;
	list_append(&outbox->orders, &order->link);
	outbox->n++;
	ev_io_start(outbox->loop, &outbox->io);
	return true;
}

bool outbox_send(struct outbox *outbox, enum channel_type type, uint32_t arg, int passed)
{
	if (outbox_is_empty(outbox)) {
		if (channel_send_fd(outbox->io.fd, type, arg, passed))
			return true;
		if (errno != EAGAIN)
			return false;
	}
	if (is_last_word(type))
		drop_type(outbox, type);
	else if (outbox->n >= OUTBOX_MAX_ORDERS)
		return false;
	return keep(outbox, type, arg, passed);
}

void outbox_clear(struct outbox *outbox)
{
	struct link *link, *after;

	list_foreach_safe(link, after, &outbox->orders)
		drop(outbox, container_of(link, struct order, link));
	ev_io_stop(outbox->loop, &outbox->io);
}
