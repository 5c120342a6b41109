/*
 * The lines about connections in the journal: which have one, and that they add up.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/journal.h"
#include "conn/tally.h"

#include "test_conn.h"
#include "test_conn_rig.h"

static struct peer one, two;

static void set_up(void)
{
	struct reason why;

	rig_set_up();
	rig.settings.log_connections = LOG_CONNECTIONS_ENDED;
	ck_assert_int_eq(journal_open("log", LOG_FORMAT_TEXT, &why), STATUS_OK);
}

static void end_one(void)
{
	peer_end(&one);
	RIG_UNTIL(rig.table->n_conns == 0);
}

START_TEST(line_at_the_end_says_what_came_and_went)
{
	char text[256];

	peer_open(&one);
	for (uint32_t i = 0; i < 10; i++)
		peer_send(&one, i, 40);
	RIG_UNTIL((peer_read(&one), peer_n_frames(&one) == 10));
	snprintf(text, sizeof(text),
	    ": connection ended id=%" PRIu64 " listener=%s peer=", one.id, rig.listener.name);
	ck_assert_uint_eq(rig_n_logged(": connection "), 0);
	end_one();
	ck_assert_uint_eq(rig_n_logged(text), 1);
	ck_assert_uint_eq(rig_n_logged(" frames_in=10 frames_out=10 bytes_in=480 "
				       "bytes_out=480 sends_refused=0 reason=peer\n"),
	    1);
	ck_assert_uint_eq(rig_n_logged(" ended: "), 0);
	ck_assert_uint_eq(rig_counter(probes), 0);
}
END_TEST

START_TEST(refusals_and_the_reason_are_there)
{
	rig.settings.when_full = WHEN_FULL_REFUSE;
	rig_limit_queue(20, 1 << 20);
	peer_open(&one);
	send_until_blocked(one.conn, 0, 1000);
	for (int i = 0; i < 3; i++)
		send_until_refused(one.conn, 0, 1000);
	conn_abort(one.conn, CLOSE_REASON_kicked);
	end_one();
	ck_assert_uint_eq(rig_n_logged(" frames_in=0 "), 1);
	ck_assert_uint_eq(rig_n_logged(" sends_refused=3 reason=kicked\n"), 1);
}
END_TEST

START_TEST(probes_are_counted_only)
{
	peer_open(&one);
	RIG_UNTIL(one.conn != NULL);
	end_one();
	ck_assert_uint_eq(rig_n_logged(": connection ended id="), 0);
	ck_assert_uint_eq(rig_counter(probes), 1);
	ck_assert_uint_eq(rig_closed(peer), 1);
}
END_TEST

/* It waited in vain, or was sent to: no probe. */
START_TEST(silent_ones_that_are_no_probes_have_a_line)
{
	peer_open(&one);
	conn_close(one.conn, CLOSE_REASON_idle);
	end_one();
	peer_open(&two);
	ck_assert_int_eq(send_filled(two.conn, 1, 40), RNL_OK);
	RIG_UNTIL((peer_read(&two), peer_n_frames(&two) == 1));
	peer_end(&two);
	RIG_UNTIL(rig.table->n_conns == 0);
	ck_assert_uint_eq(rig_n_logged(": connection ended id="), 2);
	ck_assert_uint_eq(
	    rig_n_logged("bytes_in=0 bytes_out=0 sends_refused=0 reason=idle"), 1);
	ck_assert_uint_eq(
	    rig_n_logged("bytes_in=0 bytes_out=48 sends_refused=0 reason=peer"), 1);
	ck_assert_uint_eq(rig_counter(probes), 0);
}
END_TEST

START_TEST(all_have_a_line_at_both_ends)
{
	char text[128];

	rig.settings.log_connections = LOG_CONNECTIONS_ALL;
	peer_open(&one);
	snprintf(text, sizeof(text),
	    ": connection began id=%" PRIu64 " listener=%s peer=", one.id, rig.listener.name);
	ck_assert_uint_eq(rig_n_logged(text), 1);
	end_one();
	ck_assert_uint_eq(rig_n_logged(": connection ended id="), 1);
	ck_assert_uint_eq(rig_counter(probes), 1);
}
END_TEST

static void expect_none(void)
{
	peer_open(&one);
	ck_assert(!one.conn->is_tallied);
	peer_send(&one, 1, 40);
	RIG_UNTIL((peer_read(&one), peer_n_frames(&one) == 1));
	end_one();
	ck_assert_uint_eq(rig_n_logged(": connection ended id="), 0);
}

START_TEST(without_a_line_nothing_is_kept_for_it)
{
	struct reason why;

	rig.settings.log_connections = LOG_CONNECTIONS_NONE;
	expect_none();
	rig.settings.log_connections = LOG_CONNECTIONS_ALL;
	ck_assert_int_eq(journal_open("off", LOG_FORMAT_TEXT, &why), STATUS_OK);
	expect_none();
	ck_assert_uint_eq(rig_n_logged(" ended: "), 2);
}
END_TEST

TCase *tally_tests(void)
{
	TCase *tcase = tcase_create("tally");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, rig_tear_down);
	tcase_add_test(tcase, line_at_the_end_says_what_came_and_went);
	tcase_add_test(tcase, refusals_and_the_reason_are_there);
	tcase_add_test(tcase, probes_are_counted_only);
	tcase_add_test(tcase, silent_ones_that_are_no_probes_have_a_line);
	tcase_add_test(tcase, all_have_a_line_at_both_ends);
	tcase_add_test(tcase, without_a_line_nothing_is_kept_for_it);
	return tcase;
}
