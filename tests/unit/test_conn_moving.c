/*
 * Moving: from one table to another, as between two workers.
 */
#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/journal.h"
#include "conn/callbacks.h"
#include "conn/conn.h"
#include "conn/moving.h"
#include "conn/names.h"
#include "conn/timers.h"
#include "wire/line.h"

#include "test_conn.h"
#include "test_conn_rig.h"

/* What the module of the rig keeps for a connection. */
#define STATE "what the module knows"

static struct {
	struct conn_table *table; /* of the other worker */
	struct listener listener;
	size_t state_size;
	bool is_refusing_to_save, is_boasting, is_refusing_to_restore;
	unsigned n_saved, n_moved, n_restored;
	enum status status; /* of the last unpacking */
	uint8_t message[MOVING_SIZE];
	size_t len;
} other;

static ptrdiff_t on_save(struct rnl_conn *conn, void *state, size_t size)
{
	(void)conn;
	other.n_saved++;
	if (other.is_refusing_to_save)
		return -1;
	if (other.is_boasting)
		return (ptrdiff_t)size + 1;
	if (size < other.state_size)
		return -1;
	memset(state, 'x', other.state_size);
	memcpy(state, STATE, sizeof(STATE));
	return (ptrdiff_t)other.state_size;
}

static void on_moved(struct rnl_conn *conn)
{
	ck_assert_int_eq(conn_send(conn, 1, "", 0), RNL_ECLOSED);
	other.n_moved++;
}

static int on_restore(struct rnl_conn *conn, const void *state, size_t len)
{
	ck_assert_ptr_eq(conn->table, other.table);
	ck_assert_uint_eq(len, other.state_size);
	ck_assert_str_eq(state, STATE);
	other.n_restored++;
	return other.is_refusing_to_restore ? -1 : 0;
}

static bool move(struct rnl_conn *conn, void *arg)
{
	struct rnl_conn *moved;

	(void)arg;
	other.len = moving_pack(conn, other.message);
	if (other.len == 0)
		return false;
	other.status = moving_unpack(
	    other.table, &other.listener, 1, other.message, other.len, conn->fd, &moved);
	if (other.status == STATUS_OK)
		moving_resume(moved, other.message, other.len);
	return true;
}

static void set_up(void)
{
	rig_set_up();
	memset(&other, 0, sizeof(other));
	other.state_size = sizeof(STATE);
	other.listener = rig.listener;
	rig.module.save = on_save;
	rig.module.moved = on_moved;
	rig.module.restore = on_restore;
	rig.table->move = move;
	ck_assert_int_eq(table_new(rig.loop, rig.pages, 2, 1, rig.pages[1].seats, 256u << 20, 0,
			     1, &other.table),
	    STATUS_OK);
}

static void tear_down(void)
{
	/* The connections that moved were opened in one table and closed in the other. */
	table_abort(other.table, CLOSE_REASON_shutdown);
	RIG_UNTIL(other.table->n_conns == 0);
	table_abort(rig.table, CLOSE_REASON_shutdown);
	RIG_UNTIL(rig.table->n_conns == 0);
	ck_assert_uint_eq(rig.n_closed, rig.n_opened);
	ck_assert_uint_eq(counters_open(&rig.table->seat->counters), 0);
	ck_assert_uint_eq(counters_open(&other.table->seat->counters), 0);
	table_destroy(&other.table);
	rig_tear_down();
}

static void let_move(struct peer *peer)
{
	rig.table->movable = 1;
	conn_schedule(peer->conn);
	rig_turn();
	rig.table->movable = 0;
}

static struct rnl_conn *moved(const struct peer *peer)
{
	return table_find(other.table, peer->id);
}

START_TEST(a_connection_keeps_its_id_its_peer_and_its_state)
{
	struct peer peer;
	struct endpoint before;

	peer_open_tcp(&peer);
	before = peer.conn->peer;
	let_move(&peer);
	ck_assert_uint_eq(rig.table->n_conns, 0);
	ck_assert_ptr_null(table_find(rig.table, peer.id));
	peer.conn = moved(&peer);
	ck_assert_ptr_nonnull(peer.conn);
	ck_assert_int_eq(memcmp(&peer.conn->peer, &before, sizeof(before)), 0);
	ck_assert_uint_eq(other.n_moved, 1);
	ck_assert_uint_eq(other.n_restored, 1);
	ck_assert_uint_eq(rig.n_opened, 1);
	ck_assert_uint_eq(rig.n_closed, 0);
	ck_assert_uint_eq(rig_counter(moved_out), 1);
	ck_assert_uint_eq(counter_read(other.table->seat->counters.moved_in), 1);
	ck_assert_uint_eq(rig.table->seat->n_open[0], 0);
	ck_assert_uint_eq(other.table->seat->n_open[0], 1);
	peer_send_many(&peer, 1, 10, 100);
	RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == 10));
	peer_expect(&peer, 1, 10, 100);
	peer_end(&peer);
}
END_TEST

