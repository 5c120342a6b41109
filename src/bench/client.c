/*
 * When a request begins and ends: the clock is read once per wakeup of a client,
 * between reading its replies and sending its next requests. All replies of one
 * read end, and all requests of the writes after it begin, at that moment. So a
 * latency has in it the write of the request and the read of the reply, one
 * system call each, and no other client's work.
 */
#include "config.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counters.h"
#include "base/panic.h"
#include "wire/framing.h"

#include "bench/address.h"
#include "bench/client.h"
#include "bench/lane.h"
#include "bench/options.h"

#define CLIENT_MAGIC 0x636c6e74u

#define CLIENT_EVENTS (EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET)

size_t client_size(uint64_t n_sent)
{
	return sizeof(struct client) + n_sent * sizeof(uint64_t);
}

void client_init(struct client *client, uint32_t number)
{
	*client = (struct client){ .magic = CLIENT_MAGIC, .fd = -1, .number = number };
	list_init(&client->link);
}

/* Requests in flight, one that the kernel has only half of included. */
static uint64_t count_in_flight(const struct client *client)
{
	return client->next - client->oldest + (client->n_out > 0);
}

static uint64_t *sent_ns(const struct lane *lane, struct client *client, uint64_t serial)
{
	return &client->sent_ns[serial & lane->ring_mask];
}

static void set_busy(struct lane *lane, struct client *client, bool is_busy)
{
	if (client->is_busy == is_busy)
		return;
	client->is_busy = is_busy;
	if (is_busy)
		lane->n_busy++;
	else
		lane->n_busy--;
}

/* After anything that may have been its last in this phase. */
static void settle(struct lane *lane, struct client *client)
{
	if (client->oldest == client->limit)
		set_busy(lane, client, false);
}

static void give_up(struct lane *lane, struct client *client)
{
	client->state = CLIENT_GONE;
	lane->tally->clients_given_up++;
	if (client->limit != UINT64_MAX)
		lane->tally->requests_unsent += client->limit - client->next;
	client->limit = client->next;
	settle(lane, client);
}

static void close_connection(struct client *client)
{
	close(client->fd);
	client->fd = -1;
	client->state = CLIENT_CLOSED;
	client->is_leaving = false;
	client->has_replied = false;
	list_remove(&client->link);
}

/* How many requests are over their deadline; stamps do not fall with the serial. */
static uint64_t count_late(const struct lane *lane, struct client *client)
{
	uint64_t in_flight = count_in_flight(client), n = 0;

	while (n < in_flight && lane->now_ns - *sent_ns(lane, client, client->oldest + n) >=
				    lane->options->deadline_ns)
		n++;
	return n;
}

/* The connection is lost, and with it what was in flight. */
static void lose(struct lane *lane, struct client *client, enum failure failure)
{
	struct tally *tally = lane->tally;
	uint64_t in_flight = count_in_flight(client);
	uint64_t n_own = in_flight;
	bool may_go_on = client->has_replied;

	if (failure == FAILURE_TIMEOUT)
		n_own = count_late(lane, client);
	else if (failure == FAILURE_WRONG)
		n_own = in_flight > 0;
	tally->failed[failure] += n_own;
	tally->failed[FAILURE_ABORTED] += in_flight - n_own;
	tally->lost[failure]++;
	tally->requests_sent += client->n_out > 0;
	client->next = client->oldest += in_flight;
	client->n_in = client->n_out = 0;
	close_connection(client);
	if (client->oldest == client->limit)
		settle(lane, client);
	else if (may_go_on)
		list_append(&lane->waiting, &client->link);
	else
		give_up(lane, client);
}

static enum connect_failure connect_failure_of(int error)
{
	switch (error) {
	case ECONNREFUSED:
		return CONNECT_REFUSED;
	case ETIMEDOUT:
		return CONNECT_TIMEOUT;
	case EADDRNOTAVAIL:
		return CONNECT_NO_PORT;
	case EMFILE:
	case ENFILE:
		return CONNECT_NO_DESCRIPTOR;
	default:
		return CONNECT_OTHER;
	}
}

