/*
 * A send queues one whole frame or refuses it whole, and a drain writes all that
 * is queued.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "conn/shared.h"
#include "wire/htlv_crc.h"
#include "wire/line.h"

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one, two;

/* Each way to send a frame whose payload is made by fill(). */
enum way { WAY_SEND, WAY_SENDV, WAY_RESERVE, WAY_SHARED, N_WAYS };

static enum rnl_status send_parts(
    struct rnl_conn *conn, uint32_t id, uint8_t *payload, size_t len)
{
	struct iovec parts[3] = { { .iov_base = payload, .iov_len = len / 3 },
		{ .iov_base = NULL, .iov_len = 0 },
		{ .iov_base = payload + len / 3, .iov_len = len - len / 3 } };

	return conn_sendv(conn, id, parts, 3);
}

static enum rnl_status send_in_place(
    struct rnl_conn *conn, uint32_t id, const uint8_t *payload, size_t len)
{
	void *place;
	enum rnl_status status = conn_reserve(conn, len, &place);

	if (status != RNL_OK)
		return status;
	memcpy(place, payload, len);
	return conn_commit(conn, id, len);
}

static enum rnl_status send_shared(
    struct rnl_conn *conn, uint32_t id, const uint8_t *payload, size_t len)
{
	struct rnl_shared *shared = shared_new(conn->table, id, payload, len);
	enum rnl_status status;

	ck_assert_ptr_nonnull(shared);
	status = conn_send_shared(conn, shared);
	shared_free(shared);
	return status;
}

static enum rnl_status send_by(int way, struct rnl_conn *conn, uint32_t id, size_t len)
{
	static uint8_t payload[1 << 20];

	fill(payload, id, len);
	switch (way) {
	case WAY_SEND:
		return conn_send(conn, id, payload, len);
	case WAY_SENDV:
		return send_parts(conn, id, payload, len);
	case WAY_RESERVE:
		return send_in_place(conn, id, payload, len);
	default:
		return send_shared(conn, id, payload, len);
	}
}

START_TEST(a_send_copies_one_whole_frame)
{
	static const uint8_t expected[] = { 0, 0, 3, 0xe9, 0, 0, 0, 2, 'h', 'i' };
	char payload[] = "hi";

	peer_open(&one);
	ck_assert_int_eq(conn_send(one.conn, 1001, payload, 2), RNL_OK);
	memset(payload, 'x', sizeof(payload));
	rig_turn();
	peer_read(&one);
	ck_assert_uint_eq(one.n_got, sizeof(expected));
	ck_assert_mem_eq(one.got, expected, sizeof(expected));
	peer_end(&one);
}
END_TEST

START_TEST(each_way_to_send_gives_the_same_frames)
{
	static const size_t lens[] = { 0, 1, 7, 300, 5000, 60000 };
	const size_t len = lens[_i];

	rig_limit_queue(100, 1 << 20);
	peer_open(&one);
	for (int way = 0; way < N_WAYS; way++)
		ck_assert_int_eq(send_by(way, one.conn, 70 + (uint32_t)way, len), RNL_OK);
	RIG_UNTIL((peer_read(&one), one.n_got >= N_WAYS * (HEAD + len)));
	peer_expect(&one, 70, N_WAYS, len);
	peer_end(&one);
}
END_TEST

START_TEST(a_send_calls_no_hook_and_no_handler_from_inside)
{
	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig_limit_queue(10, 1 << 16);
	peer_open(&one);
	send_until_blocked(one.conn, 0, 1000);
	send_until_refused(one.conn, 0, 1000);
	ck_assert_uint_eq(rig.n_writable, 0);
	/* This send drains the queue, and so ends the episode. */
	peer_read(&one);
	ck_assert_int_eq(send_filled(one.conn, 0, 10), RNL_OK);
	ck_assert_uint_eq(rig.n_writable, 0);
	rig_turn();
	ck_assert_uint_eq(rig.n_writable, 1);

	rig.settings.when_full = WHEN_FULL_CLOSE;
	send_until_refused(one.conn, 0, 1000);
	ck_assert_uint_eq(rig.n_closed, 0);
	rig_turn();
	ck_assert_uint_eq(rig.n_closed, 1);
	ck_assert_uint_eq(rig.n_handled, 0);
	peer_end(&one);
}
END_TEST

