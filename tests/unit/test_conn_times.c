/*
 * Each message is counted once with how long its handlers took, and each reply once,
 * when it is written.
 */
#include "config.h"

#include <string.h>

#include "conn/replies.h"
#include "conn/stopwatch.h"

#include "test_conn.h"
#include "test_conn_rig.h"

#define MS UINT64_C(1000000)

static struct durations durations;
static struct peer peer, other;

static void set_up_durations(void)
{
	memset(&durations, 0, sizeof(durations));
}

static uint64_t n_handled(void)
{
	return durations_count(&rig.table->seat->times.handler);
}

static uint64_t n_replied(void)
{
	return durations_count(&rig.table->seat->times.reply);
}

/* How many took longer than so long. */
static uint64_t n_beyond(const struct durations *counted, uint64_t ns)
{
	uint64_t n = 0;

	for (size_t i = durations_bucket_of(ns) + 1; i < DURATIONS_BUCKETS; i++)
		n += counted->counts[i];
	return n;
}

/* --- the stopwatch by itself, with moments far in the past as its beginnings --- */

/* A batch of n messages that began so long ago. */
static void watch_batch(struct stopwatch *watch, unsigned n, uint64_t ago_ns, bool is_late)
{
	stopwatch_start(watch, clock_ns());
	watch->since_ns = clock_ns() - ago_ns;
	for (unsigned i = 0; i < n; i++)
		stopwatch_lap(watch, is_late && i == n - 1, &durations);
	stopwatch_stop(watch, &durations);
}

START_TEST(every_message_counts_whether_it_is_timed_or_not)
{
	struct stopwatch watch = { 0 };
	unsigned n = 0;

	for (unsigned size = 1; size <= 64; size++) {
		watch_batch(&watch, size, 0, false);
		n += size;
		ck_assert_uint_eq(durations_count(&durations), n);
	}
	watch_batch(&watch, 0, 0, false);
	ck_assert_uint_eq(durations_count(&durations), n);
}
END_TEST

/* Short ones are timed in one batch of eight; those between count as the last timed. */
START_TEST(short_ones_count_as_those_that_are_timed)
{
	struct stopwatch watch = { 0 };

	watch_batch(&watch, 1, 50000, false);
	ck_assert_uint_eq(n_beyond(&durations, 45000), 1);
	for (unsigned i = 1; i < STOPWATCH_BATCHES; i++)
		watch_batch(&watch, 1, 0, false);
	ck_assert_uint_eq(n_beyond(&durations, 45000), STOPWATCH_BATCHES);
	watch_batch(&watch, 1, 0, false);
	ck_assert_uint_eq(n_beyond(&durations, 45000), STOPWATCH_BATCHES);
}
END_TEST

/* 30 ms are 30 ms, between others that are short. */
START_TEST(one_that_is_late_is_timed_by_itself)
{
	struct stopwatch watch = { 0 };

	watch_batch(&watch, 1, 0, false);
	watch_batch(&watch, 5, 30 * MS, true);
	ck_assert_uint_eq(durations_count(&durations), 6);
	ck_assert_uint_eq(n_beyond(&durations, 27 * MS), 1);
	watch_batch(&watch, 5, 0, false);
	ck_assert_uint_eq(n_beyond(&durations, 27 * MS), 1);
}
END_TEST

START_TEST(long_ones_are_each_timed)
{
	struct stopwatch watch = { 0 };

	watch_batch(&watch, 1, 5 * MS, false);
	for (unsigned i = 1; i <= 3; i++) {
		stopwatch_start(&watch, clock_ns());
		for (unsigned k = 1; k <= 3; k++) {
			watch.since_ns = clock_ns() - k * 10 * MS;
			stopwatch_lap(&watch, false, &durations);
		}
		stopwatch_stop(&watch, &durations);
		ck_assert_uint_eq(n_beyond(&durations, 8 * MS), 3 * i);
		ck_assert_uint_eq(n_beyond(&durations, 27 * MS), i);
	}
}
END_TEST

/* --- replies by themselves --- */

START_TEST(replies_count_when_the_last_of_them_is_gone)
{
	struct replies replies = { 0 };
	uint64_t now_ns = clock_ns();

	ck_assert_uint_eq(replies_leave(&replies, 3, 0, &durations), 0);
	/* Two of other origin stand before three replies. */
	replies_join(&replies, 3, now_ns - 50 * MS, 5);
	ck_assert_uint_eq(replies_leave(&replies, 4, 1, &durations), 0);
	ck_assert_uint_eq(durations_count(&durations), 0);
	ck_assert_uint_ge(replies_leave(&replies, 1, 0, &durations), now_ns);
	ck_assert_uint_eq(n_beyond(&durations, 45 * MS), 3);
	ck_assert_uint_eq(durations_count(&durations), 3);
}
END_TEST

/* Two batches while the first is under way: they count with the older of the two moments. */
START_TEST(later_replies_wait_as_one_group)
{
	struct replies replies = { 0 };
	uint64_t now_ns = clock_ns();

	replies_join(&replies, 1, now_ns - 900 * MS, 1);
	replies_join(&replies, 2, now_ns - 300 * MS, 3);
	replies_join(&replies, 4, now_ns, 7);
	replies_leave(&replies, 1, 6, &durations);
	ck_assert_uint_eq(durations_count(&durations), 1);
	ck_assert_uint_eq(n_beyond(&durations, 890 * MS), 1);
	/* What joins now comes behind all of them. */
	replies_join(&replies, 8, now_ns, 14);
	replies_leave(&replies, 5, 9, &durations);
	ck_assert_uint_eq(durations_count(&durations), 1);
	replies_leave(&replies, 1, 8, &durations);
	ck_assert_uint_eq(n_beyond(&durations, 290 * MS), 7);
	replies_leave(&replies, 8, 0, &durations);
	ck_assert_uint_eq(durations_count(&durations), 15);
	ck_assert_uint_eq(n_beyond(&durations, 290 * MS), 7);
	ck_assert_uint_eq(replies.n, 0);
}
END_TEST

