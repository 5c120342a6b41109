/*
 * worker/handover: a table whose connections go over a pair, and come back. The
 * test is the worker at the other end.
 */
#include "config.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conn/moving.h"
#include "io/passing.h"
#include "worker/channel.h"
#include "worker/handover.h"

#include "test_conn_rig.h"
#include "test_worker.h"

#define N_PEERS 10

static struct {
	struct link list;
	struct listeners listeners;
	int near, far;          /* the ends of the newest handover; far -1: closed */
	struct rnl_conn *large; /* the one whose state is large; NULL: none */
	unsigned n_landed, n_moved, n_restored;
	uint8_t message[MOVING_SIZE];
} here;

static ptrdiff_t on_save(struct rnl_conn *conn, void *state, size_t size)
{
	if (conn != here.large)
		return 0;
	memset(state, 'x', size);
	return (ptrdiff_t)size;
}

static void on_moved(struct rnl_conn *conn)
{
	(void)conn;
	here.n_moved++;
}

static int on_restore(struct rnl_conn *conn, const void *state, size_t len)
{
	(void)conn;
	(void)state;
	ck_assert_uint_eq(len, 0);
	here.n_restored++;
	return 0;
}

static void on_landed(void *arg)
{
	ck_assert_ptr_eq(arg, &here);
	here.n_landed++;
}

static void begin(void)
{
	int ends[2];

	ck_assert_int_eq(channel_open(ends), STATUS_OK);
	ck_assert_int_eq(
	    handover_new(&here.list, rig.table, &here.listeners, ends[0], on_landed, &here),
	    STATUS_OK);
	here.near = ends[0];
	here.far = ends[1];
}

static void offer(void)
{
	char text[MOVING_OFFER_SIZE];

	ck_assert(moving_describe(&rig.listener, text));
	ck_assert_int_gt(send(here.far, text, strlen(text) + 1, MSG_NOSIGNAL), 0);
	ck_assert_int_eq(send(here.far, "", 1, MSG_NOSIGNAL), 1);
}

static void set_up(void)
{
	rig_set_up();
	memset(&here, 0, sizeof(here));
	list_init(&here.list);
	here.listeners = (struct listeners){ .list = &rig.listener, .n = 1 };
	rig.module.save = on_save;
	rig.module.restore = on_restore;
	rig.module.moved = on_moved;
	begin();
}

static void tear_down(void)
{
	handovers_close(&here.list);
	ck_assert(list_is_empty(&here.list));
	if (here.far >= 0)
		close(here.far);
	table_abort(rig.table, CLOSE_REASON_shutdown);
	RIG_UNTIL(rig.table->n_conns == 0);
	ck_assert_uint_eq(rig_counter(moved_in), here.n_restored);
	ck_assert_uint_eq(rig_counter(moved_out), here.n_moved);
	/* What is another's does not end here. */
	rig.n_closed += here.n_moved - here.n_restored;
	rig_tear_down();
}

static void open_peers(struct peer peers[], int n)
{
	for (int i = 0; i < n; i++)
		peer_open(&peers[i]);
}

static void end_peers(struct peer peers[], int n)
{
	for (int i = 0; i < n; i++)
		peer_end(&peers[i]);
}

/* The descriptor of the next one that comes; -1: none has. */
static int receive(void)
{
	int fd;
	ssize_t n = passing_receive(here.far, here.message, sizeof(here.message), &fd);

	ck_assert_int_eq(n > 0, fd >= 0);
	return fd;
}

static void await(int *fd)
{
	RIG_UNTIL((*fd = receive()) >= 0);
}

static void reply(enum handover_reply what)
{
	const uint8_t byte = (uint8_t)what;

	ck_assert_int_eq(send(here.far, &byte, 1, MSG_NOSIGNAL), 1);
}

static void leave(void)
{
	close(here.far);
	here.far = -1;
}

static void expect_echo(struct peer *peer)
{
	peer_send_many(peer, 1, 3, 50);
	RIG_UNTIL((peer_read(peer), peer_n_frames(peer) == 3));
	peer_expect(peer, 1, 3, 50);
}

START_TEST(nothing_goes_before_the_offer)
{
	struct peer peer;

	peer_open(&peer);
	conn_schedule(peer.conn);
	RIG_FOR_MS(30, receive() < 0);
	ck_assert_uint_eq(rig.table->n_conns, 1);
	peer_end(&peer);
}
END_TEST

