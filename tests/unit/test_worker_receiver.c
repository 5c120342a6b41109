/*
 * worker/receiver: a table that takes connections from a pair. The test is the
 * worker at the other end, with connections of the rig's table.
 */
#include "config.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "conn/moving.h"
#include "io/passing.h"
#include "worker/channel.h"
#include "worker/handover.h"
#include "worker/receiver.h"

#include "test_conn_rig.h"
#include "test_worker.h"

#define N_PEERS 10

static struct {
	struct link list;
	struct conn_table *table;
	struct listeners listeners;
	int near, far; /* the sender's end, -1: closed; and the receiver's own */
	bool is_deaf;  /* replies are not read */
	unsigned n_ended, n_restored;
	/* Of the last connection that left the rig's table. */
	uint8_t message[MOVING_SIZE];
	size_t len;
	int fd;
} there;

static bool move(struct rnl_conn *conn, void *arg)
{
	(void)arg;
	there.len = moving_pack(conn, there.message);
	there.fd = conn->fd;
	return there.len > 0;
}

/* From the connection's table: all that the receiver needs. */
static void pack(const struct peer *peer)
{
	rig.table->movable = 1;
	conn_schedule(peer->conn);
	rig_turn();
	rig.table->movable = 0;
	ck_assert_ptr_null(table_find(rig.table, peer->id));
}

static void send_packed(bool has_fd)
{
	ck_assert_int_eq(
	    passing_send(there.near, there.message, there.len, has_fd ? there.fd : -1),
	    (ssize_t)there.len);
}

static void send_on(const struct peer *peer)
{
	pack(peer);
	send_packed(true);
	close(there.fd);
}

/* HANDOVER_REFUSED, HANDOVER_TAKEN, or -1: none has come. */
static int reply(void)
{
	uint8_t byte;

	return recv(there.near, &byte, 1, 0) == 1 ? byte : -1;
}

/* Whoever dies in here has said before that the connection is its own. */
static int on_restore(struct rnl_conn *conn, const void *state, size_t len)
{
	(void)state;
	(void)len;
	ck_assert_ptr_eq(conn->table, there.table);
	if (there.near >= 0 && !there.is_deaf)
		ck_assert_int_eq(reply(), HANDOVER_TAKEN);
	there.n_restored++;
	return 0;
}

static void on_end(void *arg)
{
	ck_assert_ptr_eq(arg, &there);
	there.n_ended++;
}

static void set_up(void)
{
	int ends[2];
	char text[MOVING_OFFER_SIZE];

	rig_set_up();
	memset(&there, 0, sizeof(there));
	list_init(&there.list);
	there.listeners = (struct listeners){ .list = &rig.listener, .n = 1 };
	rig.module.save = rnl_save_nothing;
	rig.module.restore = on_restore;
	rig.table->move = move;
	ck_assert_int_eq(table_new(rig.loop, rig.pages, 2, 1, rig.pages[1].seats, 256u << 20, 0,
			     1, &there.table),
	    STATUS_OK);
	ck_assert_int_eq(channel_open(ends), STATUS_OK);
	ck_assert_int_eq(
	    receiver_new(&there.list, there.table, &there.listeners, ends[1], on_end, &there),
	    STATUS_OK);
	there.near = ends[0];
	there.far = ends[1];
	ck_assert_int_gt(recv(there.near, text, sizeof(text), 0), 1);
	ck_assert_int_eq(recv(there.near, text, sizeof(text), 0), 1);
}

static void tear_down(void)
{
	receivers_close(&there.list);
	ck_assert(list_is_empty(&there.list));
	if (there.near >= 0)
		close(there.near);
	table_abort(there.table, CLOSE_REASON_shutdown);
	RIG_UNTIL(there.table->n_conns == 0);
	ck_assert_uint_eq(counter_read(there.table->seat->counters.moved_in) -
			      counter_read(there.table->seat->counters.moved_out),
	    there.n_restored);
	ck_assert_uint_eq(counters_open(&there.table->seat->counters), 0);
	table_destroy(&there.table);
	rig.n_closed += (unsigned)rig_counter(moved_out) - there.n_restored;
	rig_tear_down();
}

START_TEST(a_connection_is_taken_before_it_is_served)
{
	struct peer peer;

	peer_open(&peer);
	peer_send_many(&peer, 1, 3, 50);
	RIG_UNTIL(rig.n_handled == 3);
	send_on(&peer);
	peer_send_many(&peer, 4, 3, 50);
	RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == 6));
	peer_expect(&peer, 1, 6, 50);
	ck_assert_uint_eq(there.n_restored, 1);
	peer_end(&peer);
}
END_TEST

