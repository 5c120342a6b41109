/*
 * What is hung on a connection: close callbacks and data that is freed; and that
 * one which has none of it takes no more memory.
 */
#include "config.h"

#include <string.h>

#include "conn/callbacks.h"
#include "conn/extras.h"

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one, two;

/* What was called, in order: a letter a call. */
static char trace[64];

static void note(const char *letter)
{
	strncat(trace, letter, sizeof(trace) - strlen(trace) - 1);
}

static char a[] = "a", b[] = "b", c[] = "c", x[] = "x", y[] = "y";

static void called(struct rnl_conn *conn, void *letter)
{
	ck_assert_ptr_eq(table_find(rig.table, conn_id(conn)), conn);
	ck_assert_int_eq(send_filled(conn, 0, 10), RNL_ECLOSED);
	note(letter);
}

static void close_hook(struct rnl_conn *conn)
{
	(void)conn;
	note("h");
}

static void set_up(void)
{
	rig_set_up();
	trace[0] = '\0';
	rig.close = close_hook;
	peer_open(&one);
}

static void add(struct rnl_conn *conn, size_t owner, const void *key, char *letter)
{
	ck_assert_int_eq(callbacks_add(conn, owner, key, called, letter), RNL_OK);
}

static void end_one(void)
{
	conn_close(one.conn, CLOSE_REASON_handler);
	RIG_UNTIL(rig.n_closed == 1);
	peer_end(&one);
}

START_TEST(callbacks_are_called_after_the_hook_in_their_order)
{
	add(one.conn, 0, a, a);
	add(one.conn, 1, a, b);
	add(one.conn, 0, c, c);
	end_one();
	ck_assert_str_eq(trace, "habc");
}
END_TEST

START_TEST(a_callback_is_replaced_and_removed_by_its_key)
{
	add(one.conn, 0, a, a);
	add(one.conn, 0, b, b);
	add(one.conn, 0, c, c);
	add(one.conn, 0, a, x);
	callbacks_remove(one.conn, 0, b);
	callbacks_remove(one.conn, 0, b);
	callbacks_remove(one.conn, 1, c);
	end_one();
	ck_assert_str_eq(trace, "hxc");
}
END_TEST

START_TEST(a_callback_belongs_to_one_connection)
{
	peer_open(&two);
	callbacks_remove(two.conn, 0, a);
	add(one.conn, 0, a, a);
	add(two.conn, 0, a, b);
	end_one();
	ck_assert_str_eq(trace, "ha");
	peer_end(&two);
	RIG_UNTIL(rig.n_closed == 2);
	ck_assert_str_eq(trace, "hahb");
}
END_TEST

static void remove_next(struct rnl_conn *conn, void *letter)
{
	called(conn, letter);
	callbacks_remove(conn, 0, a);
	callbacks_remove(conn, 0, b);
	ck_assert_int_eq(callbacks_add(conn, 0, y, called, y), RNL_ECLOSED);
}

START_TEST(a_callback_may_remove_others_and_add_none)
{
	ck_assert_int_eq(callbacks_add(one.conn, 0, a, remove_next, a), RNL_OK);
	add(one.conn, 0, b, b);
	add(one.conn, 0, c, c);
	end_one();
	ck_assert_str_eq(trace, "hac");
}
END_TEST

static void free_data(void *letter)
{
	note(letter);
}

START_TEST(data_is_freed_last_and_once)
{
	rig.table->free_data[0] = free_data;
	conn_set_data(one.conn, 0, x);
	add(one.conn, 0, a, a);
	end_one();
	ck_assert_str_eq(trace, "hax");
}
END_TEST

START_TEST(data_that_is_replaced_is_freed_at_once)
{
	rig.table->free_data[0] = free_data;
	conn_set_data(one.conn, 0, x);
	conn_set_data(one.conn, 0, x);
	ck_assert_str_eq(trace, "");
	conn_set_data(one.conn, 0, y);
	ck_assert_str_eq(trace, "x");
	conn_set_data(one.conn, 0, NULL);
	ck_assert_str_eq(trace, "xy");
	end_one();
	ck_assert_str_eq(trace, "xyh");
}
END_TEST

START_TEST(data_without_a_function_is_the_modules)
{
	conn_set_data(one.conn, 0, x);
	conn_set_data(one.conn, 0, y);
	end_one();
	ck_assert_str_eq(trace, "h");
}
END_TEST

/* 320 bytes is the goal for all that the worker has of an idle connection, tables included. */
START_TEST(a_connection_without_extras_has_no_memory_for_them)
{
	ck_assert(!one.conn->has_extras);
	ck_assert_ptr_null(extras_find(one.conn));
	callbacks_remove(one.conn, 0, a);
	ck_assert_uint_eq(rig.table->extras.n_links, 0);
	ck_assert_uint_le(sizeof(struct rnl_conn), 256);
	end_one();
}
END_TEST

START_TEST(age_and_idle_time_are_told)
{
	uint64_t start_ms = rig.table->now_ms;

	RIG_UNTIL(conn_age_ms(one.conn) >= 300 && conn_idle_ms(one.conn) >= 250);
	ck_assert_uint_le(conn_age_ms(one.conn), rig.table->now_ms - start_ms + 100);
	ck_assert_uint_eq(conn_idle_ms(one.conn), rig.table->now_ms - start_ms);
	peer_send(&one, 1, 10);
	RIG_UNTIL(rig.n_handled == 1);
	ck_assert_uint_lt(conn_idle_ms(one.conn), rig.table->now_ms - start_ms);
	ck_assert_uint_ge(conn_age_ms(one.conn), 300);
	/* The clock of 32 bits wraps. */
	one.conn->heard_ms = (uint32_t)rig.table->now_ms + 1;
	ck_assert_uint_lt(conn_idle_ms(one.conn), 1u << 31);
	end_one();
}
END_TEST

TCase *extras_tests(void)
{
	TCase *tcase = tcase_create("extras");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, rig_tear_down);
	tcase_add_test(tcase, callbacks_are_called_after_the_hook_in_their_order);
	tcase_add_test(tcase, a_callback_is_replaced_and_removed_by_its_key);
	tcase_add_test(tcase, a_callback_belongs_to_one_connection);
	tcase_add_test(tcase, a_callback_may_remove_others_and_add_none);
	tcase_add_test(tcase, data_is_freed_last_and_once);
	tcase_add_test(tcase, data_that_is_replaced_is_freed_at_once);
	tcase_add_test(tcase, data_without_a_function_is_the_modules);
	tcase_add_test(tcase, a_connection_without_extras_has_no_memory_for_them);
	tcase_add_test(tcase, age_and_idle_time_are_told);
	return tcase;
}
