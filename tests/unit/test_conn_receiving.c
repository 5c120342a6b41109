/*
 * Lengths, splits, memory, the budget of a turn, unknown ids.
 */
#include "config.h"

#include <malloc.h>
#include <string.h>

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one, two;

#define LEN 100

/* A header, of which the payload may be missing. */
static void put_head(uint8_t *at, uint32_t id, uint32_t len)
{
	const uint8_t head[HEAD] = { (uint8_t)(id >> 24), (uint8_t)(id >> 16),
		(uint8_t)(id >> 8), (uint8_t)id, (uint8_t)(len >> 24), (uint8_t)(len >> 16),
		(uint8_t)(len >> 8), (uint8_t)len };

	memcpy(at, head, HEAD);
}

START_TEST(a_frame_of_max_message_is_served)
{
	peer_open(&one);
	peer_send(&one, 1, rig.settings.max_message);
	RIG_UNTIL((peer_read(&one), peer_n_frames(&one) == 1));
	peer_expect(&one, 1, 1, rig.settings.max_message);
	peer_end(&one);
}
END_TEST

/* _i: longer by one, and as long as a length can be. The frame behind it is not looked at. */
START_TEST(a_longer_one_closes_after_the_replies_to_those_before)
{
	uint8_t bytes[2 * HEAD];

	put_head(bytes, 3, _i == 0 ? rig.settings.max_message + 1 : UINT32_MAX);
	put_head(bytes + HEAD, 4, 0);
	peer_open_tcp(&one);
	peer_send_many(&one, 1, 2, LEN);
	peer_write(&one, bytes, sizeof(bytes));
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_int_eq(one.end, 0);
	peer_expect(&one, 1, 2, LEN);
	ck_assert_uint_eq(rig_counter(oversize), 1);
	ck_assert_uint_eq(rig_closed(protocol), 1);
	peer_end(&one);
}
END_TEST

START_TEST(frames_that_are_too_long_are_logged_once_a_second)
{
	uint8_t head[HEAD];

	put_head(head, 3, 1u << 30);
	for (int i = 0; i < 10; i++) {
		peer_open(&one);
		peer_write(&one, head, sizeof(head));
		RIG_UNTIL(peer_has_end(&one));
		peer_end(&one);
	}
	ck_assert_uint_eq(rig_counter(oversize), 10);
	ck_assert_uint_eq(rig_n_logged("longer than max-message"), 1);
	ck_assert_uint_eq(rig_n_logged("id 3, length 1073741824, max-message 4096"), 1);
}
END_TEST

static size_t input_memory(const struct peer *peer)
{
	return input_is_empty(&peer->conn->in) ? 0
					       : malloc_usable_size(peer->conn->in.leftover);
}

START_TEST(an_announced_length_reserves_no_memory)
{
	static uint8_t bytes[100000];
	size_t n_sent = 0;

	rig.settings.max_message = 64 << 20;
	put_head(bytes, 1, 64 << 20);
	peer_open(&one);
	while (n_sent < sizeof(bytes)) {
		peer_write(&one, bytes + n_sent, 1000);
		n_sent += 1000;
		RIG_UNTIL(input_view(&one.conn->in).len == n_sent);
		/* Large pieces come in pages. */
		ck_assert_uint_lt(input_memory(&one), 2 * n_sent + 4096 + 200);
	}
	peer_end(&one);
}
END_TEST