/* What a peer reads is what was accepted, in whole frames, and nothing of what was refused. */
START_TEST(a_full_queue_refuses_a_frame_whole)
{
	unsigned n_taken;

	rig.settings.when_full = WHEN_FULL_REFUSE;
	peer_open(&one);
	n_taken = send_until_blocked(one.conn, 0, 999);
	n_taken += send_until_refused(one.conn, n_taken, 999);
	for (int way = 0; way < N_WAYS; way++)
		ck_assert_int_eq(send_by(way, one.conn, 0, 999), RNL_EFULL);
	ck_assert_uint_eq(rig_counter(frames_out), n_taken);
	ck_assert_uint_eq(rig_counter(sends_refused), 1 + N_WAYS);
	RIG_UNTIL((peer_read(&one), one.n_got >= n_taken * (HEAD + 999)));
	peer_expect(&one, 0, n_taken, 999);
	ck_assert_uint_eq(rig_counter(bytes_out), one.n_got);
	peer_end(&one);
}
END_TEST

START_TEST(the_queue_is_bounded_by_messages)
{
	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig_limit_queue(10, 1 << 20);
	peer_open(&one);
	send_until_blocked(one.conn, 0, 1000);
	for (int i = 0; i < 40; i++) {
		bool is_full = one.conn->out.n_messages == 10;

		ck_assert_int_eq(
		    send_by(i % N_WAYS, one.conn, 0, 1000), is_full ? RNL_EFULL : RNL_OK);
		ck_assert_uint_le(one.conn->out.n_messages, 10);
	}
	ck_assert_uint_eq(one.conn->out.n_messages, 10);
	peer_end(&one);
}
END_TEST

/* Of the smallest frames, of which bookkeeping is the larger part. */
START_TEST(the_queue_is_bounded_by_bytes_with_bookkeeping)
{
	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig_limit_queue(1u << 20, 16384);
	peer_open(&one);
	send_until_blocked(one.conn, 0, 1000);
	for (int i = 0; i < 4000; i++) {
		(void)send_by(i % N_WAYS, one.conn, 0, 1);
		ck_assert_uint_le(one.conn->out.held_bytes, 16384);
		ck_assert_uint_le(one.conn->out.held_bytes, rig.table->pool.held_bytes);
	}
	ck_assert_int_eq(send_by(WAY_SHARED, one.conn, 0, 1), RNL_EFULL);
	ck_assert_uint_gt(one.conn->out.held_bytes, 16384 / 2);
	peer_end(&one);
}
END_TEST

START_TEST(all_queues_of_a_worker_are_bounded_together)
{
	static const uint8_t payload[20000];
	static struct peer peers[8];
	unsigned n_refused = 0;

	rig.settings.when_full = WHEN_FULL_REFUSE;
	for (int i = 0; i < 8; i++) {
		peer_open(&peers[i]);
		send_until_blocked(peers[i].conn, 0, 1000);
	}
	rig.table->pool.max_bytes = 100000;
	for (int i = 0; i < 8 * 100; i++) {
		/* A message that is shared is held as often as it is copied to be shared. */
		enum rnl_status status =
		    send_by(i / 8 % WAY_SHARED, peers[i % 8].conn, 0, 1000);

		ck_assert(status == RNL_OK || status == RNL_EFULL);
		n_refused += status == RNL_EFULL;
		ck_assert_uint_le(rig.table->pool.held_bytes, 100000);
	}
	ck_assert_uint_gt(rig.table->pool.held_bytes, 90000);
	ck_assert_uint_eq(rig_counter(sends_refused), n_refused);
	ck_assert_ptr_null(shared_new(rig.table, 0, payload, sizeof(payload)));
	for (int i = 0; i < 8; i++)
		peer_end(&peers[i]);
}
END_TEST

