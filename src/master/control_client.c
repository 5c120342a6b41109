#include "config.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/list.h"
#include "base/panic.h"
#include "master/control_client.h"

#define MAGIC 0xc7711e27u

#define FIRST_BYTES 512

/* What one that is dismissed may still send, and the time that it has to read and to close. */
#define DISCARD_BYTES (1024u * 1024u)
#define LINGER_S 2.

struct control_client {
	uint32_t magic;
	struct control_client_config config;
	int fd;
	ev_io io;
	ev_timer turn; /* hands out the next line, in a turn of the loop of its own */
	ev_timer idle;

	/* at <= searched <= len <= size; len - at is at most max_line. */
	struct {
		char *bytes;     /* owned */
		size_t at;       /* before it, all is handed out */
		size_t searched; /* from at to here there is no newline */
		size_t len, size;
	} input;
	bool is_waiting; /* a line was handed out and is not answered */
	bool is_closing; /* nothing more is read; it ends when all is answered */

	bool is_dismissed;  /* what it sends is dropped */
	bool is_told;       /* it has its answer and the end of it */
	bool is_silent;     /* it sends no more */
	size_t n_discarded; /* bytes */

	struct {
		char *bytes; /* owned; NULL: all is taken */
		size_t at, len;
	} output;
};

static void end(struct control_client *client)
{
	client->config.on_end(client, client->config.arg);
}

static size_t n_unhandled(const struct control_client *client)
{
	return client->input.len - client->input.at;
}

static bool is_heard(const struct control_client *client)
{
	return !client->is_closing && n_unhandled(client) < client->config.max_line;
}

static void watch(struct control_client *client)
{
	struct ev_loop *loop = client->config.loop;
	int events = 0;

	if (client->is_dismissed ? !client->is_silent : is_heard(client))
		events |= EV_READ;
	if (client->output.bytes != NULL)
		events |= EV_WRITE;
	if (ev_is_active(&client->io) && (client->io.events & (EV_READ | EV_WRITE)) == events)
		return;
	ev_io_stop(loop, &client->io);
	ev_io_set(&client->io, client->fd, events);
	if (events != 0)
		ev_io_start(loop, &client->io);
}