static void fail_connect(struct lane *lane, struct client *client, int error)
{
	lane->tally->connects_failed[connect_failure_of(error)]++;
	if (lane->report->connect_errno == 0)
		lane->report->connect_errno = error;
	give_up(lane, client);
}

/* A socket on its way to the server, in epoll; -1 with errno. */
static int open_socket(const struct lane *lane, struct client *client, uint32_t source)
{
	static const int on = 1;
	struct epoll_event event = { .events = CLIENT_EVENTS, .data.ptr = client };
	int family = lane->address->socket.any.sa_family;
	int fd = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int error;

	if (fd < 0)
		return -1;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (address_connect(lane->address, fd, source) == STATUS_OK &&
	    epoll_ctl(lane->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
		return fd;
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* From the client's own source address, or the next one that has ports left. */
static int open_socket_somewhere(struct lane *lane, struct client *client)
{
	uint32_t n_sources = lane->address->n_sources;
	uint32_t own = client->number / lane->address->n_per_source;
	uint32_t n_tries;
	int fd;

	for (n_tries = 0; n_tries < n_sources; n_tries++) {
		fd = open_socket(lane, client, (own + lane->n_sources_full) % n_sources);
		if (fd >= 0 || errno != EADDRNOTAVAIL)
			return fd;
		if (n_tries + 1 < n_sources)
			lane->n_sources_full++;
	}
	return -1;
}

void client_connect(struct lane *lane, struct client *client)
{
	CHECK_MAGIC(client, CLIENT_MAGIC);
	lane->tally->connects_tried++;
	client->since_ns = clock_ns();
	client->fd = open_socket_somewhere(lane, client);
	if (client->fd < 0) {
		fail_connect(lane, client, errno);
		return;
	}
	client->state = CLIENT_CONNECTING;
	lane->n_connecting++;
}

static void stop_connecting(struct lane *lane, struct client *client, int error)
{
	lane->n_connecting--;
	close_connection(client);
	fail_connect(lane, client, error);
}

/* The connect is over, one way or the other. */
static void on_connected(struct lane *lane, struct client *client)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(client->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error != 0) {
		stop_connecting(lane, client, error);
		return;
	}
	lane->n_connecting--;
	client->state = CLIENT_OPEN;
	histogram_add(&lane->tally->connect_latency, clock_ns() - client->since_ns);
	counter_add(lane->tally->connects_opened, 1);
	settle(lane, client);
}

/* Put the first wrong reply into words. */
static void note_wrong(
    struct lane *lane, const struct client *client, const uint8_t *in, size_t len, size_t at)
{
	char *note = lane->report->wrong_note;
	int n;

	if (note[0] != '\0')
		return;
	if (count_in_flight(client) == 0)
		n = snprintf(note, LANE_NOTE_SIZE,
		    "client %u: %zu bytes that were not asked for:", client->number, len);
	else
		n = snprintf(note, LANE_NOTE_SIZE,
		    "client %u, request %llu: wrong from byte %zu of the reply on:",
		    client->number, (unsigned long long)client->oldest, at);
	while (len-- > 0 && n + 4 < LANE_NOTE_SIZE)
		n += snprintf(note + n, LANE_NOTE_SIZE - (size_t)n, " %02x", *in++);
}

static void take_reply(struct lane *lane, struct client *client)
{
	uint64_t serial = client->oldest++;

	client->n_in = 0;
	client->has_replied = true;
	histogram_add(&lane->tally->latency, lane->now_ns - *sent_ns(lane, client, serial));
	counter_add(lane->tally->replies, 1);
	if (protocol_reconnects_after(&lane->protocol, client->number, serial))
		client->is_leaving = true;
}

static size_t count_equal(const uint8_t *a, const uint8_t *b, size_t len)
{
	size_t n = 0;

	while (n < len && a[n] == b[n])
		n++;
	return n;
}

/* Compare what came with what must come. False: it is something else. */
static bool take_bytes(struct lane *lane, struct client *client, const uint8_t *in, size_t len)
{
	const uint8_t *reply;
	size_t size, n;

	while (len > 0) {
		if (count_in_flight(client) == 0) {
			note_wrong(lane, client, in, len, 0);
			return false;
		}
		reply = protocol_reply(&lane->protocol, client->number, client->oldest, &size);
		n = size - client->n_in < len ? size - client->n_in : len;
		if (memcmp(in, reply + client->n_in, n) != 0) {
			n = count_equal(in, reply + client->n_in, n);
			note_wrong(lane, client, in + n, len - n, client->n_in + n);
			return false;
		}
		in += n;
		len -= n;
		client->n_in += (uint32_t)n;
		if (client->n_in < size)
			return true;
		/* A server may begin to answer half a request, but not have answered it. */
		if (client->oldest == client->next) {
			note_wrong(lane, client, in, len, size);
			return false;
		}
		take_reply(lane, client);
	}
	return true;
}

/*
 * Read what there is. At the end of the stream a short read is not the last: the edge may have
 * told of both. False: the connection is lost.
 */
static bool receive(struct lane *lane, struct client *client, bool is_ending)
{
	ssize_t n;

	do {
		n = recv(client->fd, lane->in, LANE_SCRATCH, 0);
		if (n < 0 && errno == EAGAIN)
			return true;
		lane->now_ns = clock_ns();
		if (n <= 0) {
			lose(lane, client, n == 0 ? FAILURE_CLOSED : FAILURE_RESET);
			return false;
		}
		lane->tally->bytes_in += (uint64_t)n;
		if (!take_bytes(lane, client, lane->in, (size_t)n)) {
			lose(lane, client, FAILURE_WRONG);
			return false;
		}
	} while ((size_t)n == LANE_SCRATCH || is_ending);
	return true;
}

/*
 * The bytes of up to n requests from `next` on, less those that the kernel has already. One
 * request is sent from where it was made, several are gathered in the lane's scratch buffer as
 * far as they fit. *n becomes how many they are.
 */
static const uint8_t *gather(struct lane *lane, struct client *client, uint64_t *n, size_t *len)
{
	size_t size, skip = client->n_out;
	const uint8_t *frame =
	    protocol_request(&lane->protocol, client->number, client->next, &size);
	uint64_t i = 0;

	*len = 0;
	if (*n == 1 || size - skip >= LANE_SCRATCH) {
		*n = 1;
		*len = size - skip;
		return frame + skip;
	}
	while (i < *n && size - skip <= LANE_SCRATCH - *len) {
		memcpy(lane->out + *len, frame + skip, size - skip);
		*len += size - skip;
		skip = 0;
		if (++i < *n)
			frame = protocol_request(
			    &lane->protocol, client->number, client->next + i, &size);
	}
	*n = i;
	return lane->out;
}

/* Account for bytes that the kernel took; they began with the rest of request `next`. */
static void count_sent(struct lane *lane, struct client *client, size_t taken)
{
	size_t rest;

	lane->tally->bytes_out += taken;
	while (taken > 0) {
		rest = protocol_size(&lane->protocol, client->number, client->next) -
		       client->n_out;
		if (client->n_out == 0)
			*sent_ns(lane, client, client->next) = lane->now_ns;
		if (taken < rest) {
			client->n_out += (uint32_t)taken;
			return;
		}
		taken -= rest;
		client->n_out = 0;
		client->next++;
		lane->tally->requests_sent++;
	}
}

/*
 * How many requests may be sent now, one whose first bytes are sent included. A client that
 * leaves finishes that one only. One that thinks sends its requests as a burst: the next when
 * it has all replies to the last.
 */
static uint64_t count_sendable(const struct lane *lane, const struct client *client)
{
	uint64_t n = lane->options->n_in_flight - (client->next - client->oldest);

	if (client->is_leaving)
		return client->n_out > 0;
	if (lane->options->think_ns > 0 && client->next > client->oldest && client->n_out == 0)
		return 0;
	return n < client->limit - client->next ? n : client->limit - client->next;
}

/* Send all that may be in flight now, in one write as a rule. */
static void send_requests(struct lane *lane, struct client *client)
{
	const uint8_t *bytes;
	uint64_t n;
	size_t len;
	ssize_t taken;

	while ((n = count_sendable(lane, client)) > 0) {
		bytes = gather(lane, client, &n, &len);
		taken = send(client->fd, bytes, len, MSG_NOSIGNAL);
		if (taken < 0) {
			if (errno != EAGAIN)
				lose(lane, client, FAILURE_RESET);
			return;
		}
		count_sent(lane, client, (size_t)taken);
		if ((size_t)taken < len)
			return;
	}
}

/* Go on with what there is to do on an open connection. */
static void go_on(struct lane *lane, struct client *client)
{
	if (client->is_leaving && count_in_flight(client) == 0 &&
	    client->next < client->limit) {
		close_connection(client);
		list_append(&lane->waiting, &client->link);
		return;
	}
	send_requests(lane, client);
}

/* The next burst is sent after a time to think. */
static bool has_to_think(const struct lane *lane, const struct client *client)
{
	return lane->options->think_ns > 0 && count_in_flight(client) == 0 &&
	       client->next < client->limit;
}

void client_on_event(struct lane *lane, struct client *client, uint32_t events)
{
	uint64_t oldest = client->oldest;

	CHECK_MAGIC(client, CLIENT_MAGIC);
	if (client->state == CLIENT_CONNECTING)
		on_connected(lane, client);
	if (client->state != CLIENT_OPEN)
		return;
	if ((events & ~(uint32_t)EPOLLOUT) == 0)
		lane->now_ns = clock_ns();
	else if (!receive(lane, client, (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0))
		return;
	settle(lane, client);
	if (!client->is_busy || list_is_linked(&client->link))
		return;
	if (client->oldest != oldest && has_to_think(lane, client)) {
		client->since_ns = lane->now_ns + lane->options->think_ns;
		list_append(&lane->thinking, &client->link);
		return;
	}
	go_on(lane, client);
}

void client_on_thought(struct lane *lane, struct client *client)
{
	CHECK_MAGIC(client, CLIENT_MAGIC);
	lane->now_ns = clock_ns();
	go_on(lane, client);
}

void client_begin_connect(struct lane *lane, struct client *client)
{
	set_busy(lane, client, true);
	list_append(&lane->waiting, &client->link);
}

void client_begin_requests(struct lane *lane, struct client *client, uint64_t n_requests)
{
	if (n_requests > UINT64_MAX - client->next)
		n_requests = UINT64_MAX - client->next;
	client->limit = client->next + n_requests;
	if (client->state == CLIENT_GONE) {
		give_up(lane, client);
		return;
	}
	set_busy(lane, client, true);
	if (client->state == CLIENT_CLOSED) {
		list_append(&lane->waiting, &client->link);
	} else {
		lane->now_ns = clock_ns();
		go_on(lane, client);
	}
}

void client_check_deadline(struct lane *lane, struct client *client)
{
	CHECK_MAGIC(client, CLIENT_MAGIC);
	if (client->state == CLIENT_CONNECTING &&
	    lane->now_ns - client->since_ns >= lane->options->deadline_ns)
		stop_connecting(lane, client, ETIMEDOUT);
	else if (client->state == CLIENT_OPEN && count_late(lane, client) > 0)
		lose(lane, client, FAILURE_TIMEOUT);
}

void client_finish(struct lane *lane, struct client *client)
{
	if (!client->is_busy)
		return;
	client->limit = client->next + (client->n_out > 0);
	list_remove(&client->link);
	settle(lane, client);
}

void client_cut(struct lane *lane, struct client *client)
{
	lane->tally->requests_cut += count_in_flight(client);
	lane->tally->requests_sent += client->n_out > 0;
	set_busy(lane, client, false);
}

void client_deinit(struct client *client)
{
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
	client->magic = 0;
}
