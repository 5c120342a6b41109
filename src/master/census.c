#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "master/census.h"

#define LIMIT_S 2.

/* What is read in one turn of the loop from a worker. */
#define READ_BYTES (64u * 1024u)

/* Of a worker's records: those of a million connections, about as many as Linux lets it have. */
#define MAX_BYTES ((size_t)1 << 28)

static void stop_worker(struct census_worker *worker)
{
	if (!worker->is_open)
		return;
	worker->is_open = false;
	worker->census->n_open--;
	ev_io_stop(worker->census->loop, &worker->io);
	close(worker->io.fd);
}

static void census_destroy(struct census *census)
{
	struct link *link;

	ev_timer_stop(census->loop, &census->limit);
	list_remove(&census->link);
	while ((link = list_shift(&census->workers)) != NULL) {
		struct census_worker *worker = container_of(link, struct census_worker, link);

		stop_worker(worker);
		free(worker->records);
		free(worker);
	}
	while ((link = list_shift(&census->joined)) != NULL)
		census_destroy(container_of(link, struct census, link));
	census->release(census->arg);
	free(census);
}

/* A worker can write what it likes: its texts get an end, its truth values are such. */
static void clean(struct survey_record *record)
{
	uint8_t is_ipv6, is_unix;

	record->listener[sizeof(record->listener) - 1] = '\0';
	memcpy(&is_ipv6, &record->peer.is_ipv6, sizeof(is_ipv6));
	memcpy(&is_unix, &record->peer.is_unix, sizeof(is_unix));
	record->peer.is_ipv6 = is_ipv6 != 0;
	record->peer.is_unix = is_unix != 0;
}

static void clean_all(struct census *census)
{
	struct link *link;

	list_foreach(link, &census->workers) {
		struct census_worker *worker = container_of(link, struct census_worker, link);

		for (size_t i = 0; i < census_n_records(worker); i++)
			clean(&worker->records[i]);
	}
}

static void start_next(struct link *line);

/* Who is told may ask again at once, and stands behind this one then. */
static void finish(struct census *census)
{
	struct link *line = census->line, *link;

	ev_timer_stop(census->loop, &census->limit);
	clean_all(census);
	census->done(census, census->arg);
	list_foreach(link, &census->joined) {
		struct census *other = container_of(link, struct census, link);

		other->done(census, other->arg);
	}
	census_destroy(census);
	start_next(line);
}

static void on_limit(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)revents;
	finish(container_of(timer, struct census, limit));
}

/* False: no memory, or more than a worker can have connections. */
static bool make_room(struct census_worker *worker)
{
	size_t size = worker->size == 0 ? READ_BYTES : 2 * worker->size;
	struct survey_record *records;

	if (worker->size - worker->len >= READ_BYTES)
		return true;
	if (size > MAX_BYTES)
		return false;
	records = realloc(worker->records, size);
	if (records == NULL)
		return false;
	worker->records = records;
	worker->size = size;
	return true;
}

static size_t count_whole(const struct census_worker *worker)
{
	return worker->len / sizeof(worker->records[0]);
}

static bool has_end(const struct census_worker *worker)
{
	size_t n = count_whole(worker);

	return n > 0 && n * sizeof(worker->records[0]) == worker->len &&
	       worker->records[n - 1].id == 0;
}

/* The others do not have that connection. */
static bool has_kicked(const struct census_worker *worker)
{
	return worker->census->request.kick != 0 && census_n_records(worker) > 0;
}

static void on_readable(struct ev_loop *loop, ev_io *io, int revents)
{
	struct census_worker *worker = container_of(io, struct census_worker, io);
	ssize_t n = -1;

	(void)loop;
	(void)revents;
	if (make_room(worker)) {
		n = recv(io->fd, (char *)worker->records + worker->len, READ_BYTES, 0);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
	}
	if (n > 0)
		worker->len += (size_t)n;
	worker->is_complete = n > 0 && has_end(worker);
	if (n > 0 && !worker->is_complete)
		return;
	stop_worker(worker);
	if (worker->census->n_open == 0 || has_kicked(worker))
		finish(worker->census);
}

/* The worker's end of a pair, with the request in it; -1: it is left out. */
static int open_pair(unsigned int slot, void *arg)
{
	struct census *census = arg;
	struct census_worker *worker = must_alloc(1, sizeof(*worker));
	int pair[2];

	worker->census = census;
	worker->slot = slot;
	list_append(&census->workers, &worker->link);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0) {
		log_warn("worker %u is not asked for its connections: no descriptor", slot);
		return -1;
	}
	worker->is_open = true;
	census->n_open++;
	ev_io_init(&worker->io, on_readable, pair[0], EV_READ);
	ev_io_start(census->loop, &worker->io);
	/* A new pair has room for it. */
	if (send(pair[0], &census->request, sizeof(census->request), MSG_NOSIGNAL) < 0)
		log_warn("worker %u is not asked for its connections", slot);
	return pair[1];
}

/* Those in line that want all connections, too. */
static void join(struct census *census)
{
	struct link *link, *after;

	list_foreach_safe(link, after, census->line) {
		struct census *other = container_of(link, struct census, link);

		if (other == census || other->request.kick != 0)
			continue;
		list_remove(&other->link);
		list_append(&census->joined, &other->link);
	}
}

static void begin(struct census *census)
{
	if (census->request.kick == 0)
		join(census);
	succession_survey(census->succession, open_pair, census);
	/* With nobody to wait for it is over in the next turn. */
	ev_timer_set(&census->limit, census->n_open > 0 ? LIMIT_S : 0., 0.);
	ev_timer_start(census->loop, &census->limit);
}

static void start_next(struct link *line)
{
	while (!list_is_empty(line)) {
		struct census *census = container_of(line->next, struct census, link);

		if (census->is_wanted(census->arg)) {
			begin(census);
			return;
		}
		census->done(census, census->arg);
		census_destroy(census);
	}
}

void census_start(struct link *line, struct ev_loop *loop, struct succession *succession,
    const struct survey_request *request, census_done_f *done, census_wanted_f *is_wanted,
    census_release_f *release, void *arg)
{
	struct census *census = must_alloc(1, sizeof(*census));
	bool is_first = list_is_empty(line);

	census->line = line;
	census->loop = loop;
	census->succession = succession;
	census->request = *request;
	census->done = done;
	census->is_wanted = is_wanted;
	census->release = release;
	census->arg = arg;
	list_init(&census->workers);
	list_init(&census->joined);
	ev_init(&census->limit, on_limit);
	list_append(line, &census->link);
	if (is_first)
		begin(census);
}

size_t census_n_records(const struct census_worker *worker)
{
	return count_whole(worker) - worker->is_complete;
}

void censuses_drop(struct link *line)
{
	struct link *link, *after;

	list_foreach_safe(link, after, line)
		census_destroy(container_of(link, struct census, link));
}
