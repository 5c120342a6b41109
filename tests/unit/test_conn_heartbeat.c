/*
 * Heartbeats: sent in time, by us or by a module; and what becomes of a peer that
 * is silent.
 */
#include "config.h"

#include "test_conn.h"
#include "test_conn_rig.h"

#define INTERVAL_MS 200
#define TIMEOUT_MS 800
#define ID 99999
#define LEN 1000

static struct peer one;

/* What hooks do, and how often they were called. */
static enum rnl_verdict verdict;
static unsigned n_asked;
static uint32_t silent_ms;

static void set_up(void)
{
	rig_set_up();
	rig.settings.heartbeat_id = ID;
	n_asked = 0;
}

static void expect_beats(const struct peer *peer, unsigned n, size_t expected_len)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t id;
		size_t len;

		peer_frame(peer, i, &id, &len);
		ck_assert_uint_eq(id, ID);
		ck_assert_uint_eq(len, expected_len);
	}
}

START_TEST(heartbeats_are_sent_at_their_interval)
{
	uint64_t start_ms;

	rig.settings.heartbeat_interval_ms = INTERVAL_MS;
	peer_open(&one);
	start_ms = rig.table->now_ms;
	RIG_UNTIL((peer_read(&one), peer_n_frames(&one) == 3));
	ck_assert_uint_ge(clock_ms() - start_ms, 3 * INTERVAL_MS);
	expect_beats(&one, 3, 0);
	ck_assert_uint_eq(rig_counter(frames_out), 3);
	peer_end(&one);
}
END_TEST

/* A peer counts on hearing them, whatever else it hears. */
START_TEST(traffic_does_not_postpone_heartbeats)
{
	uint64_t sent_ms = rig.table->now_ms;
	unsigned n_sent = 0;

	rig.settings.heartbeat_interval_ms = INTERVAL_MS;
	peer_open(&one);
	while (peer_n_frames(&one) < n_sent + 3) {
		if (clock_ms() - sent_ms >= INTERVAL_MS / 4) {
			peer_send(&one, 1, LEN);
			sent_ms = clock_ms();
			n_sent++;
		}
		RIG_UNTIL((peer_read(&one), peer_n_frames(&one) >= n_sent));
	}
	peer_end(&one);
}
END_TEST

START_TEST(no_interval_no_heartbeat)
{
	rig.settings.heartbeat_timeout_ms = 60000;
	peer_open(&one);
	RIG_FOR_MS(2 * INTERVAL_MS, (peer_read(&one), one.n_got == 0));
	peer_end(&one);
}
END_TEST

static enum rnl_verdict make_beat(struct rnl_conn *conn, uint32_t id)
{
	ck_assert_uint_eq(id, ID);
	n_asked++;
	if (verdict == RNL_DONE)
		ck_assert_int_eq(send_filled(conn, id, 12), RNL_OK);
	return verdict;
}

/* _i: the hook's verdict. */
START_TEST(a_module_may_make_the_heartbeat)
{
	verdict = (enum rnl_verdict)_i;
	rig.module.heartbeat = make_beat;
	rig.settings.heartbeat_interval_ms = INTERVAL_MS;
	peer_open(&one);
	RIG_UNTIL((peer_read(&one), peer_n_frames(&one) == 2 || one.is_over));
	if (verdict == RNL_CLOSE || verdict == RNL_ABORT) {
		ck_assert_uint_eq(one.n_got, 0);
		ck_assert_uint_eq(rig_closed(handler), 1);
		ck_assert_uint_eq(n_asked, 1);
	} else {
		expect_beats(&one, 2, verdict == RNL_DONE ? 12 : 0);
		ck_assert_uint_eq(n_asked, 2);
	}
	peer_end(&one);
}
END_TEST

/* Nothing is refused for it, and so nothing is closed for it. */
START_TEST(no_heartbeat_joins_output_that_waits)
{
	rig.settings.when_full = WHEN_FULL_CLOSE;
	rig.settings.heartbeat_interval_ms = INTERVAL_MS;
	peer_open(&one);
	rig_limit_queue(send_until_blocked(one.conn, 1, LEN), 1 << 20);
	while (one.conn->out.n_messages < rig.listener.limits.max_messages)
		ck_assert_int_eq(send_filled(one.conn, 1, LEN), RNL_OK);
	RIG_FOR_MS(3 * INTERVAL_MS, rig.n_closed == 0 && one.conn->is_blocked);
	ck_assert_uint_eq(rig_counter(sends_refused), 0);
	RIG_UNTIL((peer_read(&one), sendq_is_empty(&one.conn->out)));
	RIG_UNTIL((peer_read(&one), one.n_got % (HEAD + LEN) == HEAD));
	peer_end(&one);
}
END_TEST

START_TEST(a_silent_peer_is_closed)
{
	uint64_t start_ms;

	rig.settings.heartbeat_timeout_ms = TIMEOUT_MS;
	rig.settings.heartbeat_interval_ms = INTERVAL_MS;
	peer_open(&one);
	start_ms = rig.table->now_ms;
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_uint_ge(clock_ms() - start_ms, TIMEOUT_MS);
	ck_assert_int_eq(one.end, 0);
	/* What is sent to it is no sign of life of its own. */
	ck_assert_uint_ge(peer_n_frames(&one), 2);
	ck_assert_uint_eq(rig_closed(heartbeat), 1);
	peer_end(&one);
}
END_TEST