START_TEST(a_queue_is_drained_before_a_send_is_refused)
{
	rig_limit_queue(4, 1 << 16);
	peer_open_tcp(&one);
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_int_eq(send_by((int)i % N_WAYS, one.conn, i, 10), RNL_OK);
	ck_assert_uint_eq(rig_counter(sends_refused), 0);
	RIG_UNTIL((peer_read(&one), one.n_got >= 100 * (HEAD + 10)));
	peer_expect(&one, 0, 100, 10);
	peer_end(&one);
}
END_TEST

START_TEST(what_can_never_fit_is_too_big)
{
	rig_limit_queue(100, 8192);
	peer_open(&one);
	for (int way = 0; way < N_WAYS; way++) {
		ck_assert_int_eq(send_by(way, one.conn, 0, 8192), RNL_ETOOBIG);
		ck_assert(sendq_is_empty(&one.conn->out));
	}
	send_until_blocked(one.conn, 0, 1000);
	for (int way = 0; way < N_WAYS; way++)
		ck_assert_int_eq(send_by(way, one.conn, 0, 8192), RNL_ETOOBIG);
	/* It is the sender's mistake: nothing is paused for it, nothing is owed. */
	ck_assert_uint_eq(rig_counter(sends_refused), 0);
	ck_assert(!one.conn->is_paused && !one.conn->is_refused);
	peer_end(&one);
}
END_TEST

/* Lengths that cannot be added up, or framed, are refused before they are. */
START_TEST(lengths_that_overflow_are_too_big)
{
	uint8_t byte = 0;
	struct iovec parts[2] = { { .iov_base = &byte, .iov_len = SIZE_MAX },
		{ .iov_base = &byte, .iov_len = 2 } };
	void *place;

	peer_open(&one);
	ck_assert_int_eq(conn_sendv(one.conn, 0, parts, 2), RNL_ETOOBIG);
	parts[0].iov_len = UINT32_MAX - 1;
	ck_assert_int_eq(conn_sendv(one.conn, 0, parts, 2), RNL_ETOOBIG);
	ck_assert_int_eq(conn_send(one.conn, 0, &byte, UINT32_MAX), RNL_ETOOBIG);
	ck_assert_int_eq(conn_send(one.conn, 0, &byte, (size_t)UINT32_MAX + 1), RNL_ETOOBIG);
	ck_assert_int_eq(conn_reserve(one.conn, SIZE_MAX - HEAD + 1, &place), RNL_ETOOBIG);
	ck_assert_ptr_null(shared_new(rig.table, 0, &byte, (size_t)UINT32_MAX + 1));
	ck_assert(sendq_is_empty(&one.conn->out));
	peer_end(&one);
}
END_TEST

START_TEST(a_closing_connection_takes_no_more)
{
	void *place;

	peer_open(&one);
	ck_assert_int_eq(send_filled(one.conn, 1, 10), RNL_OK);
	ck_assert_int_eq(conn_reserve(one.conn, 10, &place), RNL_OK);
	if (_i == 0)
		conn_close(one.conn, CLOSE_REASON_handler);
	else
		conn_abort(one.conn, CLOSE_REASON_handler);
	ck_assert_int_eq(conn_commit(one.conn, 2, 10), RNL_ECLOSED);
	for (int way = 0; way < N_WAYS; way++)
		ck_assert_int_eq(send_by(way, one.conn, 2, 10), RNL_ECLOSED);
	rig_turn();
	ck_assert(peer_has_end(&one));
	peer_expect(&one, 1, _i == 0 ? 1 : 0, 10);
	peer_end(&one);
}
END_TEST

