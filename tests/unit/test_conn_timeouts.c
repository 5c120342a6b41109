/*
 * send-timeout, frame-timeout, idle-timeout: each acts in time, and none before.
 */
#include "config.h"

#include <sys/socket.h>

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one;

#define LEN 1000
/* Four fifths of it are what a busy machine may take between two signs of life. */
#define TIMEOUT_MS 1000

/* Wait for the end, which may not come before TIMEOUT_MS from a moment. */
static void expect_end_after(uint64_t start_ms)
{
	RIG_UNTIL(rig.n_closed == 1);
	ck_assert_uint_ge(clock_ms() - start_ms, TIMEOUT_MS);
}

/* _i: when-full. */
START_TEST(send_timeout_ends_a_peer_that_takes_nothing)
{
	uint64_t start_ms;

	rig.settings.when_full = (enum when_full)_i;
	rig.settings.send_timeout_ms = TIMEOUT_MS;
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	start_ms = rig.table->now_ms;
	send_until_blocked(one.conn, 0, LEN);
	if (_i != WHEN_FULL_CLOSE)
		send_until_refused(one.conn, 0, LEN);
	expect_end_after(start_ms);
	ck_assert_uint_eq(rig.table->n_conns, 0);
	ck_assert_uint_eq(rig_closed(send_timeout), 1);
	peer_end(&one);
}
END_TEST

START_TEST(send_timeout_ends_a_connection_that_cannot_be_flushed)
{
	uint64_t start_ms;

	rig.settings.send_timeout_ms = TIMEOUT_MS;
	peer_open(&one);
	start_ms = rig.table->now_ms;
	send_until_blocked(one.conn, 0, LEN);
	conn_close(one.conn, CLOSE_REASON_handler);
	expect_end_after(start_ms);
	ck_assert_uint_eq(rig_closed(send_timeout), 1);
	peer_end(&one);
}
END_TEST

START_TEST(any_progress_postpones_the_send_timeout)
{
	uint64_t start_ms, read_ms;

	rig.settings.send_timeout_ms = TIMEOUT_MS;
	rig_limit_queue(1000, 1 << 20);
	peer_open(&one);
	send_until_blocked(one.conn, 0, LEN);
	while (one.conn->out.n_messages < 500)
		ck_assert_int_eq(send_filled(one.conn, 0, LEN), RNL_OK);
	start_ms = read_ms = rig.table->now_ms;
	while (clock_ms() - start_ms < 2 * TIMEOUT_MS) {
		if (clock_ms() - read_ms >= TIMEOUT_MS / 5) {
			peer_read(&one);
			read_ms = rig.table->now_ms;
		}
		rig_wait();
		ck_assert_uint_eq(rig.n_closed, 0);
	}
	ck_assert(one.conn->is_blocked);
	expect_end_after(read_ms);
	peer_end(&one);
}
END_TEST

/* What was written is not waited for. */
START_TEST(send_timeout_does_not_touch_an_empty_queue)
{
	rig.settings.send_timeout_ms = 100;
	peer_open(&one);
	send_until_blocked(one.conn, 0, LEN);
	RIG_UNTIL((peer_read(&one), sendq_is_empty(&one.conn->out)));
	RIG_FOR_MS(400, rig.n_closed == 0);
	peer_end(&one);
}
END_TEST

START_TEST(trickling_bytes_does_not_extend_the_frame_timeout)
{
	static const uint8_t frame[HEAD + 200] = { [7] = 200 };
	uint64_t start_ms;
	size_t n_sent = 0;

	rig.settings.frame_timeout_ms = TIMEOUT_MS;
	peer_open(&one);
	start_ms = rig.table->now_ms;
	while (rig.n_closed == 0) {
		if ((clock_ms() - start_ms) / 10 >= n_sent) {
			ck_assert_uint_lt(n_sent, sizeof(frame));
			send(one.fd, frame + n_sent++, 1, MSG_NOSIGNAL);
		}
		rig_wait();
	}
	ck_assert_uint_ge(clock_ms() - start_ms, TIMEOUT_MS);
	ck_assert_uint_eq(rig_closed(frame_timeout), 1);
	ck_assert_uint_eq(rig.n_handled, 0);
	peer_end(&one);
}
END_TEST

