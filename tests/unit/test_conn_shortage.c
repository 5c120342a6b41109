/*
 * The memory of all send queues of a worker has a budget. Who is refused for it
 * hears when there is room again.
 */
#include "config.h"

#include <string.h>

#include "conn/shared.h"

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one, two;

#define LEN 1000

/* One holds nearly all of a small budget, and does not read. */
static void make_short(void)
{
	rig_limit_queue(1000, 1 << 20);
	peer_open(&one);
	peer_open(&two);
	send_until_blocked(one.conn, 0, LEN);
	rig.table->pool.max_bytes = 100000;
	send_until_refused(one.conn, 0, LEN);
}

/* The other has an empty queue, and so no event of its own will come. */
static void refuse_two(void)
{
	make_short();
	ck_assert_int_eq(send_filled(two.conn, 0, LEN), RNL_EFULL);
	RIG_FOR_MS(30, rig.n_writable == 0);
}

/* Until half of the budget is free the other may not be told. */
static void recover(void)
{
	while (rig.table->pool.held_bytes > rig.table->pool.max_bytes / 2) {
		ck_assert_uint_eq(rig.n_writable, 0);
		peer_read_some(&one, 3000);
		rig_turn();
	}
	RIG_UNTIL((peer_read(&one), rig.n_writable == 2));
	ck_assert_int_eq(send_filled(two.conn, 0, LEN), RNL_OK);
	ck_assert_uint_eq(rig_n_logged("worker-send-memory is used up"), 2);
}

START_TEST(a_short_budget_refuses_and_recovers)
{
	rig.settings.when_full = WHEN_FULL_REFUSE;
	refuse_two();
	recover();
	peer_end(&one);
	peer_end(&two);
}
END_TEST

START_TEST(a_short_budget_pauses_and_recovers)
{
	refuse_two();
	peer_send(&two, 9, LEN);
	RIG_FOR_MS(30, rig.n_handled == 0);
	recover();
	RIG_UNTIL((peer_read(&two), peer_n_frames(&two) == 2));
	ck_assert_uint_eq(rig.n_handled, 1);
	peer_end(&one);
	peer_end(&two);
}
END_TEST

START_TEST(a_short_budget_recovers_when_who_holds_it_is_closed)
{
	rig.settings.when_full = WHEN_FULL_REFUSE;
	make_short();
	ck_assert_int_eq(send_filled(two.conn, 0, LEN), RNL_EFULL);
	conn_abort(one.conn, CLOSE_REASON_handler);
	RIG_UNTIL(rig.n_writable == 1);
	ck_assert_int_eq(send_filled(two.conn, 0, LEN), RNL_OK);
	peer_end(&one);
	peer_end(&two);
}
END_TEST

/* A shared frame takes more of a queue's limit than the tail has room for. */
START_TEST(a_full_queue_is_not_taken_for_a_short_budget)
{
	static uint8_t payload[600];
	struct rnl_shared *shared;

	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig_limit_queue(1000, 8192);
	peer_open(&one);
	send_until_blocked(one.conn, 0, LEN);
	while (!sendq_tail_has_room(&one.conn->out, HEAD + sizeof(payload)) ||
	       rig.listener.limits.max_bytes - one.conn->out.held_bytes > sizeof(payload))
		ck_assert_int_eq(send_filled(one.conn, 0, 100), RNL_OK);
	shared = shared_new(rig.table, 0, payload, sizeof(payload));
	ck_assert_int_eq(conn_send_shared(one.conn, shared), RNL_EFULL);
	shared_free(shared);
	ck_assert(!rig.table->is_pool_short);
	ck_assert_uint_eq(rig_n_logged("send refused"), 1);
	ck_assert_uint_eq(rig_n_logged("worker-send-memory"), 0);
	peer_end(&one);
}
END_TEST

/* The message is there, and there is no room to have it in the framing of another listener. */
START_TEST(a_short_budget_refuses_a_second_framing)
{
	static const uint8_t payload[LEN];
	struct listener other = rig.listener;
	struct rnl_shared *shared = shared_new(rig.table, 0, payload, sizeof(payload));

	rig.settings.when_full = WHEN_FULL_REFUSE;
	other.framing = &framing_ltv;
	peer_open(&one);
	one.conn->listener = &other;
	rig.table->pool.max_bytes = rig.table->pool.held_bytes + LEN / 2;
	ck_assert_int_eq(conn_send_shared(one.conn, shared), RNL_EFULL);
	ck_assert_uint_eq(rig_counter(sends_refused), 1);
	ck_assert_uint_eq(rig_n_logged("worker-send-memory is used up"), 1);
	shared_free(shared);
	RIG_UNTIL(rig.n_writable == 1);
	one.conn->listener = &rig.listener;
	peer_end(&one);
}
END_TEST

TCase *shortage_tests(void)
{
	TCase *tcase = tcase_create("shortage");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_test(tcase, a_short_budget_refuses_and_recovers);
	tcase_add_test(tcase, a_short_budget_pauses_and_recovers);
	tcase_add_test(tcase, a_short_budget_recovers_when_who_holds_it_is_closed);
	tcase_add_test(tcase, a_full_queue_is_not_taken_for_a_short_budget);
	tcase_add_test(tcase, a_short_budget_refuses_a_second_framing);
	return tcase;
}