/* Its line in the journal has what came and went in both workers. */
START_TEST(a_tally_goes_with_its_connection)
{
	struct reason why;
	struct peer peer;

	ck_assert_int_eq(journal_open("log", LOG_FORMAT_TEXT, &why), STATUS_OK);
	rig.settings.log_connections = LOG_CONNECTIONS_ENDED;
	peer_open_tcp(&peer);
	peer_send_many(&peer, 1, 3, 100);
	RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == 3));
	let_move(&peer);
	ck_assert_uint_eq(rig_n_logged(": connection ended id="), 0);
	peer_send_many(&peer, 4, 2, 100);
	RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == 5));
	peer_end(&peer);
	RIG_UNTIL(other.table->n_conns == 0);
	ck_assert_uint_eq(
	    rig_n_logged(" frames_in=5 frames_out=5 bytes_in=540 bytes_out=540 "), 1);
}
END_TEST

/* One without a tally gets it where it goes; it has no line as a probe, as it had traffic. */
START_TEST(a_tally_may_begin_on_the_way)
{
	struct reason why;
	struct peer peer;

	rig.settings.log_connections = LOG_CONNECTIONS_ENDED;
	peer_open_tcp(&peer);
	peer_send_many(&peer, 1, 3, 100);
	RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == 3));
	ck_assert_int_eq(journal_open("log", LOG_FORMAT_TEXT, &why), STATUS_OK);
	let_move(&peer);
	peer_end(&peer);
	RIG_UNTIL(other.table->n_conns == 0);
	ck_assert_uint_eq(rig_n_logged(" frames_in=0 frames_out=0 bytes_in=0 bytes_out=0 "), 1);
}
END_TEST

static unsigned n_freed;

static void free_datum(void *datum)
{
	ck_assert_ptr_eq(datum, &n_freed);
	n_freed++;
}

static void must_not_run(struct rnl_conn *conn, void *arg)
{
	(void)conn;
	(void)arg;
	ck_abort_msg("a callback of a connection that has not ended was called");
}

static void must_not_fire(struct rnl_timer *timer, struct rnl_conn *conn, void *arg)
{
	(void)timer;
	must_not_run(conn, arg);
}

/* The module makes it again where the connection goes, if it still wants it. */
START_TEST(what_modules_hung_on_a_connection_stays_behind)
{
	struct rnl_conn *former;
	struct peer peer;

	rig.table->free_data[0] = free_datum;
	peer_open_tcp(&peer);
	conn_set_data(peer.conn, 0, &n_freed);
	ck_assert_int_eq(names_bind(peer.conn, 0, "ann", 3, &former), RNL_OK);
	ck_assert_int_eq(callbacks_add(peer.conn, 0, &peer, must_not_run, NULL), RNL_OK);
	ck_assert_ptr_nonnull(timer_start_for(peer.conn, 0, 50, 50, must_not_fire, NULL));
	let_move(&peer);
	ck_assert_uint_eq(n_freed, 1);
	ck_assert_ptr_null(names_find(rig.table, 0, "ann", 3));
	ck_assert_uint_eq(rig.table->extras.n_links, 0);
	peer.conn = moved(&peer);
	ck_assert_ptr_nonnull(peer.conn);
	ck_assert(!peer.conn->has_extras);
	RIG_FOR_MS(200, rig.n_closed == 0);
	peer_end(&peer);
}
END_TEST

START_TEST(a_connection_keeps_its_times)
{
	struct peer peer;
	uint32_t idle_ms, beat_ms;
	uint64_t age_ms;

	peer_open_tcp(&peer);
	peer_send(&peer, 1, 10);
	RIG_UNTIL(rig.n_handled == 1);
	RIG_UNTIL(conn_age_ms(peer.conn) >= 300 && conn_idle_ms(peer.conn) >= 100);
	age_ms = conn_age_ms(peer.conn);
	idle_ms = conn_idle_ms(peer.conn);
	beat_ms = peer.conn->beat_ms;
	let_move(&peer);
	peer.conn = moved(&peer);
	rig_turn();
	ck_assert_uint_ge(conn_age_ms(peer.conn), age_ms);
	ck_assert_uint_ge(conn_idle_ms(peer.conn), idle_ms);
	ck_assert_uint_eq(peer.conn->beat_ms, beat_ms);
	peer_end(&peer);
}
END_TEST

