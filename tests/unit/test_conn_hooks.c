/*
 * What hooks and handlers may do to a connection, and that each open has exactly
 * one close, which rig_tear_down() counts after each test.
 */
#include "config.h"

#include <string.h>

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one, two;

#define LEN 100

static void greet(struct rnl_conn *conn)
{
	ck_assert_int_eq(send_filled(conn, 0, LEN), RNL_OK);
}

static void greet_and_close(struct rnl_conn *conn)
{
	greet(conn);
	conn_close(conn, CLOSE_REASON_handler);
}

static void greet_and_abort(struct rnl_conn *conn)
{
	greet(conn);
	conn_abort(conn, CLOSE_REASON_handler);
	ck_assert_int_eq(send_filled(conn, 0, LEN), RNL_ECLOSED);
}

START_TEST(an_open_hook_may_send)
{
	rig.open = greet;
	peer_open(&one);
	peer_read(&one);
	peer_expect(&one, 0, 1, LEN);
	peer_end(&one);
}
END_TEST

START_TEST(an_open_hook_may_close)
{
	rig.open = greet_and_close;
	peer_open(&one);
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 0, 1, LEN);
	ck_assert_uint_eq(rig_closed(handler), 1);
	ck_assert_uint_eq(rig.n_closed, 1);
	peer_end(&one);
}
END_TEST

START_TEST(an_open_hook_may_abort)
{
	rig.open = greet_and_abort;
	peer_open(&one);
	ck_assert_uint_eq(rig.n_closed, 1);
	ck_assert_uint_eq(rig.table->n_conns, 0);
	ck_assert_ptr_null(one.conn);
	ck_assert(peer_has_end(&one));
	ck_assert_uint_eq(one.n_got, 0);
	peer_end(&one);
}
END_TEST

static int datum;

static void mark(struct rnl_conn *conn)
{
	conn->data[0] = &datum;
}

/*
 * Data, id and address are those of the connection; nothing that is tried here changes its end.
 */
static void try_all(struct rnl_conn *conn)
{
	char text[ENDPOINT_TEXT_SIZE];
	void *place;

	ck_assert_ptr_eq(conn->data[0], &datum);
	ck_assert_ptr_eq(table_find(rig.table, conn_id(conn)), conn);
	ck_assert_str_eq(endpoint_format(&conn->peer, text), "127.0.0.1:4000");
	ck_assert_int_eq(send_filled(conn, 0, LEN), RNL_ECLOSED);
	ck_assert_int_eq(conn_reserve(conn, LEN, &place), RNL_ECLOSED);
	conn_close(conn, CLOSE_REASON_error);
	conn_abort(conn, CLOSE_REASON_error);
}

/* _i: after a close, an abort, the peer's end. */
START_TEST(a_close_hook_may_try_anything)
{
	rig.open = mark;
	rig.close = try_all;
	peer_open(&one);
	if (_i == 0)
		conn_close(one.conn, CLOSE_REASON_handler);
	else if (_i == 1)
		conn_abort(one.conn, CLOSE_REASON_handler);
	else
		peer_end(&one);
	RIG_UNTIL(rig.table->n_conns == 0);
	ck_assert_uint_eq(rig.n_closed, 1);
	ck_assert_uint_eq(_i == 2 ? rig_closed(peer) : rig_closed(handler), 1);
	peer_end(&one);
}
END_TEST

static void tell_two(struct rnl_conn *conn)
{
	if (conn_id(conn) == 1) {
		ck_assert_int_eq(send_filled(two.conn, 0, LEN), RNL_OK);
		conn_close(two.conn, CLOSE_REASON_handler);
	}
}

START_TEST(a_close_hook_may_send_to_and_close_others)
{
	rig.close = tell_two;
	peer_open(&one);
	peer_open(&two);
	peer_end(&one);
	RIG_UNTIL(peer_has_end(&two));
	peer_expect(&two, 0, 1, LEN);
	ck_assert_uint_eq(rig.n_closed, 2);
	peer_end(&two);
}
END_TEST

