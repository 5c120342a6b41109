/*
 * Closing flushes, tells the peer the end, and waits for its own; a peer that is
 * the first to end gets what it is owed.
 */
#include "config.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one;

#define LEN 1000

/*
 * A queue that is longer than what the kernel takes. Returns its frames, those of the kernel
 * included.
 */
static unsigned make_backlog(struct peer *peer)
{
	unsigned n;

	rig_limit_queue(10000, 8 << 20);
	n = send_until_blocked(peer->conn, 0, LEN);
	for (int i = 0; i < 100; i++)
		ck_assert_int_eq(send_filled(peer->conn, n++, LEN), RNL_OK);
	return n;
}

/* With unread input, for which a plain close(2) would reset the connection. */
START_TEST(closing_sends_all_that_is_queued_then_eof)
{
	unsigned n;

	peer_open_tcp(&one);
	n = make_backlog(&one);
	peer_send_many(&one, 0, 10, 100);
	conn_close(one.conn, CLOSE_REASON_handler);
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_int_eq(one.end, 0);
	peer_expect(&one, 0, n, LEN);
	ck_assert_uint_eq(rig_closed(handler), 1);
	ck_assert_uint_eq(rig.n_handled, 0);
	peer_end(&one);
}
END_TEST

START_TEST(a_closing_connection_serves_no_more_requests)
{
	peer_open_tcp(&one);
	make_backlog(&one);
	conn_close(one.conn, CLOSE_REASON_handler);
	rig_turn();
	peer_send(&one, 0, 10);
	RIG_FOR_MS(50, rig.n_handled == 0);
	peer_end(&one);
}
END_TEST

START_TEST(lingering_ends_with_the_peers_end)
{
	uint64_t start_ms;

	rig.settings.linger_timeout_ms = 10000;
	peer_open_tcp(&one);
	ck_assert_int_eq(send_filled(one.conn, 0, LEN), RNL_OK);
	conn_close(one.conn, CLOSE_REASON_handler);
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_uint_eq(rig.n_closed, 1);
	ck_assert_uint_eq(rig.table->n_conns, 1);
	start_ms = clock_ms();
	close(one.fd);
	one.fd = -1;
	RIG_UNTIL(rig.table->n_conns == 0);
	ck_assert_uint_lt(clock_ms() - start_ms, 5000);
	peer_end(&one);
}
END_TEST

/* However busily the peer goes on sending. */
START_TEST(lingering_ends_at_its_timeout)
{
	uint64_t start_ms;

	rig.settings.linger_timeout_ms = 200;
	peer_open_tcp(&one);
	start_ms = rig.table->now_ms;
	conn_close(one.conn, CLOSE_REASON_handler);
	while (rig.table->n_conns > 0) {
		send(one.fd, "more", 4, MSG_NOSIGNAL);
		rig_wait();
		ck_assert_uint_lt(clock_ms() - start_ms, DEADLINE_MS);
	}
	ck_assert_uint_ge(clock_ms() - start_ms, 200);
	peer_end(&one);
}
END_TEST

START_TEST(without_linger_timeout_a_connection_is_closed_when_all_is_written)
{
	rig.settings.linger_timeout_ms = 0;
	peer_open_tcp(&one);
	ck_assert_int_eq(send_filled(one.conn, 0, LEN), RNL_OK);
	conn_close(one.conn, CLOSE_REASON_handler);
	rig_turn();
	ck_assert_uint_eq(rig.table->n_conns, 0);
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 0, 1, LEN);
	peer_end(&one);
}
END_TEST

/* The start of a large frame is not kept, and what follows it is not either. */
START_TEST(a_closing_connection_holds_no_input)
{
	static uint8_t bytes[HEAD + 30000] = { [5] = 1 };
	static const uint8_t more[1 << 20];

	rig.settings.max_message = 1 << 16;
	peer_open_tcp(&one);
	peer_write(&one, bytes, sizeof(bytes));
	RIG_UNTIL(input_view(&one.conn->in).len == sizeof(bytes));
	conn_close(one.conn, CLOSE_REASON_handler);
	rig_turn();
	ck_assert_int_eq(one.conn->state, CONN_LINGERING);
	ck_assert(input_is_empty(&one.conn->in));
	peer_write(&one, more, sizeof(more));
	ck_assert_int_eq(one.conn->state, CONN_LINGERING);
	ck_assert(input_is_empty(&one.conn->in));
	peer_end(&one);
}
END_TEST

/* Longer than what the kernel and the queue take, so the replies wait for the peer to read. */
START_TEST(a_half_closed_peer_gets_every_reply_then_eof)
{
	rig_limit_queue(10, 1 << 20);
	peer_open_tcp(&one);
	for (uint32_t id = 0; id < 1000; id++) {
		peer_send(&one, id, LEN);
		peer_read_some(&one, LEN / 2);
	}
	ck_assert_int_eq(shutdown(one.fd, SHUT_WR), 0);
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_int_eq(one.end, 0);
	peer_expect(&one, 0, 1000, LEN);
	ck_assert_uint_eq(rig_closed(peer), 1);
	ck_assert_uint_eq(rig_counter(sends_refused), 0);
	peer_end(&one);
}
END_TEST

