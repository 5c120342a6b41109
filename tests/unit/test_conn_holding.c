/*
 * A module holds a connection that is owed a reply, or has it rest.
 */
#include "config.h"

#include <sys/socket.h>

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one;

#define LEN 100

/* Its end of input closes it only when the reply that it is owed was sent. */
START_TEST(a_half_closed_peer_that_is_owed_a_reply_gets_it)
{
	peer_open_tcp(&one);
	conn_hold(one.conn);
	conn_hold(one.conn);
	ck_assert_int_eq(shutdown(one.fd, SHUT_WR), 0);
	RIG_UNTIL(one.conn->is_input_over);
	conn_release(one.conn);
	RIG_FOR_MS(30, one.conn->state == CONN_OPEN);
	ck_assert_int_eq(send_filled(one.conn, 1, LEN), RNL_OK);
	conn_release(one.conn);
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 1, 1, LEN);
	ck_assert_uint_eq(rig_closed(peer), 1);
	peer_end(&one);
}
END_TEST

/* A hold keeps nothing that has another reason to end. _i: a close; a reset. */
START_TEST(a_peer_that_is_owed_a_reply_may_end)
{
	peer_open_tcp(&one);
	conn_hold(one.conn);
	if (_i == 0)
		conn_close(one.conn, CLOSE_REASON_handler);
	else
		peer_reset(&one);
	RIG_UNTIL(rig.n_closed == 1);
	peer_end(&one);
}
END_TEST

static enum rnl_verdict echo_and_rest(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	conn_rest(conn);
	return rig_echo(conn, msg);
}

/* _i: also with a queue that is full and drained between two of them. */
START_TEST(a_resting_connection_is_served_one_message_at_a_time)
{
	if (_i == 1)
		rig_limit_queue(1, 1 << 20);
	rig.handle = echo_and_rest;
	peer_open_tcp(&one);
	peer_send_many(&one, 0, 10, LEN);
	for (unsigned n = 1; n <= 10; n++) {
		RIG_UNTIL((peer_read(&one), one.n_got == n * (HEAD + LEN)));
		RIG_FOR_MS(5, rig.n_handled == n);
		conn_resume(one.conn);
	}
	peer_expect(&one, 0, 10, LEN);
	/* It rests with nothing left over, too, and what comes then waits. */
	peer_send(&one, 10, LEN);
	RIG_UNTIL(rig.n_handled == 11);
	peer_send(&one, 11, LEN);
	RIG_FOR_MS(20, rig.n_handled == 11);
	conn_resume(one.conn);
	RIG_UNTIL(rig.n_handled == 12);
	peer_end(&one);
}
END_TEST

/* From elsewhere; a drained queue does not wake it. */
START_TEST(a_connection_rests_whatever_its_queue_does)
{
	unsigned n;

	rig_limit_queue(10, 1 << 20);
	peer_open_tcp(&one);
	n = send_until_refused(one.conn, 0, LEN);
	conn_rest(one.conn);
	peer_send(&one, 0, LEN);
	RIG_UNTIL((peer_read(&one), one.n_got == n * (HEAD + LEN)));
	RIG_FOR_MS(20, rig.n_handled == 0);
	ck_assert_uint_eq(rig.n_writable, 1);
	conn_resume(one.conn);
	RIG_UNTIL(rig.n_handled == 1);
	peer_end(&one);
}
END_TEST

/* Who was not read was not silent. */
START_TEST(a_resting_connection_is_not_silent)
{
	uint32_t resumed_ms;

	rig.settings.heartbeat_timeout_ms = 200;
	peer_open_tcp(&one);
	conn_rest(one.conn);
	RIG_FOR_MS(600, rig.n_closed == 0);
	resumed_ms = (uint32_t)rig.table->now_ms;
	conn_resume(one.conn);
	RIG_UNTIL(!conn_is_held_up(one.conn));
	ck_assert_uint_le(one.conn->heard_ms - resumed_ms, INT32_MAX);
	RIG_UNTIL(rig.n_closed == 1);
	ck_assert_uint_eq(rig_closed(heartbeat), 1);
	peer_end(&one);
}
END_TEST

/* A queue that is full is a reason of its own. */
START_TEST(resuming_does_not_end_a_pause_of_the_queue)
{
	rig_limit_queue(10, 1 << 20);
	peer_open(&one);
	send_until_blocked(one.conn, 0, LEN);
	send_until_refused(one.conn, 0, LEN);
	conn_rest(one.conn);
	peer_send(&one, 0, LEN);
	conn_resume(one.conn);
	RIG_FOR_MS(20, rig.n_handled == 0);
	while (rig.n_handled == 0) {
		peer_read(&one);
		rig_wait();
	}
	peer_end(&one);
}
END_TEST

/* Whatever when-full is, as long as nothing was refused. */
START_TEST(resuming_does_not_wait_for_a_queue_that_has_room)
{
	static const int whens[] = { WHEN_FULL_PAUSE, WHEN_FULL_REFUSE, WHEN_FULL_CLOSE };

	rig.settings.when_full = whens[_i];
	rig_limit_queue(1000, 1 << 20);
	peer_open(&one);
	send_until_blocked(one.conn, 0, LEN);
	while (one.conn->out.n_messages < 900)
		ck_assert_int_eq(send_filled(one.conn, 0, LEN), RNL_OK);
	conn_rest(one.conn);
	peer_send(&one, 0, LEN);
	RIG_FOR_MS(5, rig.n_handled == 0);
	conn_resume(one.conn);
	RIG_UNTIL(rig.n_handled == 1);
	peer_end(&one);
}
END_TEST

/* _i: the module closes it; the peer resets it. */
START_TEST(a_resting_connection_may_end)
{
	peer_open_tcp(&one);
	conn_rest(one.conn);
	rig_turn();
	if (_i == 0)
		conn_close(one.conn, CLOSE_REASON_handler);
	else
		peer_reset(&one);
	RIG_UNTIL(rig.n_closed == 1);
	peer_end(&one);
}
END_TEST

/* What it has sent is served, though it rested when the worker was told to stop. */
START_TEST(a_resting_connection_is_served_when_the_worker_stops)
{
	rig.handle = echo_and_rest;
	peer_open_tcp(&one);
	peer_send_many(&one, 0, 3, LEN);
	RIG_UNTIL(rig.n_handled == 1);
	table_stop(rig.table);
	for (unsigned n = 2; n <= 3; n++) {
		RIG_FOR_MS(5, rig.n_handled == n - 1);
		conn_resume(one.conn);
		RIG_UNTIL(rig.n_handled == n);
	}
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 0, 3, LEN);
	peer_end(&one);
}
END_TEST

TCase *holding_tests(void)
{
	TCase *tcase = tcase_create("holding");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_test(tcase, a_half_closed_peer_that_is_owed_a_reply_gets_it);
	tcase_add_loop_test(tcase, a_peer_that_is_owed_a_reply_may_end, 0, 2);
	tcase_add_loop_test(tcase, a_resting_connection_is_served_one_message_at_a_time, 0, 2);
	tcase_add_test(tcase, a_connection_rests_whatever_its_queue_does);
	tcase_add_test(tcase, a_resting_connection_is_not_silent);
	tcase_add_test(tcase, resuming_does_not_end_a_pause_of_the_queue);
	tcase_add_loop_test(tcase, resuming_does_not_wait_for_a_queue_that_has_room, 0, 3);
	tcase_add_loop_test(tcase, a_resting_connection_may_end, 0, 2);
	tcase_add_test(tcase, a_resting_connection_is_served_when_the_worker_stops);
	return tcase;
}