/* Let it be a time after the peer was heard. */
static void expire_after(uint32_t ms)
{
	rig.table->now_ms += ms - ((uint32_t)rig.table->now_ms - one.conn->heard_ms);
	conn_expire(one.conn);
}

/* Their handler need not exist: they are not unknown. */
START_TEST(heartbeats_of_the_peer_keep_it_open)
{
	static const uint8_t beat[HEAD] = { 0xff, 0xff, 0xff, 0xff };
	const uint32_t timeout_ms = 60000;

	rig.settings.heartbeat_timeout_ms = timeout_ms;
	rig.settings.heartbeat_id = RIG_UNKNOWN;
	rig.settings.unknown_message = UNKNOWN_CLOSE;
	peer_open(&one);
	for (unsigned n = 1; n <= 3; n++) {
		expire_after(timeout_ms - 1);
		ck_assert_uint_eq(rig.n_closed, 0);
		peer_write(&one, beat, HEAD);
		RIG_UNTIL(rig_counter(frames_in) == n);
		ck_assert_uint_eq(one.conn->heard_ms, (uint32_t)rig.table->now_ms);
	}
	ck_assert_uint_eq(rig_counter(unknown_ids), 0);
	expire_after(timeout_ms);
	ck_assert_uint_eq(rig.n_closed, 1);
	ck_assert_uint_eq(rig_closed(heartbeat), 1);
	peer_end(&one);
}
END_TEST

/* Without heartbeats its id is one like others. */
START_TEST(the_id_is_unknown_where_there_are_no_heartbeats)
{
	rig.settings.heartbeat_id = RIG_UNKNOWN;
	peer_open(&one);
	peer_send(&one, RIG_UNKNOWN, 0);
	RIG_UNTIL(rig_counter(unknown_ids) == 1);
	peer_end(&one);
}
END_TEST

static enum rnl_verdict judge(struct rnl_conn *conn, uint32_t ms)
{
	(void)conn;
	n_asked++;
	silent_ms = ms;
	return verdict;
}

/* _i: the hook's verdict. */
START_TEST(a_module_may_decide_about_a_silent_peer)
{
	verdict = (enum rnl_verdict)_i;
	rig.module.silent = judge;
	rig.settings.heartbeat_timeout_ms = TIMEOUT_MS;
	peer_open(&one);
	RIG_UNTIL(n_asked == 1);
	ck_assert_uint_ge(silent_ms, TIMEOUT_MS);
	if (verdict == RNL_DONE) {
		RIG_UNTIL(n_asked == 2);
		ck_assert_uint_ge(silent_ms, TIMEOUT_MS);
		ck_assert_uint_eq(rig.n_closed, 0);
	} else {
		RIG_UNTIL(rig.n_closed == 1);
		ck_assert_uint_eq(n_asked, 1);
		ck_assert_uint_eq(rig_closed(heartbeat), 1);
	}
	peer_end(&one);
}
END_TEST

/* We do not read it, so we do not know. */
START_TEST(a_paused_peer_is_not_silent)
{
	rig.settings.heartbeat_timeout_ms = TIMEOUT_MS;
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	send_until_blocked(one.conn, 0, LEN);
	send_until_refused(one.conn, 0, LEN);
	ck_assert(one.conn->is_paused);
	RIG_FOR_MS(3 * TIMEOUT_MS, rig.n_closed == 0);
	RIG_UNTIL((peer_read(&one), !one.conn->is_paused));
	ck_assert_uint_eq(one.conn->heard_ms, (uint32_t)rig.table->now_ms);
	RIG_UNTIL(rig.n_closed == 1);
	ck_assert_uint_eq(rig_closed(heartbeat), 1);
	peer_end(&one);
}
END_TEST

/* The worker was held up; what the peer sent meanwhile is in the socket. */
START_TEST(what_came_unread_counts_as_heard)
{
	rig.settings.heartbeat_timeout_ms = TIMEOUT_MS;
	peer_open(&one);
	peer_send(&one, 1, LEN);
	rig.table->now_ms += 10 * TIMEOUT_MS;
	conn_expire(one.conn);
	ck_assert_uint_eq(rig.n_handled, 1);
	ck_assert_int_eq(one.conn->state, CONN_OPEN);
	ck_assert_uint_eq(one.conn->heard_ms, (uint32_t)rig.table->now_ms);
	peer_end(&one);
}
END_TEST

TCase *heartbeat_tests(void)
{
	TCase *tcase = tcase_create("heartbeat");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, rig_tear_down);
	tcase_add_test(tcase, heartbeats_are_sent_at_their_interval);
	tcase_add_test(tcase, traffic_does_not_postpone_heartbeats);
	tcase_add_test(tcase, no_interval_no_heartbeat);
	tcase_add_loop_test(tcase, a_module_may_make_the_heartbeat, RNL_NEXT, RNL_ABORT + 1);
	tcase_add_test(tcase, no_heartbeat_joins_output_that_waits);
	tcase_add_test(tcase, a_silent_peer_is_closed);
	tcase_add_test(tcase, heartbeats_of_the_peer_keep_it_open);
	tcase_add_test(tcase, the_id_is_unknown_where_there_are_no_heartbeats);
	tcase_add_loop_test(
	    tcase, a_module_may_decide_about_a_silent_peer, RNL_NEXT, RNL_ABORT + 1);
	tcase_add_test(tcase, a_paused_peer_is_not_silent);
	tcase_add_test(tcase, what_came_unread_counts_as_heard);
	return tcase;
}
