/*
 * Accepting: the limit of connections, and what happens when descriptors or the
 * kernel's watches are used up.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conn/accept.h"

#include "test_conn.h"
#include "test_conn_rig.h"

static struct acceptors *acceptors;
static int listening_fd;
static struct sockaddr_in address;

static void listen_set_up(void)
{
	socklen_t len = sizeof(address);

	rig_set_up();
	address = (struct sockaddr_in){ .sin_family = AF_INET };
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	listening_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(bind(listening_fd, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(listen(listening_fd, 500), 0);
	ck_assert_int_eq(getsockname(listening_fd, (struct sockaddr *)&address, &len), 0);
	ck_assert_int_eq(acceptors_new(rig.table, &acceptors), STATUS_OK);
	ck_assert_int_eq(acceptors_add(acceptors, &rig.listener, listening_fd, 0), STATUS_OK);
}

static void listen_tear_down(void)
{
	if (acceptors != NULL)
		acceptors_destroy(&acceptors);
	close(listening_fd);
	rig_tear_down();
}

/* The kernel connects it at once; whether it is accepted is another matter. */
static struct peer *dial(struct peer *peer)
{
	*peer = (struct peer){ .fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	ck_assert_int_ge(peer->fd, 0);
	ck_assert_int_eq(connect(peer->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(fcntl(peer->fd, F_SETFL, O_NONBLOCK), 0);
	return peer;
}

/* Whether a request is answered; false: the connection ends instead. */
static bool is_served(struct peer *peer)
{
	static const uint8_t request[HEAD] = { 0 };

	send(peer->fd, request, sizeof(request), MSG_NOSIGNAL);
	RIG_UNTIL(peer_has_end(peer) || peer->n_got == HEAD);
	return peer->n_got == HEAD;
}

START_TEST(each_connection_has_its_peers_address)
{
	struct sockaddr_in mine;
	socklen_t len = sizeof(mine);
	struct peer peer;

	ck_assert(is_served(dial(&peer)));
	ck_assert_int_eq(getsockname(peer.fd, (struct sockaddr *)&mine, &len), 0);
	peer.conn = table_find(rig.table, rig.pages[0].last_serial);
	ck_assert_uint_eq(peer.conn->peer.port, ntohs(mine.sin_port));
	peer_end(&peer);
}
END_TEST

/* _i: all connections are this worker's; some are another's. */
START_TEST(over_the_limit_a_connection_is_closed_at_once)
{
	struct peer peers[3], over;

	rig.listener.max_connections = _i == 0 ? 3 : 103;
	rig.pages[1].seats[0].n_open[0] = _i == 0 ? 0 : 100;
	for (int i = 0; i < 3; i++)
		ck_assert(is_served(dial(&peers[i])));
	for (int i = 0; i < 10; i++) {
		ck_assert(!is_served(dial(&over)));
		peer_end(&over);
	}
	ck_assert_uint_eq(rig_counter(rejected), 10);
	ck_assert_uint_eq(rig_counter(accepted), 3);
	ck_assert_uint_eq(rig_n_logged("max-connections is reached"), 1);
	peer_end(&peers[1]);
	RIG_UNTIL(rig.table->n_conns == 2);
	ck_assert(is_served(dial(&over)));
	peer_end(&over);
	peer_end(&peers[0]);
	peer_end(&peers[2]);
}
END_TEST

/* The reserve is given up for a moment, and kept. */
START_TEST(without_descriptors_a_connection_is_closed_at_once)
{
	struct peer peers[4];

	for (int i = 0; i < 4; i++) {
		rig.n_accepts_refused = i < 2;
		ck_assert_int_eq(is_served(dial(&peers[i])), i >= 2);
	}
	ck_assert_uint_eq(rig_counter(rejected), 2);
	ck_assert_uint_eq(rig_counter(accepted), 2);
	ck_assert_uint_eq(rig_n_logged(strerror(EMFILE)), 1);
	for (int i = 0; i < 4; i++)
		peer_end(&peers[i]);
}
END_TEST

/* The worker may not spin: 1.5 million wakeups a second otherwise. */
START_TEST(when_the_reserve_does_not_help_accepting_rests_and_goes_on)
{
	unsigned n_turns = ev_iteration(rig.loop);
	struct peer peer;

	dial(&peer);
	rig.n_accepts_refused = UINT_MAX;
	for (uint64_t end_ms = clock_ms() + 350; clock_ms() < end_ms;)
		ev_run(rig.loop, EVRUN_ONCE);
	ck_assert_uint_lt(ev_iteration(rig.loop) - n_turns, 20);
	ck_assert_uint_eq(rig_counter(accepted) + rig_counter(rejected), 0);
	ck_assert(!peer_has_end(&peer));
	rig.n_accepts_refused = 0;
	ck_assert(is_served(&peer));
	peer_end(&peer);
}
END_TEST

START_TEST(a_new_connection_that_cannot_be_watched_is_closed_at_once)
{
	struct peer peer;

	rig_turn();
	rig.is_watch_refused = true;
	ck_assert(!is_served(dial(&peer)));
	rig.is_watch_refused = false;
	ck_assert_uint_eq(rig_counter(rejected), 1);
	ck_assert_uint_eq(rig_counter(accepted), 0);
	ck_assert_uint_eq(rig.n_opened, 0);
	ck_assert_uint_eq(rig_n_logged(strerror(ENOSPC)), 1);
	peer_end(&peer);
	ck_assert(is_served(dial(&peer)));
	peer_end(&peer);
}
END_TEST

START_TEST(a_listening_socket_that_cannot_be_watched_is_tried_again)
{
	struct peer peer;

	/* As when it is adopted from another worker. */
	acceptors_drop(acceptors, 0);
	rig_turn();
	rig.is_watch_refused = true;
	ck_assert_int_eq(acceptors_add(acceptors, &rig.listener, listening_fd, 0), STATUS_OK);
	dial(&peer);
	RIG_FOR_MS(250, rig_counter(accepted) == 0);
	rig.is_watch_refused = false;
	ck_assert(is_served(&peer));
	peer_end(&peer);
}
END_TEST

/* The socket is the master's: who is queued on it waits for the next worker. */
START_TEST(after_the_end_of_accepting_the_queue_waits)
{
	struct peer peer;

	acceptors_destroy(&acceptors);
	dial(&peer);
	RIG_FOR_MS(50, !peer_has_end(&peer));
	ck_assert_uint_eq(rig_counter(accepted), 0);
	ck_assert_int_eq(acceptors_new(rig.table, &acceptors), STATUS_OK);
	ck_assert_int_eq(acceptors_add(acceptors, &rig.listener, listening_fd, 0), STATUS_OK);
	ck_assert(is_served(&peer));
	peer_end(&peer);
}
END_TEST

TCase *accepting_tests(void)
{
	TCase *tcase = tcase_create("accepting");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, listen_set_up, listen_tear_down);
	tcase_add_test(tcase, each_connection_has_its_peers_address);
	tcase_add_loop_test(tcase, over_the_limit_a_connection_is_closed_at_once, 0, 2);
	tcase_add_test(tcase, without_descriptors_a_connection_is_closed_at_once);
	tcase_add_test(tcase, when_the_reserve_does_not_help_accepting_rests_and_goes_on);
	tcase_add_test(tcase, a_new_connection_that_cannot_be_watched_is_closed_at_once);
	tcase_add_test(tcase, a_listening_socket_that_cannot_be_watched_is_tried_again);
	tcase_add_test(tcase, after_the_end_of_accepting_the_queue_waits);
	return tcase;
}
