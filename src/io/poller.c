#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/list.h"
#include "io/poller.h"

/* Events in a batch. */
#define BATCH 256

/* What an owner's data path touches first. */
#define OWNER_BYTES 128
#define CACHE_LINE 64

struct poller {
	ev_io io;             /* on the epoll set */
	struct ev_loop *loop; /* borrowed */
	poller_event_f *on_event;
	struct epoll_event events[BATCH];
};

/* With thousands of connections the next one is rarely in the cache: have it come meanwhile. */
static void prefetch(const void *owner)
{
	for (size_t at = 0; at < OWNER_BYTES; at += CACHE_LINE)
		__builtin_prefetch((const char *)owner + at, 1);
}

static void on_ready(struct ev_loop *loop, ev_io *io, int revents)
{
	struct poller *poller = container_of(io, struct poller, io);
	int n = epoll_wait(io->fd, poller->events, BATCH, 0);

	(void)loop;
	(void)revents;
	for (int i = 0; i < n; i++) {
		if (i + 1 < n)
			prefetch(poller->events[i + 1].data.ptr);
		poller->on_event(poller->events[i].data.ptr, poller->events[i].events);
	}
}

enum status poller_new(struct ev_loop *loop, poller_event_f *on_event, struct poller **result)
{
	struct poller *poller = calloc(1, sizeof(*poller));
	int fd;

	if (poller == NULL)
		return STATUS_NOMEM;
	fd = epoll_create1(EPOLL_CLOEXEC);
	if (fd < 0) {
		free(poller);
		return STATUS_ERRNO;
	}
	poller->loop = loop;
	poller->on_event = on_event;
	ev_io_init(&poller->io, on_ready, fd, EV_READ);
	ev_set_priority(&poller->io, POLLER_PRIORITY);
	ev_io_start(loop, &poller->io);
	ev_unref(loop);
	*result = poller;
	return STATUS_OK;
}

static enum status control(struct poller *poller, int op, int fd, uint32_t events, void *owner)
{
	struct epoll_event event = { .events = events, .data.ptr = owner };

	return epoll_ctl(poller->io.fd, op, fd, &event) == 0 ? STATUS_OK : STATUS_ERRNO;
}

enum status poller_add(struct poller *poller, int fd, uint32_t events, void *owner)
{
	return control(poller, EPOLL_CTL_ADD, fd, events, owner);
}

enum status poller_change(struct poller *poller, int fd, uint32_t events, void *owner)
{
	return control(poller, EPOLL_CTL_MOD, fd, events, owner);
}

void poller_remove(struct poller *poller, int fd)
{
	epoll_ctl(poller->io.fd, EPOLL_CTL_DEL, fd, NULL);
}

void poller_destroy(struct poller **pollerp)
{
	struct poller *poller = *pollerp;

	ev_ref(poller->loop);
	ev_io_stop(poller->loop, &poller->io);
	close(poller->io.fd);
	free(poller);
	*pollerp = NULL;
}