/* That there is no way to send it comes second. _i: it is closed, or aborted. */
START_TEST(a_closing_connection_is_closed_whatever_is_sent)
{
	static uint8_t bytes[8192];
	struct iovec part = { .iov_base = bytes, .iov_len = SIZE_MAX };
	struct rnl_shared *shared = shared_new(rig.table, UINT32_MAX, bytes, 300);
	struct htlv_crc htlv_crc;
	struct line line;
	const struct framing *const framings[] = { &framing_tlv, &htlv_crc.framing,
		&line.framing };
	void *place;

	htlv_crc_init(&htlv_crc, 0xa2);
	line_init(&line, 7, false);
	bytes[0] = '\n';
	rig_limit_queue(100, 8192);
	peer_open(&one);
	if (_i == 0)
		conn_close(one.conn, CLOSE_REASON_handler);
	else
		conn_abort(one.conn, CLOSE_REASON_handler);
	for (int i = 0; i < 3; i++) {
		rig.listener.framing = framings[i];
		ck_assert_int_eq(conn_send(one.conn, 300, bytes, 1), RNL_ECLOSED);
		ck_assert_int_eq(conn_send(one.conn, 1, bytes, sizeof(bytes)), RNL_ECLOSED);
		ck_assert_int_eq(conn_sendv(one.conn, 1, &part, 1), RNL_ECLOSED);
		ck_assert_int_eq(conn_reserve(one.conn, SIZE_MAX, &place), RNL_ECLOSED);
		ck_assert_int_eq(conn_send_shared(one.conn, shared), RNL_ECLOSED);
	}
	rig.listener.framing = &framing_tlv;
	shared_free(shared);
	rig_turn();
	ck_assert(peer_has_end(&one));
	peer_end(&one);
}
END_TEST

/*
 * Not a byte more can be written by hand, neither after the first drain nor after those on
 * events.
 */
START_TEST(a_drain_goes_on_until_the_kernel_takes_no_more)
{
	unsigned n = 0, n_rounds = 0;

	rig_limit_queue(2000, 4 << 20);
	peer_open(&one);
	for (; n < 1000; n++)
		ck_assert_int_eq(send_filled(one.conn, n, 999), RNL_OK);
	ck_assert_uint_eq(rig_counter(drains), 0);
	for (; rig_turn(), !sendq_is_empty(&one.conn->out); n_rounds++) {
		ck_assert(one.conn->is_blocked);
		ck_assert_int_eq(send(one.conn->fd, "!", 1, MSG_NOSIGNAL), -1);
		ck_assert_int_eq(errno, EAGAIN);
		ck_assert_uint_eq(rig_counter(drains_cut), n_rounds + 1);
		peer_read(&one);
	}
	ck_assert_uint_gt(n_rounds, 2);
	peer_read(&one);
	peer_expect(&one, 0, n, 999);
	peer_end(&one);
}
END_TEST

static bool is_writing(const struct peer *peer)
{
	return (peer->conn->interest & EPOLLOUT) != 0;
}

START_TEST(write_interest_is_on_only_while_output_is_blocked)
{
	peer_open(&one);
	ck_assert(!is_writing(&one));
	ck_assert_int_eq(send_filled(one.conn, 0, 10), RNL_OK);
	rig_turn();
	ck_assert(!is_writing(&one));
	send_until_blocked(one.conn, 0, 1000);
	ck_assert(is_writing(&one));
	RIG_UNTIL((peer_read(&one), sendq_is_empty(&one.conn->out)));
	ck_assert(!is_writing(&one));
	peer_end(&one);
}
END_TEST

static void end_run(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)timer;
	(void)revents;
	ev_break(loop, EVBREAK_ALL);
}

START_TEST(a_loop_without_work_sleeps)
{
	unsigned n_turns;
	ev_timer timer;

	peer_open(&one);
	peer_open(&two);
	peer_send(&two, 1, 100);
	send_until_blocked(one.conn, 0, 1000);
	ev_timer_init(&timer, end_run, 0.2, 0.);
	ev_timer_start(rig.loop, &timer);
	n_turns = ev_iteration(rig.loop);
	ev_run(rig.loop, 0);
	/* The ticks of the deadlines are the only ones. */
	ck_assert_uint_lt(ev_iteration(rig.loop) - n_turns, 20);
	peer_end(&one);
	peer_end(&two);
}
END_TEST