static enum rnl_verdict echo_and_say(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)rig_echo(conn, msg);
	return msg->id == 3 ? RNL_CLOSE : RNL_NEXT;
}

static enum rnl_verdict echo_and_close(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)rig_echo(conn, msg);
	if (msg->id == 3) {
		conn_close(conn, CLOSE_REASON_handler);
		ck_assert_int_eq(send_filled(conn, 0, LEN), RNL_ECLOSED);
	}
	return RNL_NEXT;
}

/* _i: by the verdict, by the call. */
START_TEST(a_handler_may_close_its_connection)
{
	rig.handle = _i == 0 ? echo_and_say : echo_and_close;
	peer_open(&one);
	peer_send_many(&one, 1, 6, LEN);
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 1, 3, LEN);
	ck_assert_uint_eq(rig.n_handled, 3);
	ck_assert_uint_eq(rig_closed(handler), 1);
	peer_end(&one);
}
END_TEST

static enum rnl_verdict echo_and_abort(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)rig_echo(conn, msg);
	if (msg->id == 4)
		conn_abort(conn, CLOSE_REASON_handler);
	return msg->id == 3 ? RNL_ABORT : RNL_NEXT;
}

/* _i: by the verdict, by the call. The replies of the batch are dropped, too. */
START_TEST(a_handler_may_abort_its_connection)
{
	rig.handle = echo_and_abort;
	peer_open(&one);
	peer_send_many(&one, _i == 0 ? 2 : 4, 6, LEN);
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_uint_eq(one.n_got, 0);
	ck_assert_uint_eq(rig.n_handled, _i == 0 ? 2 : 1);
	ck_assert_uint_eq(rig.table->n_conns, 0);
	peer_end(&one);
}
END_TEST

static enum rnl_verdict end_one(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)conn;
	(void)msg;
	ck_assert_int_eq(send_filled(one.conn, 0, LEN), RNL_OK);
	if (msg->id == 0)
		conn_close(one.conn, CLOSE_REASON_handler);
	else
		conn_abort(one.conn, CLOSE_REASON_handler);
	/* It is there until its close hook has run. */
	ck_assert_ptr_eq(table_find(rig.table, one.id), one.conn);
	ck_assert_uint_eq(rig.n_closed, 0);
	return RNL_DONE;
}

START_TEST(a_handler_may_end_another_connection)
{
	rig.handle = end_one;
	peer_open(&one);
	peer_open(&two);
	peer_send(&two, (uint32_t)_i, LEN);
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 0, _i == 0 ? 1 : 0, LEN);
	ck_assert_uint_eq(rig.n_closed, 1);
	ck_assert_ptr_null(table_find(rig.table, one.id));
	peer_end(&one);
	peer_end(&two);
}
END_TEST

static void close_one(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)timer;
	(void)revents;
	ck_assert_int_eq(send_filled(one.conn, 0, LEN), RNL_OK);
	conn_close(one.conn, CLOSE_REASON_handler);
}

START_TEST(a_timer_may_close_a_connection)
{
	ev_timer timer;

	peer_open(&one);
	ev_timer_init(&timer, close_one, 0.001, 0.);
	ev_timer_start(rig.loop, &timer);
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 0, 1, LEN);
	peer_end(&one);
}
END_TEST

static void close_it(struct rnl_conn *conn)
{
	conn_close(conn, CLOSE_REASON_handler);
}

static void abort_it(struct rnl_conn *conn)
{
	conn_abort(conn, CLOSE_REASON_handler);
}

START_TEST(a_writable_hook_may_close_or_abort)
{
	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig.writable = _i == 0 ? close_it : abort_it;
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	send_until_blocked(one.conn, 0, 1000);
	send_until_refused(one.conn, 0, 1000);
	RIG_UNTIL(peer_has_end(&one));
	if (_i == 0)
		ck_assert_uint_eq(peer_n_frames(&one), rig_counter(frames_out));
	ck_assert_uint_eq(rig.n_writable, 1);
	peer_end(&one);
}
END_TEST

