#include "config.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/panic.h"

#include "lifecycle/guest.h"

#define GUEST_MAGIC 0x67756573u

/* A busy guest that failed stays away for so long, so that it does not fail all the time. */
#define AWAY_NS UINT64_C(20000000)

/* Larger than any reply. */
#define READ_SIZE 4096

static bool is_outstanding(const struct guest *guest)
{
	return guest->state == GUEST_CONNECTING || guest->state == GUEST_ASKING;
}

static void set_state(struct guest *guest, enum guest_state state, struct link *list)
{
	list_remove(&guest->link);
	list_append(list, &guest->link);
	guest->state = state;
}

static void hang_up(struct guest *guest)
{
	if (guest->fd >= 0)
		close(guest->fd);
	guest->fd = -1;
}

static void leave(struct crowd *crowd, struct guest *guest)
{
	hang_up(guest);
	list_remove(&guest->link);
	guest->magic = 0;
	free(guest);
	crowd->n_inside--;
}

static bool comes_back(const struct crowd *crowd, const struct guest *guest)
{
	return guest->is_busy && !crowd->is_closing;
}

static bool is_done(const struct crowd *crowd, const struct guest *guest)
{
	return !guest->is_busy && guest->n_replies == crowd->n_requests;
}

static uint16_t local_port(const struct guest *guest)
{
	struct sockaddr_storage local = { 0 };
	socklen_t len = sizeof(local);

	if (guest->fd < 0 || getsockname(guest->fd, (struct sockaddr *)&local, &len) < 0)
		return 0;
	if (local.ss_family == AF_INET6)
		return ntohs(((struct sockaddr_in6 *)(void *)&local)->sin6_port);
	return ntohs(((struct sockaddr_in *)(void *)&local)->sin_port);
}

static void fail(struct crowd *crowd, struct guest *guest, enum trouble trouble, int error)
{
	const struct failure_note note = {
		.trouble = trouble,
		.is_busy = guest->is_busy,
		.port = local_port(guest),
		.error = error,
		.begun_ns = guest->begun_ns,
		.n_replies = guest->n_replies,
	};

	ledger_add_trouble(crowd->ledger, crowd->now_ns, &note);
	if (!comes_back(crowd, guest)) {
		leave(crowd, guest);
		return;
	}
	hang_up(guest);
	guest->due_ns = crowd->now_ns + AWAY_NS;
	set_state(guest, GUEST_AWAY, &crowd->away);
}

static enum trouble connect_trouble(int error)
{
	return error == ECONNREFUSED ? TROUBLE_refused : TROUBLE_connect_failed;
}