START_TEST(a_peer_that_ends_within_a_frame_gets_the_replies_to_those_before)
{
	static const uint8_t start[] = { 0, 0, 0, 9, 0, 0, 0, 5, 'c', 'u' };

	peer_open_tcp(&one);
	peer_send_many(&one, 0, 3, LEN);
	peer_write(&one, start, sizeof(start));
	ck_assert_int_eq(shutdown(one.fd, SHUT_WR), 0);
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_int_eq(one.end, 0);
	peer_expect(&one, 0, 3, LEN);
	ck_assert_uint_eq(rig_closed(peer), 1);
	peer_end(&one);
}
END_TEST

/* _i: while it is open; paused; flushing its last output. */
START_TEST(a_reset_with_output_queued_ends_the_connection)
{
	peer_open_tcp(&one);
	make_backlog(&one);
	if (_i == 1)
		send_until_refused(one.conn, 0, LEN);
	if (_i == 2)
		conn_close(one.conn, CLOSE_REASON_handler);
	rig_turn();
	ck_assert(one.conn->is_paused == (_i == 1));
	peer_reset(&one);
	RIG_UNTIL(rig.table->n_conns == 0);
	ck_assert_uint_eq(rig.n_closed, 1);
	ck_assert_uint_eq(rig_closed(peer), 1);
	peer_end(&one);
}
END_TEST

START_TEST(a_reset_of_an_idle_connection_ends_it)
{
	peer_open_tcp(&one);
	rig_turn();
	peer_reset(&one);
	RIG_UNTIL(rig.table->n_conns == 0);
	ck_assert_uint_eq(rig_closed(peer), 1);
	peer_end(&one);
}
END_TEST

START_TEST(an_abort_drops_what_is_queued)
{
	unsigned n;

	peer_open_tcp(&one);
	n = make_backlog(&one);
	conn_abort(one.conn, CLOSE_REASON_handler);
	rig_turn();
	ck_assert_uint_eq(rig.table->n_conns, 0);
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_uint_lt(peer_n_frames(&one), n);
	ck_assert_uint_eq(rig_closed(handler), 1);
	peer_end(&one);
}
END_TEST

/* A connection that closes may still be aborted, and keeps the reason that was the first. */
START_TEST(an_abort_ends_a_close)
{
	peer_open_tcp(&one);
	ck_assert_int_eq(send_filled(one.conn, 0, LEN), RNL_OK);
	conn_close(one.conn, CLOSE_REASON_idle);
	rig_turn();
	ck_assert_int_eq(one.conn->state, CONN_LINGERING);
	conn_close(one.conn, CLOSE_REASON_handler);
	ck_assert_int_eq(one.conn->state, CONN_LINGERING);
	conn_abort(one.conn, CLOSE_REASON_handler);
	rig_turn();
	ck_assert_uint_eq(rig.table->n_conns, 0);
	ck_assert_uint_eq(rig_closed(idle), 1);
	ck_assert_uint_eq(rig.n_closed, 1);
	peer_end(&one);
}
END_TEST

static void count_call(void *arg)
{
	++*(int *)arg;
}

START_TEST(stopping_answers_what_has_come_then_closes)
{
	int n_calls = 0;

	rig.table->on_empty = count_call;
	rig.table->on_empty_arg = &n_calls;
	peer_open_tcp(&one);
	peer_send_many(&one, 0, CONN_TURN_FRAMES + 10, 100);
	table_stop(rig.table);
	peer_send(&one, 0, 100);
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_int_eq(one.end, 0);
	peer_expect(&one, 0, CONN_TURN_FRAMES + 10, 100);
	ck_assert_uint_eq(rig_closed(shutdown), 1);
	ck_assert_int_eq(n_calls, 0);
	peer_end(&one);
	RIG_UNTIL(n_calls == 1);
	ck_assert_uint_eq(rig.table->n_conns, 0);
}
END_TEST

START_TEST(stopping_serves_what_a_full_queue_held_up)
{
	unsigned n = 0;

	rig_limit_queue(10, 1 << 20);
	peer_open(&one);
	for (; !one.conn->is_paused; n++) {
		peer_send(&one, n, LEN);
		rig_turn();
	}
	table_stop(rig.table);
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_uint_eq(rig.n_handled, peer_n_frames(&one));
	ck_assert_uint_ge(peer_n_frames(&one), n - 1);
	ck_assert_uint_eq(rig_closed(shutdown), 1);
	peer_end(&one);
}
END_TEST

