#include "config.h"

#include <errno.h>
#include <ev.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conn/conn.h"
#include "worker/survey.h"

/* Buckets of the table, and records of them, in one turn of the loop. */
#define TURN_BUCKETS 128
#define TURN_RECORDS 64

/* There is room for a bucket more than that; what a longer one has beyond it is left out. */
#define MAX_RECORDS (TURN_RECORDS + 64)

struct survey {
	ev_io io;
	struct link link;
	struct conn_table *table;
	size_t cursor; /* of the next bucket */
	bool is_over;  /* there is no more than what is in records */
	size_t n;      /* of records */
	size_t sent;   /* bytes of them that are written */
	struct survey_record records[MAX_RECORDS];
};

static void survey_destroy(struct survey *survey)
{
	ev_io_stop(survey->table->loop, &survey->io);
	close(survey->io.fd);
	list_remove(&survey->link);
	free(survey);
}

static void add(struct survey *survey, const struct rnl_conn *conn)
{
	struct survey_record *record = &survey->records[survey->n];

	if (survey->n + 1 >= MAX_RECORDS)
		return;
	*record = (struct survey_record){
		.id = conn_id(conn),
		.peer = conn->peer,
		.age_ms = conn_age_ms(conn),
		.idle_ms = conn_idle_ms(conn),
		.queue_messages = conn->out.n_messages,
		.queue_bytes = conn->out.held_bytes,
	};
	snprintf(record->listener, sizeof(record->listener), "%s", conn->listener->name);
	survey->n++;
}

static void visit(struct hash_link *link, void *arg)
{
	add(arg, container_of(link, struct rnl_conn, by_id));
}

static void end(struct survey *survey)
{
	survey->records[survey->n++] = (struct survey_record){ .id = 0 };
	survey->is_over = true;
}

/* The next records, in the place of those that are written. */
static void fill(struct survey *survey)
{
	survey->n = survey->sent = 0;
	for (int i = 0; i < TURN_BUCKETS && survey->n < TURN_RECORDS; i++) {
		survey->cursor =
		    hash_scan(&survey->table->by_id, survey->cursor, visit, survey);
		if (survey->cursor == 0) {
			end(survey);
			break;
		}
	}
}

static void kick(struct survey *survey, uint64_t id)
{
	struct rnl_conn *conn = table_find(survey->table, id);

	if (conn != NULL) {
		add(survey, conn);
		conn_abort(conn, CLOSE_REASON_kicked);
	}
	end(survey);
}

static void on_writable(struct ev_loop *loop, ev_io *io, int revents)
{
	struct survey *survey = container_of(io, struct survey, io);
	size_t size;
	ssize_t n;

	(void)loop;
	(void)revents;
	if (survey->sent == survey->n * sizeof(survey->records[0]) && !survey->is_over)
		fill(survey);
	size = survey->n * sizeof(survey->records[0]) - survey->sent;
	n = send(io->fd, (const char *)survey->records + survey->sent, size, MSG_NOSIGNAL);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n >= 0)
		survey->sent += (size_t)n;
	if (n < 0 || (survey->is_over && (size_t)n == size))
		survey_destroy(survey);
}

static bool is_given_up(int fd)
{
	struct pollfd poll_fd = { .fd = fd };

	return poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLHUP | POLLERR)) != 0;
}

enum status survey_new(struct link *list, struct conn_table *table, int fd)
{
	struct survey *survey = calloc(1, sizeof(*survey));
	struct survey_request request;

	if (survey == NULL) {
		close(fd);
		return STATUS_NOMEM;
	}
	survey->table = table;
	ev_io_init(&survey->io, on_writable, fd, EV_WRITE);
	list_append(list, &survey->link);
	/* It is there before the descriptor is. */
	if (recv(fd, &request, sizeof(request), MSG_DONTWAIT) != (ssize_t)sizeof(request)) {
		survey_destroy(survey);
		return STATUS_INVALID;
	}
	/* Who asked may have given up long ago. */
	if (is_given_up(fd)) {
		survey_destroy(survey);
		return STATUS_OK;
	}
	if (request.kick != 0)
		kick(survey, request.kick);
	ev_io_start(table->loop, &survey->io);
	return STATUS_OK;
}

void surveys_close(struct link *list)
{
	struct link *link, *after;

	list_foreach_safe(link, after, list)
		survey_destroy(container_of(link, struct survey, link));
}
