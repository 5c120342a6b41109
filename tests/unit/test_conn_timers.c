/*
 * Timers: when they call, how often, and when no more.
 */
#include "config.h"

#include <string.h>

#include "conn/timers.h"

#include "test_conn.h"
#include "test_conn_rig.h"

#define AFTER_MS 100
#define EVERY_MS 20

static struct peer one, two;

/* What a call was told, and how often it came. */
static struct {
	struct rnl_timer *timer;
	struct rnl_conn *conn;
	unsigned n, stop_at;
	uint64_t first_ms;
} seen;

static void on_time(struct rnl_timer *timer, struct rnl_conn *conn, void *arg)
{
	ck_assert_ptr_eq(arg, &seen);
	ck_assert_ptr_eq(timer, seen.timer);
	ck_assert_ptr_eq(conn, seen.conn);
	if (seen.n++ == 0)
		seen.first_ms = rig.table->now_ms;
	if (seen.n == seen.stop_at)
		timer_stop(timer);
}

static void start(uint32_t after_ms, uint32_t every_ms)
{
	seen.timer = timer_start(rig.table, 0, after_ms, every_ms, on_time, &seen);
	ck_assert_ptr_nonnull(seen.timer);
}

static void start_for(struct rnl_conn *conn, uint32_t after_ms, uint32_t every_ms)
{
	seen.conn = conn;
	seen.timer = timer_start_for(conn, 0, after_ms, every_ms, on_time, &seen);
	ck_assert_ptr_nonnull(seen.timer);
}

static void set_up(void)
{
	rig_set_up();
	memset(&seen, 0, sizeof(seen));
}

/* _i: the module's own, or a connection's. */
static void start_either(int i, uint32_t after_ms, uint32_t every_ms)
{
	if (i == 0)
		start(after_ms, every_ms);
	else
		start_for(peer_open(&one)->conn, after_ms, every_ms);
}

START_TEST(a_timer_calls_once_and_not_early)
{
	uint64_t start_ms;

	rig_turn();
	start_ms = rig.table->now_ms;
	start_either(_i, AFTER_MS, 0);
	RIG_UNTIL(seen.n == 1);
	/* libev's clock and ours are read one after the other. */
	ck_assert_uint_ge(seen.first_ms + 1, start_ms + AFTER_MS);
	RIG_FOR_MS(2 * AFTER_MS, seen.n == 1);
	ck_assert(list_is_empty(&rig.table->timers));
	peer_end(&one);
}
END_TEST

START_TEST(a_repeating_timer_goes_on_until_it_is_stopped)
{
	start_either(_i, EVERY_MS, EVERY_MS);
	RIG_UNTIL(seen.n == 5);
	timer_stop(seen.timer);
	RIG_FOR_MS(5 * EVERY_MS, seen.n == 5);
	peer_end(&one);
}
END_TEST

START_TEST(a_timer_may_be_stopped_by_its_own_call)
{
	seen.stop_at = _i == 0 ? 3 : 1;
	start_either(_i, EVERY_MS, _i == 0 ? EVERY_MS : 0);
	RIG_UNTIL(seen.n == seen.stop_at);
	RIG_FOR_MS(5 * EVERY_MS, seen.n == seen.stop_at);
	peer_end(&one);
}
END_TEST

START_TEST(a_timer_that_was_stopped_in_time_does_not_call)
{
	start_either(_i, EVERY_MS, 0);
	timer_stop(seen.timer);
	RIG_FOR_MS(5 * EVERY_MS, seen.n == 0);
	peer_end(&one);
}
END_TEST

static void refuse_timer(struct rnl_conn *conn)
{
	ck_assert_ptr_null(timer_start_for(conn, 0, 0, 0, on_time, &seen));
}

/* The other connection's goes on; teardown and valgrind find what is left. */
START_TEST(a_connections_timer_ends_with_it)
{
	unsigned n;

	rig.close = refuse_timer;
	peer_open(&one);
	peer_open(&two);
	start_for(two.conn, EVERY_MS, EVERY_MS);
	ck_assert_ptr_nonnull(timer_start_for(one.conn, 0, AFTER_MS, 0, on_time, NULL));
	peer_end(&one);
	RIG_UNTIL(rig.n_closed == 1);
	RIG_FOR_MS(2 * AFTER_MS, true);
	ck_assert_uint_gt(seen.n, 1);
	peer_end(&two);
	RIG_UNTIL(rig.n_closed == 2);
	n = seen.n;
	RIG_FOR_MS(5 * EVERY_MS, seen.n == n);
}
END_TEST

static void send_and_close(struct rnl_timer *timer, struct rnl_conn *conn, void *arg)
{
	(void)timer;
	(void)arg;
	ck_assert_int_eq(send_filled(conn, 5, 100), RNL_OK);
	conn_close(conn, CLOSE_REASON_handler);
}

START_TEST(a_call_may_send_and_close)
{
	peer_open(&one);
	ck_assert_ptr_nonnull(timer_start_for(one.conn, 0, 0, 1, send_and_close, NULL));
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 5, 1, 100);
	peer_end(&one);
}
END_TEST

/* The module has not stopped it: the worker's end does. */
START_TEST(a_timer_does_not_outlive_the_table)
{
	start(AFTER_MS, EVERY_MS);
	start(AFTER_MS, 0);
}
END_TEST

TCase *timers_tests(void)
{
	TCase *tcase = tcase_create("timers");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, rig_tear_down);
	tcase_add_loop_test(tcase, a_timer_calls_once_and_not_early, 0, 2);
	tcase_add_loop_test(tcase, a_repeating_timer_goes_on_until_it_is_stopped, 0, 2);
	tcase_add_loop_test(tcase, a_timer_may_be_stopped_by_its_own_call, 0, 2);
	tcase_add_loop_test(tcase, a_timer_that_was_stopped_in_time_does_not_call, 0, 2);
	tcase_add_test(tcase, a_connections_timer_ends_with_it);
	tcase_add_test(tcase, a_call_may_send_and_close);
	tcase_add_test(tcase, a_timer_does_not_outlive_the_table);
	return tcase;
}