/* Each frame has its own time, though there is always one begun. */
START_TEST(frame_timeout_is_counted_from_each_frames_start)
{
	static const uint8_t frame[HEAD + 4] = { [7] = 4 };
	uint64_t start_ms = rig.table->now_ms;

	rig.settings.frame_timeout_ms = TIMEOUT_MS;
	peer_open(&one);
	peer_write(&one, frame, 4);
	for (unsigned n = 0; clock_ms() - start_ms < 2 * TIMEOUT_MS;) {
		if (clock_ms() - start_ms >= (n + 1) * TIMEOUT_MS / 5) {
			peer_write(&one, frame + 4, HEAD);
			peer_write(&one, frame, 4);
			n++;
		}
		rig_wait();
		ck_assert_uint_eq(rig.n_closed, 0);
	}
	peer_end(&one);
}
END_TEST

/* Between frames nothing is late. */
START_TEST(frame_timeout_does_not_touch_a_connection_without_a_frame)
{
	rig.settings.frame_timeout_ms = 100;
	peer_open(&one);
	peer_send(&one, 1, LEN);
	RIG_FOR_MS(400, rig.n_closed == 0);
	peer_end(&one);
}
END_TEST

/*
 * A connection that is paused is not read: the rest of its frame is late because
 * of us. It has its time again from when it is resumed.
 */
START_TEST(a_frame_that_is_not_read_on_is_not_late)
{
	static const uint8_t frame[HEAD + 4] = { [7] = 4 };

	rig.settings.frame_timeout_ms = TIMEOUT_MS;
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	peer_write(&one, frame, 4);
	RIG_UNTIL(one.conn->is_in_frame);
	send_until_blocked(one.conn, 0, LEN);
	send_until_refused(one.conn, 0, LEN);
	RIG_FOR_MS(2 * TIMEOUT_MS, rig.n_closed == 0);
	RIG_UNTIL((peer_read(&one), !one.conn->is_paused));
	RIG_FOR_MS(TIMEOUT_MS / 2, rig.n_closed == 0);
	peer_write(&one, frame + 4, HEAD);
	RIG_UNTIL(rig.n_handled == 1);
	peer_end(&one);
}
END_TEST

START_TEST(idle_timeout_ends_a_connection_without_traffic)
{
	uint64_t start_ms;

	rig.settings.idle_timeout_ms = TIMEOUT_MS;
	peer_open(&one);
	peer_send(&one, 1, LEN);
	start_ms = rig.table->now_ms;
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_uint_ge(clock_ms() - start_ms, TIMEOUT_MS);
	ck_assert_int_eq(one.end, 0);
	peer_expect(&one, 1, 1, LEN);
	ck_assert_uint_eq(rig_closed(idle), 1);
	peer_end(&one);
}
END_TEST

START_TEST(traffic_postpones_the_idle_timeout)
{
	uint64_t start_ms = rig.table->now_ms, sent_ms = start_ms;

	rig.settings.idle_timeout_ms = TIMEOUT_MS;
	peer_open(&one);
	while (clock_ms() - start_ms < 2 * TIMEOUT_MS) {
		if (clock_ms() - sent_ms >= TIMEOUT_MS / 5) {
			peer_send(&one, 1, LEN);
			sent_ms = clock_ms();
		}
		rig_wait();
		ck_assert_uint_eq(rig.n_closed, 0);
	}
	peer_end(&one);
}
END_TEST

TCase *timeouts_tests(void)
{
	TCase *tcase = tcase_create("timeouts");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_loop_test(tcase, send_timeout_ends_a_peer_that_takes_nothing, WHEN_FULL_PAUSE,
	    WHEN_FULL_CLOSE + 1);
	tcase_add_test(tcase, send_timeout_ends_a_connection_that_cannot_be_flushed);
	tcase_add_test(tcase, any_progress_postpones_the_send_timeout);
	tcase_add_test(tcase, send_timeout_does_not_touch_an_empty_queue);
	tcase_add_test(tcase, trickling_bytes_does_not_extend_the_frame_timeout);
	tcase_add_test(tcase, frame_timeout_is_counted_from_each_frames_start);
	tcase_add_test(tcase, frame_timeout_does_not_touch_a_connection_without_a_frame);
	tcase_add_test(tcase, a_frame_that_is_not_read_on_is_not_late);
	tcase_add_test(tcase, idle_timeout_ends_a_connection_without_traffic);
	tcase_add_test(tcase, traffic_postpones_the_idle_timeout);
	return tcase;
}