/* _i bytes of a frame are there before. */
START_TEST(a_connection_moves_within_a_frame)
{
	struct peer peer;
	uint8_t frame[HEAD + 30];

	peer_open_tcp(&peer);
	ck_assert_uint_eq(framing_tlv.seal(&framing_tlv, frame, 7, 30), sizeof(frame));
	fill(frame + HEAD, 7, 30);
	peer_write(&peer, frame, (size_t)_i);
	RIG_UNTIL(rig_counter(bytes_in) == (uint64_t)_i);
	let_move(&peer);
	ck_assert_ptr_nonnull(moved(&peer));
	ck_assert_int_eq(moved(&peer)->is_in_frame, _i > 0);
	peer_write(&peer, frame + _i, sizeof(frame) - (size_t)_i);
	RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == 1));
	peer_expect(&peer, 7, 1, 30);
	peer_end(&peer);
}
END_TEST

START_TEST(what_is_queued_keeps_a_connection)
{
	struct peer peer;

	peer_open(&peer);
	send_until_blocked(peer.conn, 1, 1000);
	let_move(&peer);
	ck_assert_ptr_null(moved(&peer));
	ck_assert_uint_eq(other.n_saved, 0);
	rig.table->movable = 1;
	RIG_UNTIL((peer_read(&peer), moved(&peer) != NULL));
	rig.table->movable = 0;
	peer_end(&peer);
}
END_TEST

START_TEST(a_closing_connection_does_not_move)
{
	struct peer peer;

	peer_open_tcp(&peer);
	conn_close(peer.conn, CLOSE_REASON_handler);
	let_move(&peer);
	ck_assert_uint_eq(other.n_saved, 0);
	ck_assert_ptr_null(moved(&peer));
	peer_end(&peer);
}
END_TEST

/* _i 0: the module does not want it; 1: its state does not fit; 2: it says that more does. */
START_TEST(a_module_can_keep_a_connection)
{
	struct peer peer;

	peer_open_tcp(&peer);
	other.is_refusing_to_save = _i == 0;
	other.is_boasting = _i == 2;
	other.state_size = _i == 1 ? MOVING_SIZE : sizeof(STATE);
	let_move(&peer);
	ck_assert_uint_eq(other.n_saved, 1);
	ck_assert_ptr_null(moved(&peer));
	ck_assert_ptr_eq(table_find(rig.table, peer.id), peer.conn);
	ck_assert_uint_eq(rig_n_logged("its save hook returned"), _i == 2);
	peer_send_many(&peer, 1, 1, 100);
	RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == 1));
	peer_end(&peer);
}
END_TEST

START_TEST(a_module_that_does_not_take_a_connection_ends_it)
{
	struct peer peer;

	peer_open_tcp(&peer);
	other.is_refusing_to_restore = true;
	let_move(&peer);
	RIG_UNTIL(peer_has_end(&peer));
	ck_assert_int_eq(peer.end, 0);
	ck_assert_uint_eq(rig_n_logged("its restore hook did not take a connection"), 1);
	peer_end(&peer);
	RIG_UNTIL(other.table->n_conns == 0);
	ck_assert_uint_eq(
	    counter_read(other.table->seat->counters.closed[CLOSE_REASON_handler]), 1);
}
END_TEST

/* _i 0: it has no such listener; 1: it is another version, 2: it is cut off. */
START_TEST(a_message_that_is_not_understood_ends_its_connection)
{
	static char name[] = "another";
	struct rnl_conn *conn;
	struct peer peer;
	int fd;

	peer_open_tcp(&peer);
	let_move(&peer);
	ck_assert_int_eq(other.status, STATUS_OK);
	fd = dup(moved(&peer)->fd);
	conn_abort(moved(&peer), CLOSE_REASON_handler);
	rig_turn();
	if (_i == 0)
		other.listener.name = name;
	else if (_i == 1)
		other.message[0] ^= 1;
	else
		other.len--;
	ck_assert_int_eq(
	    moving_unpack(other.table, &other.listener, 1, other.message, other.len, fd, &conn),
	    STATUS_INVALID);
	other.listener.name = rig.listener.name;
	ck_assert_uint_eq(other.table->n_conns, 0);
	RIG_UNTIL(peer_has_end(&peer));
	peer_end(&peer);
}
END_TEST

