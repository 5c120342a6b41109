/*
 * Connecting out: a connection to each address, made anew with back-off, like any
 * other once it is up, and the last to go when the worker stops.
 */
#include "config.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "conn/connect.h"
#include "conn/shared.h"

#include "test_conn.h"
#include "test_conn_rig.h"

#define LEN 100

/* A server that the worker connects to. */
struct backend {
	int fd; /* listening, or only bound */
	char address[ADDRESS_TEXT_SIZE];
};

static struct backend backends[2];
#define MOST_ADDRESSES 32
static char *addresses[MOST_ADDRESSES];
static struct connect_settings settings;
static struct listener upstream;
static struct connectors *connectors;
static struct peer one, client;
static unsigned n_tried;

static void on_tried(void *arg)
{
	ck_assert_ptr_eq(arg, &n_tried);
	n_tried++;
}

/* Its port is taken, but nobody listens there yet. False: the machine has no such address. */
static bool backend_bind(struct backend *backend, const char *address)
{
	struct sockaddr_storage addr;
	socklen_t len;

	ck_assert_int_eq(address_parse(address, &addr, &len), STATUS_OK);
	backend->fd = socket(addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (backend->fd < 0 || bind(backend->fd, (struct sockaddr *)&addr, len) < 0)
		return false;
	ck_assert_int_eq(getsockname(backend->fd, (struct sockaddr *)&addr, &len), 0);
	address_format(&addr, backend->address);
	return true;
}

static void backend_listen(struct backend *backend)
{
	ck_assert_int_eq(listen(backend->fd, 8), 0);
}

/* -1: no connection waits. */
static int backend_accept(const struct backend *backend)
{
	return accept4(backend->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

static void backend_turn_away(const struct backend *backend)
{
	int fd = backend_accept(backend);

	if (fd >= 0)
		close(fd);
}

static void set_up(void)
{
	rig_set_up();
	for (int i = 0; i < 2; i++) {
		ck_assert(backend_bind(&backends[i], "127.0.0.1:0"));
		addresses[i] = backends[i].address;
	}
	settings = (struct connect_settings){ .common = rig.settings,
		.connect_timeout_ms = 10000,
		.reconnect_min_ms = 1,
		.reconnect_max_ms = 4 };
	settings.common.when_full = WHEN_FULL_REFUSE;
	settings.common.addresses = addresses;
	settings.common.n_addresses = 1;
	upstream = rig.listener;
	upstream.settings = &settings.common;
	upstream.is_outgoing = true;
	upstream.index = SETTINGS_MAX_LISTENERS + 1;
}

static void start(void)
{
	ck_assert_int_eq(
	    connectors_new(rig.table, &upstream, &settings, 1, &connectors), STATUS_OK);
	n_tried = 0;
	connectors_start(connectors, on_tried, &n_tried);
}

static void tear_down(void)
{
	table_abort(rig.table, CLOSE_REASON_shutdown);
	RIG_UNTIL(rig.table->n_conns == 0);
	ck_assert_uint_eq(rig.table->n_outgoing, 0);
	ck_assert_uint_eq(rig.table->seat->n_open[upstream.index], 0);
	connectors_destroy(&connectors);
	for (int i = 0; i < 2; i++)
		close(backends[i].fd);
	rig_tear_down();
}

/* Wait until it is up, and be its far end. */
static void meet(struct peer *peer, const struct backend *backend, size_t i)
{
	*peer = (struct peer){ .fd = -1 };
	RIG_UNTIL(peer->fd >= 0 || (peer->fd = backend_accept(backend)) >= 0);
	RIG_UNTIL((peer->conn = connectors_get(connectors, 0, i)) != NULL);
	peer->id = conn_id(peer->conn);
}

START_TEST(a_connection_is_served_as_an_accepted_one)
{
	backend_listen(&backends[0]);
	start();
	ck_assert_ptr_null(connectors_get(connectors, 0, 0));
	meet(&one, &backends[0], 0);
	peer_send_many(&one, 5, 10, LEN);
	RIG_UNTIL((peer_read(&one), one.n_got == 10 * (HEAD + LEN)));
	ck_assert_int_eq(send_filled(one.conn, 15, LEN), RNL_OK);
	RIG_UNTIL((peer_read(&one), one.n_got == 11 * (HEAD + LEN)));
	peer_expect(&one, 5, 11, LEN);
	ck_assert_uint_eq(rig.n_opened, 1);
	ck_assert_uint_eq(rig_n_logged("info"), 1);
	ck_assert_uint_eq(rig_n_logged(": connected"), 1);
	peer_end(&one);
}
END_TEST

START_TEST(a_connection_is_made_over_ipv6)
{
	close(backends[0].fd);
	if (backend_bind(&backends[0], "[::1]:0")) {
		char peer[ENDPOINT_TEXT_SIZE];

		backend_listen(&backends[0]);
		start();
		meet(&one, &backends[0], 0);
		endpoint_format(&one.conn->peer, peer);
		ck_assert_str_eq(peer, backends[0].address);
		peer_end(&one);
	} else {
		start();
	}
}
END_TEST

/* It is none of those that max-connections bounds, and has counters of its own. */
/* What a server refuses would end the connection, which others share. A client's own is its own. */
START_TEST(no_message_is_longer_than_max_message)
{
	static const uint8_t bytes[LEN + 1];
	struct iovec part = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = LEN + 1 };
	struct rnl_shared *shared = shared_new(rig.table, 1, bytes, LEN + 1);
	void *place;

	settings.common.max_message = LEN;
	rig.settings.max_message = LEN;
	backend_listen(&backends[0]);
	start();
	meet(&one, &backends[0], 0);
	ck_assert_int_eq(conn_send(one.conn, 1, bytes, LEN + 1), RNL_ETOOBIG);
	ck_assert_int_eq(conn_sendv(one.conn, 1, &part, 1), RNL_ETOOBIG);
	ck_assert_int_eq(conn_reserve(one.conn, LEN + 1, &place), RNL_ETOOBIG);
	ck_assert_int_eq(conn_send_shared(one.conn, shared), RNL_ETOOBIG);
	ck_assert_int_eq(send_filled(one.conn, 1, LEN), RNL_OK);
	RIG_UNTIL((peer_read(&one), one.n_got == HEAD + LEN));
	peer_open(&client);
	ck_assert_int_eq(conn_send(client.conn, 1, bytes, LEN + 1), RNL_OK);
	ck_assert_int_eq(conn_send_shared(client.conn, shared), RNL_OK);
	shared_free(shared);
	peer_end(&client);
	peer_end(&one);
}
END_TEST

START_TEST(it_is_counted_apart)
{
	backend_listen(&backends[0]);
	start();
	meet(&one, &backends[0], 0);
	ck_assert_uint_eq(rig_counter(connected), 1);
	ck_assert_uint_eq(rig_counter(accepted), 0);
	ck_assert_uint_eq(rig.table->seat->n_open[0], 0);
	ck_assert_uint_eq(rig.table->seat->n_open[upstream.index], 1);
	ck_assert_uint_eq(rig.table->seat->n_open[SETTINGS_MAX_LISTENERS], 0);
	ck_assert_uint_eq(counters_open(&rig.table->seat->counters), 1);
	peer_end(&one);
	RIG_UNTIL(rig_closed(peer) == 1);
	ck_assert_uint_eq(counters_open(&rig.table->seat->counters), 0);
}
END_TEST

/* Uncapped, the waits would double to hours. */
START_TEST(a_refused_connect_is_tried_again)
{
	start();
	RIG_UNTIL(rig_counter(connect_failures) >= 25);
	ck_assert_uint_eq(rig.n_opened, 0);
	ck_assert_uint_ge(rig_n_logged("cannot connect: Connection refused; next attempt"), 1);
	backend_listen(&backends[0]);
	meet(&one, &backends[0], 0);
	peer_end(&one);
}
END_TEST

/* However many failures there are, at most a line a second. */
START_TEST(failures_are_logged_with_a_cap)
{
	uint64_t start_ms = clock_ms();

	start();
	RIG_UNTIL(rig_counter(connect_failures) >= 50);
	ck_assert_uint_le(rig_n_logged("cannot connect"), (clock_ms() - start_ms) / 1000 + 1);
}
END_TEST

/* 40, 80, 160 and 160 ms, of which at least half is waited. */
START_TEST(waits_grow)
{
	uint64_t start_ms = clock_ms();

	settings.reconnect_min_ms = 40;
	settings.reconnect_max_ms = 160;
	start();
	RIG_UNTIL(rig_counter(connect_failures) >= 5);
	ck_assert_uint_ge(clock_ms() - start_ms, 215);
}
END_TEST

/* Half of a wait is chosen: of so many, some differ, though all fail at the same time. */
START_TEST(waits_are_scattered)
{
	char text[32];
	unsigned n, n_all = 0, n_values = 0;

	for (int i = 0; i < MOST_ADDRESSES; i++)
		addresses[i] = backends[0].address;
	settings.common.n_addresses = MOST_ADDRESSES;
	settings.reconnect_min_ms = settings.reconnect_max_ms = 900;
	start();
	RIG_UNTIL(rig_counter(connect_failures) >= MOST_ADDRESSES);
	for (unsigned ms = 450; ms <= 900; ms++) {
		snprintf(text, sizeof(text), "next attempt in %ums", ms);
		n = rig_n_logged(text);
		n_all += n;
		n_values += n > 0;
	}
	ck_assert_uint_eq(n_all, MOST_ADDRESSES);
	ck_assert_uint_gt(n_values, MOST_ADDRESSES / 4);
}
END_TEST

/* A server that takes connections only to close them does not get them at full speed. */
START_TEST(waits_grow_when_connections_end_early)
{
	settings.reconnect_min_ms = 50;
	settings.reconnect_max_ms = 10000;
	backend_listen(&backends[0]);
	start();
	RIG_FOR_MS(300, (backend_turn_away(&backends[0]), rig_counter(connected) <= 4));
	ck_assert_uint_ge(rig_counter(connected), 1);
}
END_TEST

/* The least wait is 1 ms, of which there is no half to choose. */
START_TEST(a_connection_that_lasted_begins_the_row_anew)
{
	settings.reconnect_max_ms = 64;
	start();
	RIG_UNTIL(rig_counter(connect_failures) >= 8);
	backend_listen(&backends[0]);
	meet(&one, &backends[0], 0);
	RIG_FOR_MS(80, rig.n_closed == 0);
	peer_end(&one);
	RIG_UNTIL(rig.n_closed == 1);
	ck_assert_uint_eq(rig_n_logged("the peer ended it; next attempt in 1ms"), 1);
}
END_TEST

START_TEST(a_connection_that_ended_is_made_anew)
{
	uint64_t id;

	backend_listen(&backends[0]);
	start();
	meet(&one, &backends[0], 0);
	id = one.id;
	peer_reset(&one);
	RIG_UNTIL(rig.n_closed == 1);
	ck_assert_ptr_null(connectors_get(connectors, 0, 0));
	ck_assert_ptr_null(connectors_next(connectors, 0));
	peer_end(&one);
	meet(&one, &backends[0], 0);
	ck_assert_uint_ne(one.id, id);
	ck_assert_uint_eq(rig_n_logged("the connection ended: the peer ended it; next"), 1);
	peer_end(&one);
}
END_TEST

#define N_CROWD 8

/* The queue of a server that takes no more connections is full: no answer comes at all. */
static void crowd(const struct backend *backend, int fds[N_CROWD])
{
	struct sockaddr_storage addr;
	socklen_t len;

	ck_assert_int_eq(listen(backend->fd, 0), 0);
	ck_assert_int_eq(address_parse(backend->address, &addr, &len), STATUS_OK);
	for (int i = 0; i < N_CROWD; i++) {
		fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		(void)!connect(fds[i], (struct sockaddr *)&addr, len);
	}
}

static void disperse(const int fds[N_CROWD])
{
	for (int i = 0; i < N_CROWD; i++)
		close(fds[i]);
}

START_TEST(a_connect_without_answer_times_out)
{
	int fds[N_CROWD];

	settings.connect_timeout_ms = 50;
	crowd(&backends[0], fds);
	start();
	RIG_UNTIL(rig_counter(connect_failures) >= 2);
	ck_assert_uint_ge(rig_n_logged("cannot connect: Connection timed out"), 1);
	disperse(fds);
}
END_TEST

/* One address refuses, and the other takes the connection, or does not answer in time. */
START_TEST(it_is_told_when_each_was_tried)
{
	const char *what = _i == 0 ? ": connected" : "Connection timed out";
	int fds[N_CROWD];

	settings.common.n_addresses = 2;
	settings.connect_timeout_ms = 50;
	if (_i == 0)
		backend_listen(&backends[1]);
	else
		crowd(&backends[1], fds);
	start();
	RIG_UNTIL(n_tried > 0);
	ck_assert_uint_eq(rig_n_logged("Connection refused"), 1);
	ck_assert_uint_eq(rig_n_logged(what), 1);
	RIG_UNTIL(rig_counter(connect_failures) > 10);
	ck_assert_uint_eq(n_tried, 1);
	if (_i == 1)
		disperse(fds);
}
END_TEST

START_TEST(a_socket_that_cannot_be_watched_is_a_failure)
{
	backend_listen(&backends[0]);
	rig.is_watch_refused = true;
	start();
	RIG_UNTIL(rig_counter(connect_failures) >= 2);
	ck_assert_uint_eq(rig.n_opened, 0);
	ck_assert_uint_ge(rig_n_logged("cannot connect: Input/output error"), 1);
	rig.is_watch_refused = false;
	RIG_UNTIL(rig.n_opened == 1);
}
END_TEST

static void abort_in_open(struct rnl_conn *conn)
{
	conn_abort(conn, CLOSE_REASON_handler);
}

START_TEST(a_module_may_refuse_it_at_once)
{
	rig.open = abort_in_open;
	backend_listen(&backends[0]);
	start();
	RIG_UNTIL(rig_closed(handler) >= 3);
	ck_assert_ptr_null(connectors_get(connectors, 0, 0));
}
END_TEST

START_TEST(the_next_is_taken_in_turn)
{
	struct peer two;
	struct rnl_conn *first;

	settings.common.n_addresses = 2;
	settings.reconnect_min_ms = settings.reconnect_max_ms = 60000;
	backend_listen(&backends[0]);
	backend_listen(&backends[1]);
	start();
	meet(&one, &backends[0], 0);
	meet(&two, &backends[1], 1);
	first = connectors_next(connectors, 0);
	for (int i = 0; i < 10; i++) {
		struct rnl_conn *conn = connectors_next(connectors, 0);

		ck_assert(conn == one.conn || conn == two.conn);
		ck_assert(conn != first);
		first = conn;
	}
	peer_end(&one);
	RIG_UNTIL(rig.n_closed == 1);
	for (int i = 0; i < 3; i++)
		ck_assert_ptr_eq(connectors_next(connectors, 0), two.conn);
	peer_end(&two);
	RIG_UNTIL(rig.n_closed == 2);
	ck_assert_ptr_null(connectors_next(connectors, 0));
}
END_TEST

/* One whose server has ended its side brings no reply any more. */
START_TEST(a_closing_connection_is_not_up)
{
	backend_listen(&backends[0]);
	start();
	meet(&one, &backends[0], 0);
	conn_hold(one.conn);
	ck_assert_int_eq(shutdown(one.fd, SHUT_WR), 0);
	RIG_UNTIL(one.conn->is_input_over);
	ck_assert_ptr_null(connectors_get(connectors, 0, 0));
	peer_end(&one);
}
END_TEST

static bool is_empty;

static void on_empty(void *arg)
{
	(void)arg;
	is_empty = true;
}

static void stop(void)
{
	is_empty = false;
	rig.table->on_empty = on_empty;
	table_stop(rig.table);
}

/* What a client waits for comes over it. */
START_TEST(it_outlives_the_clients_when_the_worker_stops)
{
	backend_listen(&backends[0]);
	start();
	meet(&one, &backends[0], 0);
	peer_open_tcp(&client);
	conn_hold(client.conn);
	stop();
	RIG_FOR_MS(50, one.conn->state == CONN_OPEN && client.conn->state == CONN_OPEN);
	ck_assert_ptr_eq(connectors_get(connectors, 0, 0), one.conn);
	/* A request goes and a reply comes back. */
	ck_assert_int_eq(send_filled(one.conn, 1, LEN), RNL_OK);
	RIG_UNTIL((peer_read(&one), one.n_got == HEAD + LEN));
	peer_send(&one, 2, LEN);
	RIG_UNTIL(rig.n_handled == 1);
	ck_assert_int_eq(send_filled(client.conn, 3, LEN), RNL_OK);
	conn_release(client.conn);
	RIG_UNTIL(peer_has_end(&client));
	peer_expect(&client, 3, 1, LEN);
	ck_assert(!is_empty);
	peer_end(&client);
	RIG_UNTIL(peer_has_end(&one));
	ck_assert_int_eq(one.end, 0);
	peer_end(&one);
	RIG_UNTIL(is_empty);
	ck_assert_uint_eq(rig_closed(shutdown), 2);
}
END_TEST

/* Longer than its clients' moments; it is even made anew meanwhile. */
START_TEST(it_outlives_the_clients_when_the_worker_drains)
{
	backend_listen(&backends[0]);
	start();
	meet(&one, &backends[0], 0);
	peer_open_tcp(&client);
	conn_hold(client.conn);
	is_empty = false;
	rig.table->on_empty = on_empty;
	table_drain(rig.table, 1);
	RIG_UNTIL(client.conn->is_input_over);
	RIG_FOR_MS(100, one.conn->state == CONN_OPEN && client.conn->state == CONN_OPEN);
	peer_end(&one);
	meet(&one, &backends[0], 0);
	conn_release(client.conn);
	RIG_UNTIL(peer_has_end(&client));
	peer_end(&client);
	RIG_UNTIL(peer_has_end(&one));
	peer_end(&one);
	RIG_UNTIL(is_empty);
	RIG_FOR_MS(20, rig_counter(connected) == 2);
}
END_TEST

START_TEST(without_clients_it_ends_when_the_worker_drains)
{
	backend_listen(&backends[0]);
	start();
	meet(&one, &backends[0], 0);
	is_empty = false;
	rig.table->on_empty = on_empty;
	table_drain(rig.table, 60000);
	RIG_UNTIL(peer_has_end(&one));
	peer_end(&one);
	RIG_UNTIL(is_empty);
}
END_TEST

static bool take_over(struct rnl_conn *conn, void *arg)
{
	*(struct rnl_conn **)arg = conn;
	return true;
}

/* Another worker has its own; and a reply that is owed is owed here. */
START_TEST(neither_it_nor_who_waits_for_it_moves)
{
	struct rnl_conn *moved = NULL;

	backend_listen(&backends[0]);
	start();
	meet(&one, &backends[0], 0);
	peer_open_tcp(&client);
	conn_hold(client.conn);
	rig.table->move = take_over;
	rig.table->move_arg = &moved;
	rig.table->movable = UINT64_MAX;
	peer_send(&one, 1, LEN);
	peer_send(&client, 1, LEN);
	RIG_UNTIL(rig.n_handled == 2);
	RIG_FOR_MS(20, moved == NULL);
	conn_release(client.conn);
	table_schedule_all(rig.table);
	RIG_UNTIL(moved != NULL);
	ck_assert_ptr_eq(moved, client.conn);
	ck_assert_ptr_eq(connectors_get(connectors, 0, 0), one.conn);
	/* The rig counts each open. */
	rig.n_closed++;
	peer_end(&client);
	peer_end(&one);
}
END_TEST

START_TEST(without_clients_it_ends_when_the_worker_stops)
{
	backend_listen(&backends[0]);
	start();
	meet(&one, &backends[0], 0);
	ck_assert_int_eq(send_filled(one.conn, 1, LEN), RNL_OK);
	stop();
	RIG_UNTIL(peer_has_end(&one));
	peer_expect(&one, 1, 1, LEN);
	peer_end(&one);
	RIG_UNTIL(is_empty);
	ck_assert_uint_eq(rig_n_logged("next attempt"), 0);
}
END_TEST

/* It is made again for a client that comes late, and nobody hears of that. */
START_TEST(one_that_a_draining_worker_ends_is_no_trouble)
{
	backend_listen(&backends[0]);
	start();
	meet(&one, &backends[0], 0);
	conn_hold(one.conn);
	is_empty = false;
	rig.table->on_empty = on_empty;
	table_drain(rig.table, 60000);
	peer_open_tcp(&client);
	conn_hold(client.conn);
	conn_release(one.conn);
	RIG_UNTIL(peer_has_end(&one));
	peer_end(&one);
	meet(&one, &backends[0], 0);
	ck_assert_uint_eq(rig_n_logged("next attempt"), 0);
	conn_release(client.conn);
	peer_end(&client);
	RIG_UNTIL(peer_has_end(&one));
	peer_end(&one);
	RIG_UNTIL(is_empty);
	ck_assert_uint_eq(rig_n_logged("next attempt"), 0);
}
END_TEST

/* _i: one that had ended; one that waits for its next attempt; one that is about to be made. */
START_TEST(none_is_made_while_the_worker_stops)
{
	unsigned n = _i == 0;

	if (_i != 1)
		backend_listen(&backends[0]);
	start();
	if (_i == 0)
		meet(&one, &backends[0], 0);
	if (_i == 1)
		RIG_UNTIL(rig_counter(connect_failures) > 0);
	peer_open_tcp(&client);
	conn_hold(client.conn);
	stop();
	if (_i == 0)
		peer_end(&one);
	if (_i == 1)
		backend_listen(&backends[0]);
	RIG_FOR_MS(
	    50, rig_counter(connected) == n && (_i == 2 || backend_accept(&backends[0]) < 0));
	conn_release(client.conn);
	peer_end(&client);
	RIG_UNTIL(is_empty);
}
END_TEST

/*
 * All connections are cut off. _i: one that is up; one that waits for its next attempt; one
 * that is about to be made, whose outcome comes in the turn in which the last job ends.
 */
START_TEST(none_is_made_when_all_are_cut_off)
{
	unsigned n = _i == 0;

	if (_i != 1)
		backend_listen(&backends[0]);
	start();
	if (_i == 0)
		meet(&one, &backends[0], 0);
	if (_i == 1)
		RIG_UNTIL(rig_counter(connect_failures) > 0);
	table_abort(rig.table, CLOSE_REASON_shutdown);
	if (_i == 1)
		backend_listen(&backends[0]);
	RIG_FOR_MS(
	    50, rig_counter(connected) == n && (_i == 2 || backend_accept(&backends[0]) < 0));
	ck_assert_uint_eq(rig.table->n_conns, 0);
	if (_i == 0)
		peer_end(&one);
}
END_TEST

TCase *connecting_tests(void)
{
	TCase *tcase = tcase_create("connecting");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, a_connection_is_served_as_an_accepted_one);
	tcase_add_test(tcase, a_connection_is_made_over_ipv6);
	tcase_add_test(tcase, no_message_is_longer_than_max_message);
	tcase_add_test(tcase, it_is_counted_apart);
	tcase_add_test(tcase, a_refused_connect_is_tried_again);
	tcase_add_test(tcase, failures_are_logged_with_a_cap);
	tcase_add_test(tcase, waits_grow);
	tcase_add_test(tcase, waits_are_scattered);
	tcase_add_test(tcase, waits_grow_when_connections_end_early);
	tcase_add_test(tcase, a_connection_that_lasted_begins_the_row_anew);
	tcase_add_test(tcase, a_connection_that_ended_is_made_anew);
	tcase_add_test(tcase, a_connect_without_answer_times_out);
	tcase_add_loop_test(tcase, it_is_told_when_each_was_tried, 0, 2);
	tcase_add_test(tcase, a_socket_that_cannot_be_watched_is_a_failure);
	tcase_add_test(tcase, a_module_may_refuse_it_at_once);
	tcase_add_test(tcase, the_next_is_taken_in_turn);
	tcase_add_test(tcase, a_closing_connection_is_not_up);
	tcase_add_test(tcase, it_outlives_the_clients_when_the_worker_stops);
	tcase_add_test(tcase, it_outlives_the_clients_when_the_worker_drains);
	tcase_add_test(tcase, without_clients_it_ends_when_the_worker_drains);
	tcase_add_test(tcase, neither_it_nor_who_waits_for_it_moves);
	tcase_add_test(tcase, without_clients_it_ends_when_the_worker_stops);
	tcase_add_test(tcase, one_that_a_draining_worker_ends_is_no_trouble);
	tcase_add_loop_test(tcase, none_is_made_while_the_worker_stops, 0, 3);
	tcase_add_loop_test(tcase, none_is_made_when_all_are_cut_off, 0, 3);
	return tcase;
}