START_TEST(a_message_without_its_descriptor_is_refused)
{
	struct peer peer;

	peer_open(&peer);
	pack(&peer);
	send_packed(false);
	RIG_UNTIL(reply() == HANDOVER_REFUSED);
	ck_assert_uint_eq(there.table->n_conns, 0);
	ck_assert_uint_eq(rig_n_logged("its descriptor did not come with it"), 1);
	/* The sender has it still. */
	ck_assert(!peer_has_end(&peer));
	send_packed(true);
	close(there.fd);
	RIG_UNTIL(there.n_restored == 1);
	peer_end(&peer);
}
END_TEST

/* _i 0: of another version, 1: the kernel watches no more descriptors. */
START_TEST(what_cannot_be_taken_is_refused)
{
	struct peer peer;

	peer_open(&peer);
	pack(&peer);
	if (_i == 0)
		there.message[0] ^= 1;
	else
		rig.is_watch_refused = true;
	send_packed(true);
	RIG_UNTIL(reply() == HANDOVER_REFUSED);
	rig.is_watch_refused = false;
	ck_assert_uint_eq(there.table->n_conns, 0);
	ck_assert_uint_eq(rig_n_logged("is not taken over: "), 1);
	/* No copy is kept. */
	ck_assert(!peer_has_end(&peer));
	close(there.fd);
	ck_assert(peer_has_end(&peer));
	peer_end(&peer);
}
END_TEST

static void send_some(struct peer peers[])
{
	for (int i = 0; i < N_PEERS; i++) {
		peer_open(&peers[i]);
		pack(&peers[i]);
		send_packed(true);
		close(there.fd);
	}
}

static void expect_served(struct peer peers[])
{
	for (int i = 0; i < N_PEERS; i++) {
		peer_send_many(&peers[i], 1, 3, 50);
		RIG_UNTIL((peer_read(&peers[i]), peer_n_frames(&peers[i]) == 3));
		peer_end(&peers[i]);
	}
}

/* _i 1: with replies unread, which the pair tells as an error, before what was sent. */
START_TEST(what_a_sender_leaves_is_taken)
{
	struct peer peers[N_PEERS], last;

	there.is_deaf = _i == 1;
	send_some(peers);
	RIG_UNTIL(there.n_restored == N_PEERS);
	peer_open(&last);
	send_on(&last);
	close(there.near);
	there.near = -1;
	ck_assert_uint_eq(there.n_restored, N_PEERS);
	RIG_UNTIL(there.n_ended == 1);
	ck_assert(list_is_empty(&there.list));
	ck_assert_uint_eq(there.n_restored, N_PEERS + 1);
	expect_served(peers);
	peer_end(&last);
}
END_TEST

/* Not one whose reply cannot be sent is taken: the sender has those that have none. */
START_TEST(without_a_reply_nothing_is_taken)
{
	const int size = 1;
	struct peer peers[50];
	unsigned n = 0, n_replies = 0;

	there.is_deaf = true;
	ck_assert_int_eq(setsockopt(there.far, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	while (there.n_ended == 0 && n < 50) {
		peer_open(&peers[n]);
		send_on(&peers[n++]);
		rig_turn();
	}
	ck_assert_uint_eq(there.n_ended, 1);
	while (reply() == HANDOVER_TAKEN)
		n_replies++;
	ck_assert_uint_gt(n_replies, 0);
	ck_assert_uint_eq(n_replies, n - 1);
	ck_assert_uint_eq(there.n_restored, n_replies);
	ck_assert_uint_eq(there.table->n_conns, n_replies);
	ck_assert_uint_eq(rig_n_logged("no reply can be sent"), 1);
	while (n-- > 0)
		peer_end(&peers[n]);
}
END_TEST

START_TEST(what_was_sent_is_taken_at_the_end)
{
	struct peer peers[N_PEERS];

	send_some(peers);
	receivers_close(&there.list);
	ck_assert_uint_eq(there.n_restored, N_PEERS);
	ck_assert_uint_eq(there.table->n_conns, N_PEERS);
	expect_served(peers);
}
END_TEST

TCase *receiver_tests(void)
{
	TCase *tcase = tcase_create("receiver");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_connection_is_taken_before_it_is_served);
	tcase_add_test(tcase, a_message_without_its_descriptor_is_refused);
	tcase_add_loop_test(tcase, what_cannot_be_taken_is_refused, 0, 2);
	tcase_add_loop_test(tcase, what_a_sender_leaves_is_taken, 0, 2);
	tcase_add_test(tcase, without_a_reply_nothing_is_taken);
	tcase_add_test(tcase, what_was_sent_is_taken_at_the_end);
	return tcase;
}