/* _i: the pieces' size. */
START_TEST(any_split_gives_the_same_frames)
{
	static uint8_t bytes[20 * (HEAD + LEN)];
	const size_t size = (size_t)_i;
	unsigned n_read = 0;

	for (uint32_t i = 0; i < 20; i++) {
		put_head(bytes + i * (HEAD + LEN), i, LEN);
		fill(bytes + i * (HEAD + LEN) + HEAD, i, LEN);
	}
	peer_open(&one);
	for (size_t at = 0; at < sizeof(bytes); at += size) {
		size_t left = sizeof(bytes) - at;

		peer_write(&one, bytes + at, left < size ? left : size);
		rig_turn();
		peer_read(&one);
		/* Each reply comes with the last byte of its request. */
		ck_assert_uint_ge(peer_n_frames(&one), n_read);
		n_read = peer_n_frames(&one);
		if (at + size <= sizeof(bytes))
			ck_assert_uint_eq(n_read, (at + size) / (HEAD + LEN));
	}
	peer_expect(&one, 0, 20, LEN);
	peer_end(&one);
}
END_TEST

START_TEST(input_memory_is_held_only_while_a_frame_is_incomplete)
{
	uint8_t frame[HEAD + LEN];

	put_head(frame, 7, LEN);
	fill(frame + HEAD, 7, LEN);
	peer_open(&one);
	ck_assert_uint_eq(input_memory(&one), 0);
	peer_send_many(&one, 0, 3, LEN);
	peer_write(&one, frame, 50);
	RIG_UNTIL(input_view(&one.conn->in).len == 50);
	ck_assert_uint_lt(input_memory(&one), 200);
	peer_write(&one, frame + 50, sizeof(frame) - 50);
	RIG_UNTIL(rig.n_handled == 4);
	ck_assert_uint_eq(input_memory(&one), 0);
	peer_end(&one);
}
END_TEST

START_TEST(output_memory_is_held_only_while_something_is_queued)
{
	peer_open(&one);
	send_until_blocked(one.conn, 0, 1000);
	ck_assert_uint_gt(rig.table->pool.held_bytes, 0);
	RIG_UNTIL((peer_read(&one), sendq_is_empty(&one.conn->out)));
	ck_assert_uint_eq(one.conn->out.held_bytes, 0);
	ck_assert_uint_eq(rig.table->pool.held_bytes, 0);
	peer_end(&one);
}
END_TEST

static unsigned n_of_one, n_most;

/* How many frames of one are served between two of the other. */
static enum rnl_verdict count_between(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)msg;
	if (conn == one.conn)
		n_of_one++;
	else
		n_of_one = 0;
	n_most = n_of_one > n_most ? n_of_one : n_most;
	return RNL_DONE;
}

/*
 * One sends many frames at once; the other asks again and again and waits for a
 * turn of the loop only.
 */
START_TEST(a_turn_serves_64_frames_and_then_others_have_theirs)
{
	rig.handle = count_between;
	n_of_one = n_most = 0;
	peer_open(&one);
	peer_open(&two);
	peer_send_many(&one, 0, 1000, 4);
	while (rig.n_handled < 1000) {
		peer_send(&two, 0, 4);
		rig_turn();
	}
	/* Reading and the agenda may each give one turn between two of the other's. */
	ck_assert_uint_ge(n_most, CONN_TURN_FRAMES);
	ck_assert_uint_le(n_most, 2 * CONN_TURN_FRAMES);
	peer_end(&one);
	peer_end(&two);
}
END_TEST

static size_t n_bytes, n_bytes_most;
static unsigned last_turn;

static enum rnl_verdict count_bytes(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)conn;
	if (ev_iteration(rig.loop) != last_turn)
		n_bytes = 0;
	last_turn = ev_iteration(rig.loop);
	n_bytes += HEAD + msg->len;
	n_bytes_most = n_bytes > n_bytes_most ? n_bytes : n_bytes_most;
	return RNL_DONE;
}

START_TEST(a_turn_serves_64_kib)
{
	const size_t len = 10000;

	rig.settings.max_message = 10000;
	rig.handle = count_bytes;
	n_bytes_most = 0;
	/* A stream that holds more than a turn's worth. */
	peer_open_tcp(&one);
	peer_send_many(&one, 0, 100, len);
	RIG_UNTIL(rig.n_handled == 100);
	ck_assert_uint_gt(n_bytes_most, CONN_TURN_BYTES / 2);
	/* Twice, for reading and the agenda; the last frame is served whole. */
	ck_assert_uint_le(n_bytes_most, 2 * (CONN_TURN_BYTES + HEAD + len));
	peer_end(&one);
}
END_TEST