START_TEST(a_connection_that_is_taken_is_gone)
{
	struct peer peer;
	int fd;

	peer_open(&peer);
	offer();
	await(&fd);
	ck_assert(handovers_are_flying(&here.list));
	ck_assert_uint_eq(rig.table->n_conns, 0);
	ck_assert_uint_eq(here.n_moved, 1);
	reply(HANDOVER_TAKEN);
	RIG_UNTIL(!handovers_are_flying(&here.list));
	ck_assert_uint_eq(here.n_landed, 1);
	ck_assert_uint_eq(here.n_restored, 0);
	/* No copy is kept. */
	close(fd);
	RIG_UNTIL(peer_has_end(&peer));
	peer_end(&peer);
}
END_TEST

START_TEST(a_connection_that_is_refused_is_served_here_and_offered_again)
{
	struct peer peer;
	int fd;

	peer_open(&peer);
	offer();
	await(&fd);
	close(fd);
	reply(HANDOVER_REFUSED);
	RIG_UNTIL(rig.table->n_conns == 1);
	ck_assert_ptr_nonnull(table_find(rig.table, peer.id));
	ck_assert_uint_eq(here.n_landed, 1);
	ck_assert_uint_eq(here.n_restored, 1);
	/* Not at once, which would keep both busy with it. */
	rig_turn();
	rig_turn();
	ck_assert_int_lt(receive(), 0);
	await(&fd);
	close(fd);
	reply(HANDOVER_REFUSED);
	RIG_UNTIL(rig.table->n_conns == 1);
	expect_echo(&peer);
	peer_end(&peer);
}
END_TEST