/* False: the connection has failed. */
static bool flush(struct control_client *client)
{
	while (client->output.bytes != NULL) {
		ssize_t n = send(client->fd, client->output.bytes + client->output.at,
		    client->output.len - client->output.at, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN;
		client->output.at += (size_t)n;
		if (client->output.at == client->output.len) {
			free(client->output.bytes);
			client->output.bytes = NULL;
		}
	}
	return true;
}

/* Bytes of the next line, its newline included; 0: it has not come in full. */
static size_t find_line(struct control_client *client)
{
	size_t n = client->input.len - client->input.searched;
	const char *newline = NULL;

	if (n > 0)
		newline = memchr(client->input.bytes + client->input.searched, '\n', n);
	if (newline == NULL) {
		client->input.searched = client->input.len;
		return 0;
	}
	client->input.searched = (size_t)(newline - client->input.bytes);
	return client->input.searched + 1 - client->input.at;
}

/* The end follows the answer; a close would cut off one that still sends, with what it has read. */
static void tell_end(struct control_client *client)
{
	struct ev_loop *loop = client->config.loop;

	if (client->is_told)
		return;
	client->is_told = true;
	shutdown(client->fd, SHUT_WR);
	ev_timer_stop(loop, &client->idle);
	ev_timer_set(&client->idle, LINGER_S, 0.);
	ev_timer_start(loop, &client->idle);
}

/* True: it has ended. */
static bool see_off(struct control_client *client)
{
	if (client->output.bytes == NULL && !client->is_waiting)
		tell_end(client);
	if (!client->is_told || !client->is_silent)
		return false;
	end(client);
	return true;
}

/*
 * Take the client where its state says; it may have ended after this. A line is only
 * announced here and handed out by the loop: so its handler may answer at once and does not
 * come back into itself, and many lines that came together let others have their turn.
 */
static void settle(struct control_client *client)
{
	if (!flush(client)) {
		end(client);
		return;
	}
	if (client->is_dismissed) {
		if (!see_off(client))
			watch(client);
		return;
	}
	if (!client->is_waiting && client->output.bytes == NULL) {
		if (find_line(client) > 0 || n_unhandled(client) == client->config.max_line) {
			ev_timer_start(client->config.loop, &client->turn);
		} else if (client->is_closing) {
			end(client);
			return;
		}
	}
	watch(client);
}

static void on_turn(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct control_client *client = container_of(timer, struct control_client, turn);
	const char *line = client->input.bytes + client->input.at;
	size_t len;

	(void)revents;
	CHECK_MAGIC(client, MAGIC);
	len = find_line(client);
	client->is_waiting = true;
	ev_timer_stop(loop, &client->idle);
	if (len > 0) {
		client->input.at += len;
		client->input.searched = client->input.at;
	} else {
		client->is_dismissed = true;
		client->input.at = client->input.searched = client->input.len;
	}
	watch(client);
	/* It may have ended after this. */
	client->config.on_line(
	    client, len > 0 ? line : NULL, len > 0 ? len - 1 : 0, client->config.arg);
}

static void start_idle(struct control_client *client)
{
	ev_timer_stop(client->config.loop, &client->idle);
	ev_timer_set(&client->idle, client->config.idle_s, 0.);
	ev_timer_start(client->config.loop, &client->idle);
}

/* Make room behind the bytes that are not handled; false: no memory. */
static bool make_room(struct control_client *client)
{
	size_t size = client->input.size < FIRST_BYTES ? FIRST_BYTES : client->input.size * 2;
	char *bytes;

	if (client->input.at > 0) {
		memmove(client->input.bytes, client->input.bytes + client->input.at,
		    n_unhandled(client));
		client->input.len -= client->input.at;
		client->input.searched -= client->input.at;
		client->input.at = 0;
	}
	if (client->input.len < client->input.size)
		return true;
	if (size > client->config.max_line)
		size = client->config.max_line;
	bytes = realloc(client->input.bytes, size);
	if (bytes == NULL)
		return false;
	client->input.bytes = bytes;
	client->input.size = size;
	return true;
}

/* It sends no more, but does it still read? */
static bool is_half_closed(int fd)
{
	struct pollfd poll_fd = { .fd = fd };

	return poll(&poll_fd, 1, 0) <= 0 || (poll_fd.revents & (POLLHUP | POLLERR)) == 0;
}

/* False: it has sent too much, or failed. */
static bool discard(struct control_client *client)
{
	char bytes[16384];
	ssize_t n = recv(client->fd, bytes, sizeof(bytes), 0);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	client->is_silent = n == 0;
	client->n_discarded += (size_t)n;
	return client->n_discarded <= DISCARD_BYTES;
}

/* One read for each event. False: the client is gone, and leaves nothing to be done. */
static bool read_some(struct control_client *client)
{
	ssize_t n;

	if (client->is_dismissed)
		return discard(client);
	if (!is_heard(client))
		return true;
	if (!make_room(client))
		return false;
	n = recv(client->fd, client->input.bytes + client->input.len,
	    client->input.size - client->input.len, 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	client->input.len += (size_t)n;
	if (n > 0)
		return true;
	client->is_closing = true;
	return is_half_closed(client->fd) || (!client->is_waiting && find_line(client) > 0);
}

/*
 * The loop calls timers that are due before it looks at the client, when this process has stood
 * still: whether the next line has come by now.
 */
static bool is_in_time(struct control_client *client)
{
	size_t n_before;

	if (client->is_dismissed || !flush(client) || client->output.bytes != NULL)
		return false;
	do {
		if (find_line(client) > 0)
			return true;
		n_before = n_unhandled(client);
	} while (is_heard(client) && read_some(client) && n_unhandled(client) > n_before);
	return false;
}

static void on_idle(struct ev_loop *loop, ev_timer *timer, int revents)
{
	struct control_client *client = container_of(timer, struct control_client, idle);

	(void)loop;
	(void)revents;
	CHECK_MAGIC(client, MAGIC);
	if (is_in_time(client))
		settle(client);
	else
		end(client);
}

static void on_io(struct ev_loop *loop, ev_io *io, int revents)
{
	struct control_client *client = container_of(io, struct control_client, io);

	(void)loop;
	CHECK_MAGIC(client, MAGIC);
	if ((revents & EV_READ) && !read_some(client)) {
		end(client);
		return;
	}
	settle(client);
}

struct control_client *control_client_new(int fd, const struct control_client_config *config)
{
	struct control_client *client = calloc(1, sizeof(*client));

	if (client == NULL) {
		close(fd);
		return NULL;
	}
	client->magic = MAGIC;
	client->config = *config;
	client->fd = fd;
	ev_io_init(&client->io, on_io, fd, EV_READ);
	ev_timer_init(&client->turn, on_turn, 0., 0.);
	ev_init(&client->idle, on_idle);
	ev_io_start(config->loop, &client->io);
	start_idle(client);
	return client;
}

void control_client_answer(struct control_client *client, char *text, size_t len)
{
	CHECK_MAGIC(client, MAGIC);
	CHECK(client->is_waiting && client->output.bytes == NULL);
	if (text == NULL) {
		end(client);
		return;
	}
	client->is_waiting = false;
	client->output.bytes = text;
	client->output.len = len;
	client->output.at = 0;
	start_idle(client);
	settle(client);
}

void control_client_dismiss(struct control_client *client, char *text, size_t len)
{
	client->is_dismissed = true;
	client->is_waiting = true;
	control_client_answer(client, text, len);
}

void control_client_destroy(struct control_client **clientp)
{
	struct control_client *client = *clientp;
	struct ev_loop *loop = client->config.loop;

	CHECK_MAGIC(client, MAGIC);
	ev_io_stop(loop, &client->io);
	ev_timer_stop(loop, &client->turn);
	ev_timer_stop(loop, &client->idle);
	close(client->fd);
	free(client->input.bytes);
	free(client->output.bytes);
	client->magic = 0;
	free(client);
	*clientp = NULL;
}
