/*
 * What follows a refusal, in each mode of when-full.
 */
#include "config.h"

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one, two;

/* Each time the hook runs, the queue must have fallen to half of its limits. */
static void expect_half(struct rnl_conn *conn)
{
	ck_assert_uint_le(conn->out.n_messages, rig.listener.limits.max_messages / 2);
	ck_assert_uint_le(conn->out.held_bytes, rig.listener.limits.max_bytes / 2);
}

/* Read bit by bit until the queue is empty; `writable` must come as soon as it may, and once. */
static void read_through_half(struct peer *peer)
{
	unsigned n_before = rig.n_writable;

	while (!sendq_is_empty(&peer->conn->out)) {
		peer_read_some(peer, 512);
		rig_turn();
		ck_assert_int_eq(rig.n_writable - n_before,
		    sendq_is_half_empty(&peer->conn->out, &rig.listener.limits));
	}
	peer_read(peer);
}

/* _i: by messages, by bytes. */
START_TEST(writable_comes_once_an_episode_when_half_is_gone)
{
	unsigned n_taken;

	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig.writable = expect_half;
	rig_limit_queue(_i == 0 ? 20 : 100000, _i == 0 ? 1 << 20 : 20000);
	peer_open(&one);
	for (unsigned episode = 1; episode <= 3; episode++) {
		one.n_got = 0;
		n_taken = send_until_blocked(one.conn, 0, 500);
		n_taken += send_until_refused(one.conn, n_taken, 500);
		ck_assert_uint_eq(send_until_refused(one.conn, 0, 500), 0);
		read_through_half(&one);
		ck_assert_uint_eq(rig.n_writable, episode);
		peer_expect(&one, 0, n_taken, 500);
	}
	ck_assert_int_eq(send_filled(one.conn, 0, 500), RNL_OK);
	rig_turn();
	ck_assert_uint_eq(rig.n_writable, 3);
	peer_end(&one);
}
END_TEST

/* No refusal, no call, however long the queue was. */
START_TEST(writable_does_not_come_without_a_refusal)
{
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	send_until_blocked(one.conn, 0, 500);
	while (one.conn->out.n_messages < 20)
		ck_assert_int_eq(send_filled(one.conn, 0, 500), RNL_OK);
	RIG_UNTIL((peer_read(&one), sendq_is_empty(&one.conn->out)));
	ck_assert_uint_eq(rig.n_writable, 0);
	peer_end(&one);
}
END_TEST

static void refill(struct rnl_conn *conn)
{
	unsigned n_before = rig.n_writable;

	expect_half(conn);
	send_until_refused(conn, 0, 500);
	ck_assert_uint_eq(rig.n_writable, n_before);
}

/* A module that sends for as long as it may: each refusal begins the next episode. */
START_TEST(a_writable_hook_may_fill_the_queue_again)
{
	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig.writable = refill;
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	send_until_blocked(one.conn, 0, 500);
	send_until_refused(one.conn, 0, 500);
	RIG_UNTIL((peer_read(&one), rig.n_writable >= 50));
	rig.writable = NULL;
	RIG_UNTIL((peer_read(&one), sendq_is_empty(&one.conn->out)));
	peer_read(&one);
	ck_assert_uint_eq(peer_n_frames(&one), rig_counter(frames_out));
	peer_end(&one);
}
END_TEST

static bool is_reading(const struct peer *peer)
{
	return (peer->conn->interest & EPOLLIN) != 0;
}

#define N_REQUESTS 500
#define REQUEST_LEN 1000

/* An echo never sees a refusal, because a request waits until its reply has room. */
START_TEST(pause_stops_reading_requests_until_half_is_gone)
{
	unsigned n_handled;

	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	/* The peer's writes end when the daemon reads no more. */
	for (uint32_t id = 0; !one.conn->is_paused; id++) {
		peer_send(&one, id, REQUEST_LEN);
		rig_turn();
	}
	n_handled = rig.n_handled;
	ck_assert(!is_reading(&one));
	RIG_FOR_MS(50, rig.n_handled == n_handled);
	while (one.conn->is_paused) {
		ck_assert_uint_eq(rig.n_handled, n_handled);
		peer_read_some(&one, 512);
		rig_turn();
		ck_assert_int_eq(one.conn->is_paused,
		    one.conn->out.n_messages > rig.listener.limits.max_messages / 2);
	}
	RIG_UNTIL(is_reading(&one));
	ck_assert_uint_eq(rig_counter(sends_refused), 0);
	peer_end(&one);
}
END_TEST