START_TEST(all_are_counted_by_the_drain_that_empties_the_queue)
{
	struct replies replies = { 0 };

	replies_join(&replies, 1, clock_ns(), 1);
	replies_join(&replies, 2, clock_ns(), 3);
	replies_leave(&replies, 3, 0, &durations);
	ck_assert_uint_eq(durations_count(&durations), 3);
	ck_assert_uint_eq(replies.n, 0);
}
END_TEST

/* --- on the data path --- */

START_TEST(each_message_and_its_reply_are_counted)
{
	unsigned n = 0;

	peer_open(&peer);
	for (unsigned burst = 1; burst <= 200; burst += 33) {
		peer_send_many(&peer, n, burst, 12);
		n += burst;
		RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == n));
	}
	ck_assert_uint_eq(n_handled(), n);
	ck_assert_uint_eq(n_replied(), n);
	/* Without a handler, and without a reply. */
	peer_send(&peer, RIG_UNKNOWN, 12);
	RIG_UNTIL(rig_counter(unknown_ids) == 1);
	ck_assert_uint_eq(n_handled(), n);
	ck_assert_uint_eq(n_replied(), n);
	peer_end(&peer);
}
END_TEST

static enum rnl_verdict pass_on(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	if (conn == peer.conn)
		conn_send(other.conn, msg->id, msg->payload, msg->len);
	return RNL_DONE;
}

/* It was handled, but what another connection is sent is no reply to anything on that. */
START_TEST(what_goes_elsewhere_is_no_reply)
{
	rig.handle = pass_on;
	peer_open(&peer);
	peer_open(&other);
	peer_send(&peer, 1, 12);
	RIG_UNTIL(rig_counter(frames_out) == 1 && sendq_is_empty(&other.conn->out));
	ck_assert_uint_eq(n_handled(), 1);
	ck_assert_uint_eq(n_replied(), 0);
	peer_end(&peer);
	peer_end(&other);
}
END_TEST

/* The read that completes a message is the second one; what came before it counts for nothing. */
START_TEST(a_reply_waits_for_its_peer_and_counts_then)
{
	uint64_t since_ms;
	unsigned n;

	peer_open(&peer);
	n = send_until_blocked(peer.conn, 1, 512);
	peer_send(&peer, n + 1, 12);
	RIG_UNTIL(n_handled() == 1);
	since_ms = clock_ms();
	RIG_UNTIL(clock_ms() > since_ms + 20);
	ck_assert_uint_eq(n_replied(), 0);
	RIG_UNTIL((peer_read(&peer), sendq_is_empty(&peer.conn->out)));
	ck_assert_uint_eq(n_replied(), 1);
	ck_assert_uint_eq(n_beyond(&rig.table->seat->times.reply, 17 * MS), 1);
	peer_end(&peer);
}
END_TEST

/* The queue has no room for a second reply, so the first is written before the turn is over. */
START_TEST(a_reply_that_is_written_within_its_batch_is_counted)
{
	uint8_t bytes[HEAD + 1] = { 0 };

	rig_limit_queue(1, 4096);
	peer_open(&peer);
	/* A message without payload, and the first byte of another. */
	peer_write(&peer, bytes, sizeof(bytes));
	RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == 1));
	ck_assert(sendq_is_empty(&peer.conn->out));
	ck_assert_uint_eq(n_replied(), 1);
	peer_end(&peer);
}
END_TEST

static enum rnl_verdict take_long(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	uint64_t end_ns = clock_ns() + 20 * MS;

	while (msg->id == 7 && clock_ns() < end_ns)
		;
	return rig_echo(conn, msg);
}

/* One of sixteen that come together. */
START_TEST(a_slow_handler_shows_in_both)
{
	rig.handle = take_long;
	peer_open(&peer);
	peer_send_many(&peer, 1, 16, 12);
	RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == 16));
	ck_assert_uint_eq(n_handled(), 16);
	ck_assert_uint_ge(n_beyond(&rig.table->seat->times.handler, 15 * MS), 1);
	ck_assert_uint_eq(n_replied(), 16);
	/* They were read together, and their replies are written together. */
	ck_assert_uint_ge(n_beyond(&rig.table->seat->times.reply, 17 * MS), 10);
	peer_end(&peer);
}
END_TEST

TCase *times_tests(void)
{
	TCase *tcase = tcase_create("times");

	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_checked_fixture(tcase, set_up_durations, NULL);
	tcase_add_test(tcase, every_message_counts_whether_it_is_timed_or_not);
	tcase_add_test(tcase, short_ones_count_as_those_that_are_timed);
	tcase_add_test(tcase, one_that_is_late_is_timed_by_itself);
	tcase_add_test(tcase, long_ones_are_each_timed);
	tcase_add_test(tcase, replies_count_when_the_last_of_them_is_gone);
	tcase_add_test(tcase, later_replies_wait_as_one_group);
	tcase_add_test(tcase, all_are_counted_by_the_drain_that_empties_the_queue);
	tcase_add_test(tcase, each_message_and_its_reply_are_counted);
	tcase_add_test(tcase, what_goes_elsewhere_is_no_reply);
	tcase_add_test(tcase, a_reply_waits_for_its_peer_and_counts_then);
	tcase_add_test(tcase, a_reply_that_is_written_within_its_batch_is_counted);
	tcase_add_test(tcase, a_slow_handler_shows_in_both);
	return tcase;
}