#define N_AT_ONCE (10 * CONN_TURN_FRAMES)

static enum rnl_verdict echo_until_all(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	if (rig.n_handled == N_AT_ONCE)
		ev_break(rig.loop, EVBREAK_ALL);
	return rig_echo(conn, msg);
}

static void end_run(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)timer;
	(void)revents;
	ev_break(loop, EVBREAK_ALL);
}

/* Nothing more comes from the peer, so epoll has nothing to say. */
START_TEST(what_a_budget_left_over_is_served_without_new_input)
{
	ev_timer guard;

	peer_open_tcp(&one);
	rig.handle = echo_until_all;
	peer_send_many(&one, 0, N_AT_ONCE, 4);
	ev_timer_init(&guard, end_run, 5., 0.);
	ev_timer_start(rig.loop, &guard);
	ev_run(rig.loop, 0);
	ck_assert_uint_eq(rig.n_handled, N_AT_ONCE);
	ev_timer_stop(rig.loop, &guard);
	RIG_UNTIL((peer_read(&one), peer_n_frames(&one) == N_AT_ONCE));
	peer_expect(&one, 0, N_AT_ONCE, 4);
	peer_end(&one);
}
END_TEST

START_TEST(an_unknown_id_is_counted_and_ignored)
{
	peer_open(&one);
	peer_send_many(&one, RIG_UNKNOWN, 1, LEN);
	peer_send(&one, 1, LEN);
	RIG_UNTIL((peer_read(&one), peer_n_frames(&one) == 1));
	peer_expect(&one, 1, 1, LEN);
	ck_assert_uint_eq(rig_counter(unknown_ids), 1);
	ck_assert_uint_eq(rig_counter(frames_in), 2);
	peer_end(&one);
}
END_TEST

START_TEST(an_unknown_id_closes_after_the_replies_to_those_before)
{
	rig.settings.unknown_message = UNKNOWN_CLOSE;
	peer_open(&one);
	peer_send(&one, 1, LEN);
	peer_send(&one, RIG_UNKNOWN, LEN);
	peer_send(&one, 2, LEN);
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 1, 1, LEN);
	ck_assert_uint_eq(rig_counter(unknown_ids), 1);
	ck_assert_uint_eq(rig_closed(protocol), 1);
	ck_assert_uint_eq(rig_n_logged("no handler"), 1);
	peer_end(&one);
}
END_TEST

TCase *receiving_tests(void)
{
	TCase *tcase = tcase_create("receiving");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_test(tcase, a_frame_of_max_message_is_served);
	tcase_add_loop_test(tcase, a_longer_one_closes_after_the_replies_to_those_before, 0, 2);
	tcase_add_test(tcase, frames_that_are_too_long_are_logged_once_a_second);
	tcase_add_test(tcase, an_announced_length_reserves_no_memory);
	tcase_add_loop_test(tcase, any_split_gives_the_same_frames, 1, HEAD + LEN + 2);
	tcase_add_test(tcase, input_memory_is_held_only_while_a_frame_is_incomplete);
	tcase_add_test(tcase, output_memory_is_held_only_while_something_is_queued);
	tcase_add_test(tcase, a_turn_serves_64_frames_and_then_others_have_theirs);
	tcase_add_test(tcase, a_turn_serves_64_kib);
	tcase_add_test(tcase, what_a_budget_left_over_is_served_without_new_input);
	tcase_add_test(tcase, an_unknown_id_is_counted_and_ignored);
	tcase_add_test(tcase, an_unknown_id_closes_after_the_replies_to_those_before);
	return tcase;
}