/* _i: a queue that is short of messages, or of bytes. */
START_TEST(pause_loses_no_request)
{
	static uint8_t request[HEAD + REQUEST_LEN] = {
		[6] = REQUEST_LEN >> 8, [7] = REQUEST_LEN & 0xff
	};
	size_t n_sent = 0;

	rig_limit_queue(_i == 0 ? 3 : 1000, _i == 0 ? 1 << 20 : 10000);
	peer_open(&one);
	while (n_sent < N_REQUESTS) {
		request[3] = (uint8_t)n_sent;
		request[2] = (uint8_t)(n_sent >> 8);
		fill(request + HEAD, (uint32_t)n_sent, REQUEST_LEN);
		/* Whole or not at all, as a socketpair of this size takes it. */
		if (send(one.fd, request, sizeof(request), MSG_NOSIGNAL) > 0)
			n_sent++;
		else
			peer_read_some(&one, 3000);
		rig_turn();
	}
	RIG_UNTIL((peer_read(&one), one.n_got == N_REQUESTS * sizeof(request)));
	peer_expect(&one, 0, N_REQUESTS, REQUEST_LEN);
	ck_assert_uint_eq(rig_counter(sends_refused), 0);
	peer_end(&one);
}
END_TEST

/* Sends from elsewhere may fill the queue to the last place: that pauses, too. */
START_TEST(pause_follows_a_refusal_from_elsewhere)
{
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	send_until_blocked(one.conn, 0, REQUEST_LEN);
	send_until_refused(one.conn, 0, REQUEST_LEN);
	peer_send(&one, 7, 10);
	RIG_FOR_MS(50, rig.n_handled == 0);
	ck_assert(!is_reading(&one));
	RIG_UNTIL((peer_read(&one), rig.n_handled == 1));
	ck_assert_uint_eq(rig.n_writable, 1);
	peer_end(&one);
}
END_TEST

START_TEST(refuse_is_an_error_for_the_sender_and_nothing_else)
{
	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	peer_send_many(&one, 0, N_REQUESTS, REQUEST_LEN);
	RIG_UNTIL(rig.n_handled == N_REQUESTS);
	ck_assert(!one.conn->is_paused && is_reading(&one));
	ck_assert_uint_gt(rig_counter(sends_refused), 0);
	RIG_UNTIL((peer_read(&one), sendq_is_empty(&one.conn->out)));
	peer_read(&one);
	ck_assert_uint_eq(rig_counter(frames_out) + rig_counter(sends_refused), N_REQUESTS);
	ck_assert_uint_eq(peer_n_frames(&one), rig_counter(frames_out));
	ck_assert_uint_eq(one.n_got, rig_counter(frames_out) * (HEAD + REQUEST_LEN));
	peer_end(&one);
}
END_TEST

START_TEST(close_drops_the_connection_and_counts_why)
{
	rig.settings.when_full = WHEN_FULL_CLOSE;
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	peer_open(&two);
	send_until_blocked(one.conn, 0, REQUEST_LEN);
	send_until_refused(one.conn, 0, REQUEST_LEN);
	ck_assert_int_eq(send_filled(one.conn, 0, 1), RNL_ECLOSED);
	rig_turn();
	ck_assert_uint_eq(rig_closed(queue_full), 1);
	ck_assert_uint_eq(rig.n_writable, 0);
	ck_assert(peer_has_end(&one));
	peer_send(&two, 0, REQUEST_LEN);
	RIG_UNTIL((peer_read(&two), two.n_got > 0));
	peer_end(&one);
	peer_end(&two);
}
END_TEST