static void end_by_turns(struct rnl_conn *conn, void *arg)
{
	unsigned *n = arg;

	ck_assert_int_eq(send_filled(conn, *n, LEN), RNL_OK);
	if ((*n)++ % 2 == 0)
		conn_close(conn, CLOSE_REASON_handler);
	else
		conn_abort(conn, CLOSE_REASON_handler);
}

static void count_it(struct rnl_conn *conn, void *arg)
{
	(void)conn;
	++*(unsigned *)arg;
}

START_TEST(a_visitor_may_send_to_and_end_each_connection)
{
	static struct peer peers[10];
	unsigned n = 0;

	for (int i = 0; i < 10; i++)
		peer_open_tcp(&peers[i]);
	table_each(rig.table, end_by_turns, &n);
	ck_assert_uint_eq(n, 10);
	/* Those that are closing are visited until their close hook has run. */
	n = 0;
	table_each(rig.table, count_it, &n);
	ck_assert_uint_eq(n, 10);
	rig_turn();
	ck_assert_uint_eq(rig.n_closed, 10);
	ck_assert_uint_eq(rig.table->n_conns, 5);
	n = 0;
	table_each(rig.table, count_it, &n);
	ck_assert_uint_eq(n, 0);
	for (unsigned i = 0; i < 10; i++) {
		RIG_UNTIL(peer_has_end(&peers[i]));
		peer_expect(&peers[i], i, i % 2 == 0 ? 1 : 0, LEN);
		peer_end(&peers[i]);
	}
}
END_TEST

START_TEST(an_id_is_given_once)
{
	uint64_t last = 0;

	for (int i = 0; i < 10; i++) {
		peer_open(&one);
		ck_assert_uint_gt(one.id, last);
		ck_assert_ptr_eq(table_find(rig.table, one.id), one.conn);
		ck_assert_ptr_null(table_find(rig.table, last));
		last = one.id;
		peer_end(&one);
		RIG_UNTIL(rig.table->n_conns == 0);
	}
	ck_assert_uint_eq(rig.pages[0].last_serial, 10);
}
END_TEST

/* Without events it would hang for good. */
START_TEST(a_connection_that_cannot_be_watched_ends)
{
	peer_open(&one);
	rig_turn();
	rig.is_watch_refused = true;
	for (int i = 0; i < 30; i++)
		ck_assert_int_eq(send_filled(one.conn, 0, 1000), RNL_OK);
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_uint_eq(rig_closed(error), 1);
	rig.is_watch_refused = false;
	peer_end(&one);
}
END_TEST

TCase *hooks_tests(void)
{
	TCase *tcase = tcase_create("hooks");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_test(tcase, an_open_hook_may_send);
	tcase_add_test(tcase, an_open_hook_may_close);
	tcase_add_test(tcase, an_open_hook_may_abort);
	tcase_add_loop_test(tcase, a_close_hook_may_try_anything, 0, 3);
	tcase_add_test(tcase, a_close_hook_may_send_to_and_close_others);
	tcase_add_loop_test(tcase, a_handler_may_close_its_connection, 0, 2);
	tcase_add_loop_test(tcase, a_handler_may_abort_its_connection, 0, 2);
	tcase_add_loop_test(tcase, a_handler_may_end_another_connection, 0, 2);
	tcase_add_test(tcase, a_timer_may_close_a_connection);
	tcase_add_loop_test(tcase, a_writable_hook_may_close_or_abort, 0, 2);
	tcase_add_test(tcase, a_visitor_may_send_to_and_end_each_connection);
	tcase_add_test(tcase, an_id_is_given_once);
	tcase_add_test(tcase, a_connection_that_cannot_be_watched_ends);
	return tcase;
}
