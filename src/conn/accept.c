#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conn/accept.h"
#include "conn/conn.h"

/* Connections accepted in one turn of the loop from one socket. */
#define ACCEPT_BUDGET 64

/* More than a queue holds: new ones that keep coming do not keep the worker. */
#define SWEEP_MOST 65536

/* Accepting rests for so long when there is no descriptor even to turn one away. */
#define PAUSE_S 0.1

struct acceptor {
	ev_io io;
	struct link link;
	struct acceptors *acceptors;
	const struct listener *listener;
	unsigned int slot;
};

struct acceptors {
	struct conn_table *table;
	struct link list;
	ev_timer pause;
	/* Given up for a moment to accept and close when no descriptor is left; -1: lost. */
	int reserve_fd;
};

static int open_reserve(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static void log_rejection(struct acceptor *acceptor, const char *why)
{
	struct conn_table *table = acceptor->acceptors->table;
	char rest[LOG_REST_SIZE];

	if (!log_cap_allows(&table->rejections, table->now_ms, rest))
		return;
	log_warn("listen %s: connection rejected: %s%s", acceptor->listener->name, why, rest);
}

static void reject(struct acceptor *acceptor, int fd, const char *why)
{
	close(fd);
	counter_add(acceptor->acceptors->table->seat->counters.rejected, 1);
	log_rejection(acceptor, why);
}

static void pause_all(struct acceptors *acceptors)
{
	struct link *link;

	list_foreach(link, &acceptors->list)
		ev_io_stop(
		    acceptors->table->loop, &container_of(link, struct acceptor, link)->io);
	ev_timer_again(acceptors->table->loop, &acceptors->pause);
}

static void on_pause_over(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct acceptors *acceptors = container_of(timer, struct acceptors, pause);
	struct link *link;

	(void)revents;
	ev_timer_stop(loop, timer);
	if (acceptors->reserve_fd < 0)
		acceptors->reserve_fd = open_reserve();
	list_foreach(link, &acceptors->list)
		ev_io_start(loop, &container_of(link, struct acceptor, link)->io);
}

/*
 * No descriptor is left: turn one connection away with the reserve. False: accepting had to
 * pause.
 */
static bool shed(struct acceptor *acceptor, const char *why)
{
	struct acceptors *acceptors = acceptor->acceptors;
	int fd = -1;

	if (acceptors->reserve_fd >= 0) {
		close(acceptors->reserve_fd);
		fd = accept4(acceptor->io.fd, NULL, NULL, SOCK_CLOEXEC);
		if (fd >= 0)
			reject(acceptor, fd, why);
		acceptors->reserve_fd = open_reserve();
	}
	if (fd < 0 || acceptors->reserve_fd < 0) {
		log_rejection(acceptor, why);
		pause_all(acceptors);
		return false;
	}
	return true;
}

/* Of this generation: what earlier ones still have goes away by itself. */
static uint32_t count_open(const struct conn_table *table, unsigned int listener)
{
	uint32_t n = 0;

	for (unsigned int i = 0; i < table->n_slots * SLOT_SEATS; i++) {
		const struct seat *seat = &table->pages[i / SLOT_SEATS].seats[i % SLOT_SEATS];

		if (__atomic_load_n(&seat->generation, __ATOMIC_RELAXED) ==
		    table->seat->generation)
			n += __atomic_load_n(&seat->n_open[listener], __ATOMIC_RELAXED);
	}
	return n;
}

static void serve(struct acceptor *acceptor, int fd, const struct sockaddr_storage *addr)
{
	struct conn_table *table = acceptor->acceptors->table;
	const struct listener *listener = acceptor->listener;
	struct endpoint peer;
	enum status status;

	if (count_open(table, listener->index) >= listener->max_connections) {
		reject(acceptor, fd, "max-connections is reached");
		return;
	}
	endpoint_set(&peer, addr);
	status = conn_new(table, listener, fd, &peer);
	if (status != STATUS_OK) {
		counter_add(table->seat->counters.rejected, 1);
		log_rejection(acceptor, status == STATUS_NOMEM ? "no memory" : strerror(errno));
	}
}

/* What accept(2) failed with: may the next one be tried at once? */
static bool is_passing(struct acceptor *acceptor)
{
	switch (errno) {
	case EAGAIN:
		return false;
	case EMFILE:
	case ENFILE:
		return shed(acceptor, strerror(errno));
	case ENOBUFS:
	case ENOMEM:
		log_rejection(acceptor, strerror(errno));
		pause_all(acceptor->acceptors);
		return false;
	default:
		/*
		 * An error of that one connection (ECONNABORTED, EPERM, network errors), or
		 * EINTR.
		 */
		return true;
	}
}

/* False: there is no more for now. */
static bool accept_one(struct acceptor *acceptor)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	int fd = accept4(
	    acceptor->io.fd, (struct sockaddr *)&addr, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return is_passing(acceptor);
	serve(acceptor, fd, &addr);
	return true;
}

static void on_acceptable(struct ev_loop *loop, ev_io *io, int revents)
{
	struct acceptor *acceptor = container_of(io, struct acceptor, io);

	(void)loop;
	/* libev has stopped the watcher, for the kernel refused it: try again later. */
	if (revents & EV_ERROR) {
		log_rejection(acceptor, "the kernel does not watch the listening socket");
		pause_all(acceptor->acceptors);
		return;
	}
	for (int i = 0; i < ACCEPT_BUDGET && accept_one(acceptor); i++)
		continue;
}

enum status acceptors_new(struct conn_table *table, struct acceptors **result)
{
	struct acceptors *acceptors = calloc(1, sizeof(*acceptors));

	if (acceptors == NULL)
		return STATUS_NOMEM;
	acceptors->reserve_fd = open_reserve();
	if (acceptors->reserve_fd < 0) {
		free(acceptors);
		return STATUS_ERRNO;
	}
	acceptors->table = table;
	list_init(&acceptors->list);
	ev_timer_init(&acceptors->pause, on_pause_over, 0., PAUSE_S);
	*result = acceptors;
	return STATUS_OK;
}

enum status acceptors_add(
    struct acceptors *acceptors, const struct listener *listener, int fd, unsigned int slot)
{
	struct acceptor *acceptor = calloc(1, sizeof(*acceptor));

	if (acceptor == NULL)
		return STATUS_NOMEM;
	acceptor->acceptors = acceptors;
	acceptor->listener = listener;
	acceptor->slot = slot;
	ev_io_init(&acceptor->io, on_acceptable, fd, EV_READ);
	list_append(&acceptors->list, &acceptor->link);
	ev_io_start(acceptors->table->loop, &acceptor->io);
	return STATUS_OK;
}

void acceptors_sweep(struct acceptors *acceptors)
{
	struct link *link;

	list_foreach(link, &acceptors->list) {
		struct acceptor *acceptor = container_of(link, struct acceptor, link);

		for (int i = 0; i < SWEEP_MOST && accept_one(acceptor); i++)
			continue;
	}
}

static void acceptor_destroy(struct acceptor *acceptor)
{
	list_remove(&acceptor->link);
	ev_io_stop(acceptor->acceptors->table->loop, &acceptor->io);
	free(acceptor);
}

void acceptors_drop(struct acceptors *acceptors, unsigned int slot)
{
	struct link *link, *after;

	list_foreach_safe(link, after, &acceptors->list) {
		struct acceptor *acceptor = container_of(link, struct acceptor, link);

		if (acceptor->slot == slot)
			acceptor_destroy(acceptor);
	}
}

void acceptors_destroy(struct acceptors **acceptorsp)
{
	struct acceptors *acceptors = *acceptorsp;
	struct link *link, *after;

	ev_timer_stop(acceptors->table->loop, &acceptors->pause);
	list_foreach_safe(link, after, &acceptors->list)
		acceptor_destroy(container_of(link, struct acceptor, link));
	if (acceptors->reserve_fd >= 0)
		close(acceptors->reserve_fd);
	free(acceptors);
	*acceptorsp = NULL;
}