/* One connection's full queue is its own affair. */
START_TEST(a_full_queue_does_not_touch_others)
{
	rig.settings.when_full = (enum when_full)_i;
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	peer_open(&two);
	send_until_blocked(one.conn, 0, REQUEST_LEN);
	send_until_refused(one.conn, 0, REQUEST_LEN);
	for (uint32_t id = 0; id < 100; id++) {
		peer_send(&two, id, REQUEST_LEN);
		RIG_UNTIL((peer_read(&two), two.n_got == (id + 1) * (HEAD + REQUEST_LEN)));
	}
	peer_expect(&two, 0, 100, REQUEST_LEN);
	peer_end(&one);
	peer_end(&two);
}
END_TEST

START_TEST(refusals_are_logged_once_a_second_for_each_connection)
{
	uint64_t start_ms, n_seconds;

	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	peer_open(&two);
	send_until_blocked(one.conn, 0, REQUEST_LEN);
	send_until_blocked(two.conn, 0, REQUEST_LEN);
	for (int i = 0; i < 1000; i++) {
		send_until_refused(one.conn, 0, REQUEST_LEN);
		send_until_refused(two.conn, 0, REQUEST_LEN);
	}
	ck_assert_uint_eq(rig_n_logged("send refused"), 2);
	ck_assert_uint_eq(rig_counter(sends_refused), 2000);
	start_ms = clock_ms();
	while (rig_n_logged("send refused") < 4) {
		rig_wait();
		send_until_refused(one.conn, 0, REQUEST_LEN);
		ck_assert_uint_lt(clock_ms() - start_ms, DEADLINE_MS);
	}
	n_seconds = (clock_ms() - start_ms) / 1000;
	ck_assert_uint_ge(n_seconds, 1);
	ck_assert_uint_eq(rig_n_logged("20 messages"), 4);
	ck_assert_uint_eq(rig_n_logged("more were not logged)"), 2);
	ck_assert_uint_eq(rig_n_logged("worker-send-memory"), 0);
	peer_end(&one);
	peer_end(&two);
}
END_TEST

/* Each has its line, but so many connections share what the worker writes in a second. */
START_TEST(refusals_of_many_connections_are_counted_together)
{
	static struct peer many[3 * LOG_BUDGET_LINES];
	const unsigned n = sizeof(many) / sizeof(many[0]);
	uint64_t start_ms;

	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig_limit_queue(20, 1 << 20);
	for (unsigned i = 0; i < n; i++) {
		peer_open(&many[i]);
		send_until_blocked(many[i].conn, 0, REQUEST_LEN);
	}
	start_ms = rig.table->now_ms;
	for (unsigned i = 0; i < n; i++)
		send_until_refused(many[i].conn, 0, REQUEST_LEN);
	ck_assert_uint_eq(rig_n_logged(": send refused"), LOG_BUDGET_LINES);
	RIG_UNTIL(rig.table->now_ms >= start_ms + 1000);
	send_until_refused(many[0].conn, 0, REQUEST_LEN);
	ck_assert_uint_eq(rig_n_logged(": 40 lines left out: sends refused"), 1);
	for (unsigned i = 0; i < n; i++)
		peer_end(&many[i]);
}
END_TEST

TCase *overflow_tests(void)
{
	TCase *tcase = tcase_create("overflow");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_loop_test(tcase, writable_comes_once_an_episode_when_half_is_gone, 0, 2);
	tcase_add_test(tcase, writable_does_not_come_without_a_refusal);
	tcase_add_test(tcase, a_writable_hook_may_fill_the_queue_again);
	tcase_add_test(tcase, pause_stops_reading_requests_until_half_is_gone);
	tcase_add_loop_test(tcase, pause_loses_no_request, 0, 2);
	tcase_add_test(tcase, pause_follows_a_refusal_from_elsewhere);
	tcase_add_test(tcase, refuse_is_an_error_for_the_sender_and_nothing_else);
	tcase_add_test(tcase, close_drops_the_connection_and_counts_why);
	tcase_add_loop_test(
	    tcase, a_full_queue_does_not_touch_others, WHEN_FULL_PAUSE, WHEN_FULL_CLOSE + 1);
	tcase_add_test(tcase, refusals_are_logged_once_a_second_for_each_connection);
	tcase_add_test(tcase, refusals_of_many_connections_are_counted_together);
	return tcase;
}