START_TEST(the_replies_to_a_batch_are_drained_right_after_it_and_once)
{
	peer_open(&one);
	peer_send_many(&one, 0, 10, 100);
	rig_turn();
	ck_assert_uint_eq(rig.n_handled, 10);
	ck_assert_uint_eq(rig_counter(drains), 1);
	peer_read(&one);
	peer_expect(&one, 0, 10, 100);
	peer_end(&one);
}
END_TEST

/* The last thing before the loop sleeps. */
static void look_before_sleep(struct ev_loop *loop, ev_prepare *watcher, int revents)
{
	const unsigned *n_expected = watcher->data;

	(void)revents;
	peer_read(&one);
	if (peer_n_frames(&one) == *n_expected)
		ev_break(loop, EVBREAK_ALL);
}

/* Run the loop until n frames have come, which must be before it sleeps. */
static void run_without_sleep(unsigned n)
{
	ev_prepare look;
	ev_timer guard;

	ev_prepare_init(&look, look_before_sleep);
	look.data = &n;
	ev_set_priority(&look, EV_MINPRI);
	ev_prepare_start(rig.loop, &look);
	ev_timer_init(&guard, end_run, 5., 0.);
	ev_timer_start(rig.loop, &guard);
	ev_run(rig.loop, 0);
	ck_assert_msg(ev_is_active(&guard), "the loop has slept");
	ev_timer_stop(rig.loop, &guard);
	ev_prepare_stop(rig.loop, &look);
}

START_TEST(what_is_sent_from_elsewhere_leaves_before_the_loop_sleeps)
{
	peer_open(&one);
	rig_turn();
	ck_assert_int_eq(send_filled(one.conn, 5, 10), RNL_OK);
	run_without_sleep(1);
	peer_expect(&one, 5, 1, 10);
	peer_end(&one);
}
END_TEST

static enum rnl_verdict pass_to_one(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)conn;
	ck_assert_int_eq(conn_send(one.conn, msg->id, msg->payload, msg->len), RNL_OK);
	return RNL_DONE;
}

/*
 * The last of the frames is served from the agenda, and what its handler sends
 * puts another connection there: no event will come to wake the loop.
 */
START_TEST(the_loop_does_not_sleep_while_somebody_is_on_the_agenda)
{
	peer_open(&one);
	peer_open(&two);
	rig.handle = pass_to_one;
	peer_send_many(&two, 0, CONN_TURN_FRAMES + 1, 4);
	run_without_sleep(CONN_TURN_FRAMES + 1);
	peer_expect(&one, 0, CONN_TURN_FRAMES + 1, 4);
	peer_end(&one);
	peer_end(&two);
}
END_TEST

START_TEST(frames_leave_in_the_order_sent_whichever_way)
{
	uint32_t n = 0;

	rig_limit_queue(1 << 20, 4 << 20);
	peer_open(&one);
	while (n < 1000) {
		ck_assert_int_eq(send_by((int)(n * 7 % 13) % N_WAYS, one.conn, n, 333), RNL_OK);
		if (++n % 10 == 0) {
			peer_read_some(&one, 1000);
			rig_turn();
		}
	}
	RIG_UNTIL((peer_read(&one), sendq_is_empty(&one.conn->out)));
	peer_read(&one);
	peer_expect(&one, 0, n, 333);
	peer_end(&one);
}
END_TEST

START_TEST(a_reservation_may_be_used_in_part)
{
	void *place;

	peer_open(&one);
	ck_assert_int_eq(conn_reserve(one.conn, 1000, &place), RNL_OK);
	fill(place, 3, 10);
	ck_assert_int_eq(conn_commit(one.conn, 3, 10), RNL_OK);
	ck_assert_int_eq(send_filled(one.conn, 4, 10), RNL_OK);
	rig_turn();
	peer_read(&one);
	peer_expect(&one, 3, 2, 10);
	peer_end(&one);
}
END_TEST