/* A connection with more in its socket than a turn reads. Returns how many frames. */
static unsigned open_with_much(struct peer *peer)
{
	int size = 4 * CONN_TURN_BYTES;
	unsigned n = 0;

	peer_open(peer);
	ck_assert_int_eq(setsockopt(peer->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
	for (; n * (HEAD + LEN) < 2 * CONN_TURN_BYTES; n++)
		peer_send(peer, n, LEN);
	ck_assert_uint_eq(rig.n_handled, 0);
	return n;
}

static enum rnl_verdict echo_and_rest(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)rig_echo(conn, msg);
	conn_rest(conn);
	return RNL_DONE;
}

/* _i: it is read; or it is paused when the worker stops, or drains, and goes on later. */
START_TEST(stopping_answers_all_that_has_come)
{
	unsigned n = open_with_much(&one);

	if (_i > 0) {
		rig.handle = echo_and_rest;
		RIG_UNTIL(rig.n_handled == 1);
		rig.handle = rig_echo;
	}
	if (_i < 2)
		table_stop(rig.table);
	else
		table_drain(rig.table, 1);
	if (_i > 0) {
		RIG_FOR_MS(50, rig.n_handled == 1);
		conn_resume(one.conn);
	}
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 0, n, LEN);
	ck_assert_uint_eq(rig_closed(shutdown), 1);
	peer_end(&one);
}
END_TEST

/* Empty frames, as far as there is room for them. */
static void flood(const struct peer *peer)
{
	static const uint8_t frames[100 * HEAD];

	for (int i = 0; i < 1000; i++)
		(void)!send(peer->fd, frames, sizeof(frames), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What comes later is handled at most where it follows in the same read. */
START_TEST(stopping_ends_whatever_the_peer_goes_on_to_send)
{
	unsigned n = open_with_much(&one);

	table_stop(rig.table);
	RIG_UNTIL((flood(&one), peer_has_end(&one)));
	ck_assert_uint_ge(peer_n_frames(&one), n);
	ck_assert_uint_eq(rig_closed(shutdown), 1);
	peer_end(&one);
}
END_TEST

static enum rnl_verdict echo_and_close(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)rig_echo(conn, msg);
	return RNL_CLOSE;
}

/* What the worker's stop finds in its input is a reason of its own. */
START_TEST(stopping_keeps_the_reason_of_a_close_on_the_way)
{
	peer_open(&one);
	rig.handle = echo_and_close;
	peer_send_many(&one, 0, 2, LEN);
	table_stop(rig.table);
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 0, 1, LEN);
	ck_assert_uint_eq(rig_closed(handler), 1);
	peer_end(&one);
}
END_TEST

START_TEST(aborting_all_closes_all_in_one_turn)
{
	static struct peer peers[10];

	for (int i = 0; i < 10; i++) {
		peer_open(&peers[i]);
		make_backlog(&peers[i]);
		if (i % 2 == 0)
			conn_close(peers[i].conn, CLOSE_REASON_handler);
	}
	rig_turn();
	table_abort(rig.table, CLOSE_REASON_shutdown);
	rig_turn();
	ck_assert_uint_eq(rig.table->n_conns, 0);
	ck_assert_uint_eq(rig_closed(shutdown), 10);
	for (int i = 0; i < 10; i++)
		peer_end(&peers[i]);
}
END_TEST

TCase *closing_tests(void)
{
	TCase *tcase = tcase_create("closing");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_test(tcase, closing_sends_all_that_is_queued_then_eof);
	tcase_add_test(tcase, a_closing_connection_serves_no_more_requests);
	tcase_add_test(tcase, lingering_ends_with_the_peers_end);
	tcase_add_test(tcase, lingering_ends_at_its_timeout);
	tcase_add_test(
	    tcase, without_linger_timeout_a_connection_is_closed_when_all_is_written);
	tcase_add_test(tcase, a_closing_connection_holds_no_input);
	tcase_add_test(tcase, a_half_closed_peer_gets_every_reply_then_eof);
	tcase_add_test(tcase, a_peer_that_ends_within_a_frame_gets_the_replies_to_those_before);
	tcase_add_loop_test(tcase, a_reset_with_output_queued_ends_the_connection, 0, 3);
	tcase_add_test(tcase, a_reset_of_an_idle_connection_ends_it);
	tcase_add_test(tcase, an_abort_drops_what_is_queued);
	tcase_add_test(tcase, an_abort_ends_a_close);
	tcase_add_test(tcase, stopping_answers_what_has_come_then_closes);
	tcase_add_loop_test(tcase, stopping_answers_all_that_has_come, 0, 3);
	tcase_add_test(tcase, stopping_ends_whatever_the_peer_goes_on_to_send);
	tcase_add_test(tcase, stopping_serves_what_a_full_queue_held_up);
	tcase_add_test(tcase, stopping_keeps_the_reason_of_a_close_on_the_way);
	tcase_add_test(tcase, aborting_all_closes_all_in_one_turn);
	return tcase;
}