/* It does not fit into the pair's buffer, and does not keep the others. */
START_TEST(a_message_that_cannot_be_sent_keeps_only_its_connection)
{
	const int size = 1;
	struct peer large, small;
	int fd;

	ck_assert_int_eq(setsockopt(here.near, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	peer_open(&large);
	peer_open(&small);
	here.large = large.conn;
	offer();
	await(&fd);
	close(fd);
	reply(HANDOVER_TAKEN);
	RIG_UNTIL(!handovers_are_flying(&here.list));
	ck_assert_ptr_eq(table_find(rig.table, large.id), large.conn);
	expect_echo(&large);
	/* The next is sent as the first was. */
	peer_end(&small);
	peer_open(&small);
	await(&fd);
	close(fd);
	reply(HANDOVER_TAKEN);
	RIG_UNTIL(!handovers_are_flying(&here.list));
	peer_end(&small);
	peer_end(&large);
}
END_TEST

/* The other dies with replies and connections in the pair: who was taken is not served here. */
START_TEST(what_was_not_taken_comes_back)
{
	struct peer peers[N_PEERS];
	int fd;

	open_peers(peers, N_PEERS);
	offer();
	RIG_UNTIL(rig.table->n_conns == 0);
	for (int i = 0; i < 5; i++) {
		fd = receive();
		ck_assert_int_ge(fd, 0);
		close(fd);
		if (i < 3)
			reply(HANDOVER_TAKEN);
	}
	leave();
	RIG_UNTIL(!handovers_are_flying(&here.list));
	ck_assert_uint_eq(rig.table->n_conns, N_PEERS - 3);
	ck_assert_uint_eq(here.n_restored, N_PEERS - 3);
	for (int i = 0; i < N_PEERS; i++) {
		if (table_find(rig.table, peers[i].id) != NULL)
			expect_echo(&peers[i]);
		else
			RIG_UNTIL(peer_has_end(&peers[i]));
	}
	end_peers(peers, N_PEERS);
}
END_TEST

START_TEST(no_more_are_on_the_way_than_replies_fit)
{
	static struct peer peers[2 * HANDOVER_WINDOW];
	unsigned n = 0;
	int fd;

	rig.settings.max_connections = 2 * HANDOVER_WINDOW;
	open_peers(peers, 2 * HANDOVER_WINDOW);
	offer();
	RIG_UNTIL(rig.table->n_conns == HANDOVER_WINDOW);
	table_schedule_all(rig.table);
	RIG_FOR_MS(30, rig.table->n_conns == HANDOVER_WINDOW);
	while (n < 2 * HANDOVER_WINDOW) {
		await(&fd);
		close(fd);
		reply(HANDOVER_TAKEN);
		n++;
	}
	RIG_UNTIL(!handovers_are_flying(&here.list));
	ck_assert_uint_eq(rig.table->n_conns, 0);
	end_peers(peers, 2 * HANDOVER_WINDOW);
}
END_TEST

/* The next worker in the slot gets what the one before did not take. */
START_TEST(another_handover_goes_on)
{
	struct peer peers[N_PEERS];
	int fd;

	open_peers(peers, N_PEERS);
	offer();
	await(&fd);
	close(fd);
	leave();
	RIG_UNTIL(rig.table->n_conns == N_PEERS);
	begin();
	offer();
	for (int i = 0; i < N_PEERS; i++) {
		await(&fd);
		close(fd);
		reply(HANDOVER_TAKEN);
	}
	RIG_UNTIL(!handovers_are_flying(&here.list));
	ck_assert_uint_eq(rig.table->n_conns, 0);
	end_peers(peers, N_PEERS);
}
END_TEST

/* What is on the way to one does not go to the other before that one is gone. */
START_TEST(another_handover_waits_for_the_replies_of_the_first)
{
	struct peer peers[N_PEERS], late;
	int fd, first = here.far;

	open_peers(peers, N_PEERS);
	offer();
	RIG_UNTIL(rig.table->n_conns == 0);
	begin();
	offer();
	peer_open(&late);
	await(&fd);
	close(fd);
	reply(HANDOVER_TAKEN);
	RIG_FOR_MS(30, receive() < 0);
	ck_assert(handovers_are_flying(&here.list));
	close(first);
	for (int i = 0; i < N_PEERS; i++) {
		await(&fd);
		close(fd);
		reply(HANDOVER_TAKEN);
	}
	RIG_UNTIL(!handovers_are_flying(&here.list));
	ck_assert_uint_eq(here.n_restored, N_PEERS);
	end_peers(peers, N_PEERS);
	peer_end(&late);
}
END_TEST

/* The worker stops: nothing more goes, and what comes back is stopped, too. */
START_TEST(a_stop_waits_for_the_replies)
{
	struct peer peers[3];

	open_peers(peers, 2);
	offer();
	RIG_UNTIL(rig.table->n_conns == 0);
	handovers_end(&here.list);
	peer_open(&peers[2]);
	ck_assert(handovers_are_flying(&here.list));
	RIG_FOR_MS(30, rig.table->n_conns == 1);
	table_stop(rig.table);
	leave();
	for (int i = 0; i < 3; i++)
		RIG_UNTIL(peer_has_end(&peers[i]));
	end_peers(peers, 3);
	RIG_UNTIL(rig.table->n_conns == 0);
	ck_assert_uint_eq(rig_closed(shutdown), 3);
	ck_assert(!handovers_are_flying(&here.list));
}
END_TEST

/* Who closes without having been left has given all away. */
START_TEST(what_is_on_the_way_at_the_end_is_the_others)
{
	struct peer peer;
	int fd;

	peer_open(&peer);
	offer();
	RIG_UNTIL(rig.table->n_conns == 0);
	handovers_close(&here.list);
	ck_assert_uint_eq(rig.table->n_conns, 0);
	ck_assert(!peer_has_end(&peer));
	fd = receive();
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert(peer_has_end(&peer));
	peer_end(&peer);
}
END_TEST

TCase *handover_tests(void)
{
	TCase *tcase = tcase_create("handover");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, nothing_goes_before_the_offer);
	tcase_add_test(tcase, a_connection_that_is_taken_is_gone);
	tcase_add_test(tcase, a_connection_that_is_refused_is_served_here_and_offered_again);
	tcase_add_test(tcase, a_message_that_cannot_be_sent_keeps_only_its_connection);
	tcase_add_test(tcase, what_was_not_taken_comes_back);
	tcase_add_test(tcase, no_more_are_on_the_way_than_replies_fit);
	tcase_add_test(tcase, another_handover_goes_on);
	tcase_add_test(tcase, another_handover_waits_for_the_replies_of_the_first);
	tcase_add_test(tcase, a_stop_waits_for_the_replies);
	tcase_add_test(tcase, what_is_on_the_way_at_the_end_is_the_others);
	return tcase;
}