START_TEST(a_reservation_that_is_given_up_leaves_nothing_behind)
{
	void *place;

	peer_open(&one);
	ck_assert_int_eq(conn_reserve(one.conn, 1000, &place), RNL_OK);
	rig_turn();
	ck_assert_uint_eq(rig.table->pool.held_bytes, 0);
	ck_assert_int_eq(conn_reserve(one.conn, 10, &place), RNL_OK);
	ck_assert_int_eq(send_by(WAY_SHARED, one.conn, 1, 2000), RNL_OK);
	ck_assert_int_eq(conn_reserve(one.conn, 10, &place), RNL_OK);
	ck_assert_int_eq(conn_reserve(one.conn, 3000, &place), RNL_OK);
	ck_assert_int_eq(send_by(WAY_SEND, one.conn, 2, 2000), RNL_OK);
	ck_assert_uint_eq(one.conn->out.n_messages, 2);
	RIG_UNTIL((peer_read(&one), sendq_is_empty(&one.conn->out)));
	peer_read(&one);
	peer_expect(&one, 1, 2, 2000);
	ck_assert_uint_eq(rig_counter(frames_out), 2);
	peer_end(&one);
}
END_TEST

/* What a broadcast costs beyond its one copy. */
START_TEST(a_shared_message_costs_a_receiver_64_bytes_at_most)
{
	static uint8_t payload[1024];
	static struct peer peers[20];
	struct rnl_shared *shared;
	uint64_t before;

	shared = shared_new(rig.table, 9, payload, sizeof(payload));
	before = rig.table->pool.held_bytes;
	for (int i = 0; i < 20; i++) {
		peer_open(&peers[i]);
		ck_assert_int_eq(conn_send_shared(peers[i].conn, shared), RNL_OK);
	}
	ck_assert_uint_le(rig.table->pool.held_bytes - before, 20 * 64);
	shared_free(shared);
	rig_turn();
	ck_assert_uint_eq(rig.table->pool.held_bytes, 0);
	for (int i = 0; i < 20; i++) {
		peer_read(&peers[i]);
		ck_assert_uint_eq(peers[i].n_got, HEAD + sizeof(payload));
		ck_assert_int_eq(peers[i].got[3], 9);
		peer_end(&peers[i]);
	}
}
END_TEST

TCase *sending_tests(void)
{
	TCase *tcase = tcase_create("sending");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_test(tcase, a_send_copies_one_whole_frame);
	tcase_add_loop_test(tcase, each_way_to_send_gives_the_same_frames, 0, 6);
	tcase_add_test(tcase, a_send_calls_no_hook_and_no_handler_from_inside);
	tcase_add_test(tcase, a_full_queue_refuses_a_frame_whole);
	tcase_add_test(tcase, the_queue_is_bounded_by_messages);
	tcase_add_test(tcase, the_queue_is_bounded_by_bytes_with_bookkeeping);
	tcase_add_test(tcase, all_queues_of_a_worker_are_bounded_together);
	tcase_add_test(tcase, a_queue_is_drained_before_a_send_is_refused);
	tcase_add_test(tcase, what_can_never_fit_is_too_big);
	tcase_add_test(tcase, lengths_that_overflow_are_too_big);
	tcase_add_loop_test(tcase, a_closing_connection_takes_no_more, 0, 2);
	tcase_add_loop_test(tcase, a_closing_connection_is_closed_whatever_is_sent, 0, 2);
	tcase_add_test(tcase, a_drain_goes_on_until_the_kernel_takes_no_more);
	tcase_add_test(tcase, write_interest_is_on_only_while_output_is_blocked);
	tcase_add_test(tcase, a_loop_without_work_sleeps);
	tcase_add_test(tcase, the_replies_to_a_batch_are_drained_right_after_it_and_once);
	tcase_add_test(tcase, what_is_sent_from_elsewhere_leaves_before_the_loop_sleeps);
	tcase_add_test(tcase, the_loop_does_not_sleep_while_somebody_is_on_the_agenda);
	tcase_add_test(tcase, frames_leave_in_the_order_sent_whichever_way);
	tcase_add_test(tcase, a_reservation_may_be_used_in_part);
	tcase_add_test(tcase, a_reservation_that_is_given_up_leaves_nothing_behind);
	tcase_add_test(tcase, a_shared_message_costs_a_receiver_64_bytes_at_most);
	return tcase;
}