/* The receiver finds in the middle that it cannot take it: no hook is called. */
START_TEST(a_connection_that_was_made_stays_where_it_was)
{
	struct rnl_conn *conn;
	struct peer peer;

	peer_open_tcp(&peer);
	other.len = moving_pack(peer.conn, other.message);
	ck_assert_int_eq(moving_unpack(other.table, &other.listener, 1, other.message,
			     other.len, dup(peer.conn->fd), &conn),
	    STATUS_OK);
	ck_assert_uint_eq(other.table->n_conns, 1);
	moving_undo(conn);
	ck_assert_uint_eq(other.table->n_conns, 0);
	ck_assert_uint_eq(other.table->seat->n_open[0], 0);
	ck_assert_ptr_null(moved(&peer));
	ck_assert_uint_eq(other.n_restored, 0);
	ck_assert_uint_eq(rig.n_closed, 0);
	peer_send_many(&peer, 1, 10, 100);
	RIG_UNTIL((peer_read(&peer), peer_n_frames(&peer) == 10));
	peer_end(&peer);
}
END_TEST

/* Not all in one turn: their clients would come back together. */
START_TEST(connections_that_do_not_move_go_one_after_the_other)
{
	struct peer peers[40];
	size_t n_before;
	unsigned n_steps = 0;

	for (int i = 0; i < 40; i++)
		peer_open_tcp(&peers[i]);
	rig.settings.linger_timeout_ms = 0;
	table_drain(rig.table, 3000);
	rig_turn();
	ck_assert_uint_eq(rig.table->n_conns, 40);
	while (n_before = rig.table->n_conns, n_before > 0) {
		rig_wait();
		n_steps += rig.table->n_conns < n_before;
	}
	ck_assert_uint_ge(n_steps, 5);
	ck_assert_uint_eq(rig_closed(shutdown), 40);
	for (int i = 0; i < 40; i++)
		peer_end(&peers[i]);
}
END_TEST

START_TEST(listeners_that_fit_are_described_alike)
{
	static char name[] = "another";
	char text[MOVING_OFFER_SIZE], same[MOVING_OFFER_SIZE];

	ck_assert(moving_describe(&rig.listener, text));
	ck_assert(moving_describe(&other.listener, same));
	ck_assert_str_eq(text, same);
	other.listener.framing = &framing_ltv;
	ck_assert(moving_describe(&other.listener, same));
	ck_assert_str_ne(text, same);
	other.listener.framing = rig.listener.framing;
	ck_assert(moving_describe(&other.listener, same));
	ck_assert_str_eq(text, same);
	other.listener.name = name;
	ck_assert(moving_describe(&other.listener, same));
	ck_assert_str_ne(text, same);
	other.listener.name = rig.listener.name;
	rig.module.save = NULL;
	ck_assert(!moving_describe(&rig.listener, text));
}
END_TEST

/* What is half read by one is no frame of the other. */
START_TEST(framings_fit_with_their_parameters)
{
	char text[MOVING_OFFER_SIZE], same[MOVING_OFFER_SIZE];
	struct line lf, crlf;

	line_init(&lf, 7, false);
	line_init(&crlf, 7, true);
	rig.listener.framing = &lf.framing;
	other.listener.framing = &crlf.framing;
	ck_assert(moving_describe(&rig.listener, text));
	ck_assert(moving_describe(&other.listener, same));
	ck_assert_str_ne(text, same);
	line_init(&crlf, 7, false);
	ck_assert(moving_describe(&other.listener, same));
	ck_assert_str_eq(text, same);
}
END_TEST

TCase *moving_tests(void)
{
	TCase *tcase = tcase_create("moving");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_connection_keeps_its_id_its_peer_and_its_state);
	tcase_add_test(tcase, a_tally_goes_with_its_connection);
	tcase_add_test(tcase, a_tally_may_begin_on_the_way);
	tcase_add_test(tcase, what_modules_hung_on_a_connection_stays_behind);
	tcase_add_test(tcase, a_connection_keeps_its_times);
	tcase_add_loop_test(tcase, a_connection_moves_within_a_frame, 0, HEAD + 30);
	tcase_add_test(tcase, what_is_queued_keeps_a_connection);
	tcase_add_test(tcase, a_closing_connection_does_not_move);
	tcase_add_loop_test(tcase, a_module_can_keep_a_connection, 0, 3);
	tcase_add_test(tcase, a_module_that_does_not_take_a_connection_ends_it);
	tcase_add_loop_test(tcase, a_message_that_is_not_understood_ends_its_connection, 0, 3);
	tcase_add_test(tcase, a_connection_that_was_made_stays_where_it_was);
	tcase_add_test(tcase, connections_that_do_not_move_go_one_after_the_other);
	tcase_add_test(tcase, listeners_that_fit_are_described_alike);
	tcase_add_test(tcase, framings_fit_with_their_parameters);
	return tcase;
}
