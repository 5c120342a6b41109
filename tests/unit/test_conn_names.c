/*
 * Names: whom a key leads to, through logins, second logins and ends.
 */
#include "config.h"

#include <string.h>

#include "conn/names.h"

#include "test_conn.h"
#include "test_conn_rig.h"

#define OURS 0
#define THEIRS 1

static struct peer one, two;

static enum rnl_status try_bind(
    struct rnl_conn *conn, const char *key, struct rnl_conn **former)
{
	return names_bind(conn, OURS, key, strlen(key), former);
}

static void must_bind(struct rnl_conn *conn, const char *key)
{
	struct rnl_conn *former;

	ck_assert_int_eq(try_bind(conn, key, &former), RNL_OK);
	ck_assert_ptr_null(former);
}

static struct rnl_conn *find(const char *key)
{
	return names_find(rig.table, OURS, key, strlen(key));
}

START_TEST(a_key_leads_to_its_connection)
{
	peer_open(&one);
	peer_open(&two);
	ck_assert_ptr_null(find("ann"));
	must_bind(one.conn, "ann");
	must_bind(two.conn, "bob");
	must_bind(one.conn, "an");
	must_bind(one.conn, "ann");
	ck_assert_ptr_eq(find("ann"), one.conn);
	ck_assert_ptr_eq(find("an"), one.conn);
	ck_assert_ptr_eq(find("bob"), two.conn);
	ck_assert_ptr_null(find("a"));
	peer_end(&one);
	peer_end(&two);
}
END_TEST

/* Zeros are bytes like others. */
START_TEST(a_key_is_any_bytes_up_to_a_length)
{
	uint8_t key[RNL_MAX_KEY] = { 0 }, other[RNL_MAX_KEY] = { [RNL_MAX_KEY - 1] = 1 };
	struct rnl_conn *former;

	peer_open(&one);
	peer_open(&two);
	for (size_t len = 1; len <= RNL_MAX_KEY; len++)
		ck_assert_int_eq(names_bind(one.conn, OURS, key, len, &former), RNL_OK);
	ck_assert_int_eq(names_bind(two.conn, OURS, other, RNL_MAX_KEY, &former), RNL_OK);
	ck_assert_ptr_null(former);
	for (size_t len = 1; len <= RNL_MAX_KEY; len++)
		ck_assert_ptr_eq(names_find(rig.table, OURS, key, len), one.conn);
	ck_assert_ptr_eq(names_find(rig.table, OURS, other, RNL_MAX_KEY), two.conn);
	peer_end(&one);
	peer_end(&two);
}
END_TEST

START_TEST(each_module_has_its_own_keys)
{
	struct rnl_conn *former;

	peer_open(&one);
	peer_open(&two);
	must_bind(one.conn, "ann");
	ck_assert_int_eq(names_bind(two.conn, THEIRS, "ann", 3, &former), RNL_OK);
	ck_assert_ptr_null(former);
	ck_assert_ptr_eq(find("ann"), one.conn);
	ck_assert_ptr_eq(names_find(rig.table, THEIRS, "ann", 3), two.conn);
	peer_end(&one);
	peer_end(&two);
}
END_TEST

/* As a module does that lets the second login win. */
START_TEST(a_second_login_takes_the_key_and_tells_who_had_it)
{
	struct rnl_conn *former;

	peer_open(&one);
	peer_open(&two);
	must_bind(one.conn, "ann");
	ck_assert_int_eq(try_bind(two.conn, "ann", &former), RNL_OK);
	ck_assert_ptr_eq(former, one.conn);
	conn_close(former, CLOSE_REASON_handler);
	names_unbind(former, OURS, "ann", 3);
	ck_assert_ptr_eq(find("ann"), two.conn);
	RIG_UNTIL(rig.n_closed == 1);
	ck_assert_ptr_eq(find("ann"), two.conn);
	names_unbind(two.conn, OURS, "ann", 3);
	ck_assert_ptr_null(find("ann"));
	peer_end(&one);
	peer_end(&two);
}
END_TEST

static void find_own(struct rnl_conn *conn)
{
	struct rnl_conn *former;

	ck_assert_ptr_eq(find("ann"), conn);
	ck_assert_int_eq(try_bind(conn, "late", &former), RNL_ECLOSED);
}

START_TEST(the_end_of_a_connection_unbinds_it_after_its_close_hooks)
{
	struct rnl_conn *former;

	rig.close = find_own;
	peer_open(&one);
	must_bind(one.conn, "ann");
	must_bind(one.conn, "anna");
	conn_close(one.conn, CLOSE_REASON_handler);
	ck_assert_int_eq(try_bind(one.conn, "late", &former), RNL_ECLOSED);
	ck_assert_ptr_eq(find("ann"), one.conn);
	RIG_UNTIL(rig.n_closed == 1);
	ck_assert_ptr_null(find("ann"));
	ck_assert_ptr_null(find("anna"));
	ck_assert_ptr_null(find("late"));
	peer_end(&one);
}
END_TEST

TCase *names_tests(void)
{
	TCase *tcase = tcase_create("names");

	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_test(tcase, a_key_leads_to_its_connection);
	tcase_add_test(tcase, a_key_is_any_bytes_up_to_a_length);
	tcase_add_test(tcase, each_module_has_its_own_keys);
	tcase_add_test(tcase, a_second_login_takes_the_key_and_tells_who_had_it);
	tcase_add_test(tcase, the_end_of_a_connection_unbinds_it_after_its_close_hooks);
	return tcase;
}