static void begin(struct crowd *crowd, struct guest *guest)
{
	static const int on = 1;
	struct epoll_event event = {
		.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
		.data.ptr = guest,
	};

	crowd->ledger->connects++;
	/* Not the time of this turn: the handshake should not have in it what came before. */
	guest->begun_ns = guest->asked_ns = clock_ns();
	guest->n_replies = 0;
	set_state(guest, GUEST_CONNECTING, &crowd->waiting);
	guest->fd = socket(crowd->address->socket.any.sa_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (guest->fd < 0) {
		fail(crowd, guest, TROUBLE_connect_failed, errno);
		return;
	}
	setsockopt(guest->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (epoll_ctl(crowd->epoll_fd, EPOLL_CTL_ADD, guest->fd, &event) < 0)
		fail(crowd, guest, TROUBLE_connect_failed, errno);
	else if (connect(guest->fd, &crowd->address->socket.any, crowd->address->len) < 0 &&
		 errno != EINPROGRESS)
		fail(crowd, guest, connect_trouble(errno), errno);
}

/* The server has ended the connection between two requests, or after the last one. */
static void move(struct crowd *crowd, struct guest *guest)
{
	if (is_done(crowd, guest)) {
		crowd->ledger->sessions_done++;
		leave(crowd, guest);
		return;
	}
	crowd->ledger->moved++;
	if (!comes_back(crowd, guest)) {
		leave(crowd, guest);
		return;
	}
	hang_up(guest);
	begin(crowd, guest);
}

/* The server has ended the connection. error 0: in order, as far as it is concerned. */
static void on_end(struct crowd *crowd, struct guest *guest, int error)
{
	if (guest->state == GUEST_ASKING)
		fail(crowd, guest, error == 0 ? TROUBLE_lost_end : TROUBLE_lost_reset, error);
	else if (guest->n_replies == 0)
		fail(crowd, guest, TROUBLE_turned_away, error);
	else
		move(crowd, guest);
}

/*
 * Nothing of it lies in the socket's buffer, where a request has room: what the kernel does not
 * take whole is an error.
 */
static void ask(struct crowd *crowd, struct guest *guest)
{
	size_t size;
	const uint8_t *request =
	    protocol_request(crowd->protocol, guest->number, ++guest->serial, &size);
	ssize_t n = send(guest->fd, request, size, MSG_NOSIGNAL);

	guest->n_in = 0;
	if (n < 0 && (errno == EPIPE || errno == ECONNRESET)) {
		/* The connection had ended before: nothing was asked. */
		on_end(crowd, guest, errno);
		return;
	}
	/* The first request has the time that the connect began. */
	guest->asked_ns = guest->n_replies == 0 ? guest->begun_ns : crowd->now_ns;
	if (guest->state == GUEST_CONNECTING)
		guest->state = GUEST_ASKING;
	else
		set_state(guest, GUEST_ASKING, &crowd->waiting);
	if (n != (ssize_t)size)
		fail(crowd, guest, TROUBLE_lost_reset, n < 0 ? errno : EMSGSIZE);
}

/* False: it has failed. */
static bool on_connected(struct crowd *crowd, struct guest *guest)
{
	int error = 0;
	socklen_t len = sizeof(error);

	if (getsockopt(guest->fd, SOL_SOCKET, SO_ERROR, &error, &len) < 0)
		error = errno;
	if (error != 0) {
		fail(crowd, guest, connect_trouble(error), error);
		return false;
	}
	histogram_add(&crowd->ledger->connected, clock_ns() - guest->begun_ns);
	return true;
}

static void on_reply(struct crowd *crowd, struct guest *guest)
{
	struct ledger *ledger = crowd->ledger;

	ledger_add_reply(ledger, crowd->now_ns);
	histogram_add(guest->n_replies == 0 ? &ledger->answered : &ledger->replied,
	    crowd->now_ns - guest->asked_ns);
	guest->n_replies++;
	if (guest->is_busy && !guest->was_served)
		crowd->n_busy_served++;
	guest->was_served = true;
	guest->due_ns = crowd->now_ns + crowd->think_ns;
	set_state(guest, GUEST_RESTING, &crowd->resting);
}

/* Compare what came with what must come. False: it is something else. */
static bool take_bytes(struct crowd *crowd, struct guest *guest, const uint8_t *in, size_t len)
{
	const uint8_t *reply;
	size_t size;

	if (guest->state != GUEST_ASKING)
		return false;
	reply = protocol_reply(crowd->protocol, guest->number, guest->serial, &size);
	if (len > size - guest->n_in || memcmp(in, reply + guest->n_in, len) != 0)
		return false;
	guest->n_in += len;
	if (guest->n_in == size)
		on_reply(crowd, guest);
	return true;
}

/* Read all there is, the end too. False: the connection has ended. */
static bool receive(struct crowd *crowd, struct guest *guest)
{
	uint8_t in[READ_SIZE];
	ssize_t n;

	for (;;) {
		n = recv(guest->fd, in, sizeof(in), 0);
		if (n < 0 && errno == EAGAIN)
			return true;
		if (n <= 0) {
			on_end(crowd, guest, n == 0 ? 0 : errno);
			return false;
		}
		if (!take_bytes(crowd, guest, in, (size_t)n)) {
			fail(crowd, guest, TROUBLE_wrong, 0);
			return false;
		}
	}
}

/* What it does after a reply. */
static void go_on(struct crowd *crowd, struct guest *guest)
{
	if (is_done(crowd, guest)) {
		crowd->ledger->sessions_done++;
		leave(crowd, guest);
	} else if (guest->is_busy && crowd->is_closing) {
		leave(crowd, guest);
	} else if (!guest->is_busy || crowd->think_ns == 0) {
		ask(crowd, guest);
	}
}

void guest_enter(struct crowd *crowd, bool is_busy)
{
	struct guest *guest = must_alloc(1, sizeof(*guest));

	*guest = (struct guest){
		.magic = GUEST_MAGIC,
		.number = crowd->n_guests++,
		.fd = -1,
		.is_busy = is_busy,
	};
	list_init(&guest->link);
	crowd->n_inside++;
	crowd->ledger->sessions_begun += !is_busy;
	begin(crowd, guest);
}

void guest_on_event(struct crowd *crowd, struct guest *guest, uint32_t events)
{
	bool is_new;

	CHECK_MAGIC(guest, GUEST_MAGIC);
	is_new = guest->state == GUEST_CONNECTING;
	if (is_new && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) == 0)
		return;
	crowd->now_ns = clock_ns();
	if (is_new && !on_connected(crowd, guest))
		return;
	if (!receive(crowd, guest))
		return;
	if (is_new)
		ask(crowd, guest);
	else if (guest->state == GUEST_RESTING && (events & EPOLLIN) != 0)
		go_on(crowd, guest);
}

/* The guest whose time in a list is over first, and when that is; NULL: the list is empty. */
static struct guest *first(const struct crowd *crowd, struct link *list, uint64_t *due_ns)
{
	struct guest *guest = container_of(list->next, struct guest, link);

	if (list_is_empty(list))
		return NULL;
	CHECK_MAGIC(guest, GUEST_MAGIC);
	*due_ns = is_outstanding(guest) ? guest->asked_ns + crowd->limit_ns : guest->due_ns;
	return guest;
}

static void on_time(struct crowd *crowd, struct guest *guest)
{
	switch (guest->state) {
	case GUEST_AWAY:
		begin(crowd, guest);
		break;
	case GUEST_RESTING:
		ask(crowd, guest);
		break;
	case GUEST_CONNECTING:
	case GUEST_ASKING:
		fail(crowd, guest,
		    guest->n_replies == 0 ? TROUBLE_connect_timeout : TROUBLE_reply_timeout, 0);
		break;
	}
}

uint64_t crowd_keep_time(struct crowd *crowd)
{
	struct link *const lists[] = { &crowd->waiting, &crowd->resting, &crowd->away };
	uint64_t next_ns = UINT64_MAX, due_ns;

	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct guest *guest;

		while ((guest = first(crowd, lists[i], &due_ns)) != NULL &&
		       due_ns <= crowd->now_ns)
			on_time(crowd, guest);
		if (guest != NULL && due_ns < next_ns)
			next_ns = due_ns;
	}
	return next_ns;
}

static void send_away(struct crowd *crowd, struct link *list)
{
	while (!list_is_empty(list))
		leave(crowd, container_of(list->next, struct guest, link));
}

void crowd_close(struct crowd *crowd)
{
	crowd->is_closing = true;
	send_away(crowd, &crowd->resting);
	send_away(crowd, &crowd->away);
}
