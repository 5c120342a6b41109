/*
 * What a module can do: each call of <runnel/module.h>, from each place where it
 * may be made.
 */
#include "config.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/process.h"
#include "system/run.h"

static struct daemon *start_probe(unsigned n_workers, const char *options)
{
	struct daemon *daemon = daemon_new(n_workers,
	    "module probe { path = \"" PROBE_PATH "\" %s }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { probe } }\n",
	    options);

	daemon_start(daemon);
	return daemon;
}

static uint16_t port_of(int fd)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	return ntohs(address.sin_port);
}

/* Address and data are valid in the close hook; each open has one close. */
START_TEST(connection_has_id_peer_listener_and_data_to_its_end)
{
	struct daemon *daemon = start_probe(run_workers(_i), "");
	char lines[8][128];
	uint64_t ids[8];

	for (int i = 0; i < 8; i++) {
		int fd = client_connect(daemon_port(daemon, "main"));
		struct identity identity = probe_who(fd);
		char peer[32];

		snprintf(peer, sizeof(peer), "127.0.0.1:%u", port_of(fd));
		ck_assert_str_eq(identity.peer, peer);
		ck_assert_str_eq(identity.listener, "main");
		ck_assert_uint_ne(identity.id, 0);
		for (int k = 0; k < i; k++)
			ck_assert_uint_ne(identity.id, ids[k]);
		ids[i] = identity.id;
		snprintf(lines[i], sizeof(lines[i]),
		    "closed %" PRIu64 " from %s on main, data valid, send -3", identity.id,
		    peer);
		close(fd);
	}
	for (int i = 0; i < 8; i++)
		WAIT_FOR(daemon_n_logged(daemon, lines[i]) == 1);
	daemon_end(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon, "data valid"), 8);
	ck_assert_uint_eq(daemon_n_logged(daemon, "left 0"), daemon->n_workers);
	daemon_destroy(&daemon);
}
END_TEST

static int connect_v6(uint16_t port, char peer[64])
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(address);

	address.sin6_addr = in6addr_loopback;
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	snprintf(peer, 64, "[::1]:%u", ntohs(address.sin6_port));
	return fd;
}

static bool has_v6(void)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6 };
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool can_bind;

	address.sin6_addr = in6addr_loopback;
	can_bind = fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0;
	if (fd >= 0)
		close(fd);
	return can_bind;
}

/* One listener with addresses of both families on the same port. */
START_TEST(peer_over_ipv6_has_its_address)
{
	uint16_t port = client_free_port();
	struct daemon *daemon = daemon_new(run_workers(_i),
	    PROBE_SECTION "listen main { modules = { probe }\n"
			  "address = { \"127.0.0.1:%u\", \"[::1]:%u\" } }\n",
	    port, port);
	char peer[64];
	int fd;

	daemon_start(daemon);
	fd = connect_v6(port, peer);
	ck_assert_str_eq(probe_who(fd).peer, peer);
	close(fd);
	fd = client_connect(port);
	client_ping(fd, "over IPv4, too");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(open_hook_may_send_and_close_and_abort)
{
	static const char *const how[] = { "on-open = greet", "on-open = close",
		"on-open = abort" };
	struct daemon *daemon = start_probe(1, how[_i]);

	for (int i = 0; i < 10; i++) {
		int fd = client_connect(daemon_port(daemon, "main"));

		if (_i < 2)
			ck_assert_uint_eq(probe_result(fd), 0);
		if (_i == 0)
			client_ping(fd, "after the greeting");
		else if (_i == 1)
			client_expect_eof(fd);
		else
			ck_assert_uint_eq(client_expect_end(fd), 0);
		close(fd);
	}
	daemon_end(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon, "data valid"), 10);
	ck_assert(daemon_has_logged(daemon, "opened 10 closed 10 left 0"));
	daemon_expect_counter(daemon, _i == 0 ? "closed_peer" : "closed_handler", 10);
	daemon_destroy(&daemon);
}
END_TEST

/* The verdict flushes and closes; later requests of the batch are not seen. */
START_TEST(close_verdict_flushes_and_ends)
{
	struct daemon *daemon = start_probe(1, "");
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes request = { 0 }, reply = { 0 };

	bytes_add_tlv(&request, PROBE_ECHO, "one", 3);
	bytes_add_tlv(&request, PROBE_CLOSE_VERDICT, "two", 3);
	bytes_add(&reply, request.data, request.len);
	bytes_add_tlv(&request, PROBE_ECHO, "three", 5);
	client_send(fd, request.data, request.len);
	client_expect(fd, &reply);
	client_expect_eof(fd);
	close(fd);
	daemon_end(daemon);
	ck_assert(daemon_has_logged(daemon, "opened 1 closed 1 left 0"));
	daemon_expect_counter(daemon, "closed_handler", 1);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(abort_drops_what_is_queued)
{
	static const uint32_t how[] = { PROBE_ABORT, PROBE_ABORT_VERDICT };
	struct daemon *daemon = start_probe(1, "");
	int fd = client_connect(daemon_port(daemon, "main"));

	client_ping(fd, "before");
	probe_send(fd, how[_i], 0);
	ck_assert_uint_eq(client_expect_end(fd), 0);
	close(fd);
	daemon_end(daemon);
	if (how[_i] == PROBE_ABORT)
		ck_assert(daemon_has_logged(daemon, "send after abort: -3"));
	ck_assert(daemon_has_logged(daemon, "opened 1 closed 1 left 0"));
	daemon_expect_counter(daemon, "closed_handler", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* Another connection's handler, and a timer: outside of the closed one's own batch. */
START_TEST(connection_is_closed_from_elsewhere)
{
	static const uint32_t how[] = { PROBE_CLOSE_OTHER, PROBE_ABORT_OTHER,
		PROBE_TIMER_CLOSE };
	struct daemon *daemon = start_probe(1, "");
	int asker = client_connect(daemon_port(daemon, "main"));
	int victim = client_connect(daemon_port(daemon, "main"));
	uint64_t id = probe_who(victim).id;

	probe_send(asker, how[_i], 2, PROBE_ID(id));
	if (how[_i] != PROBE_TIMER_CLOSE)
		ck_assert_uint_eq(probe_result(asker), 0);
	if (how[_i] == PROBE_ABORT_OTHER)
		client_expect_end(victim);
	else
		client_expect_eof(victim);
	close(victim);
	WAIT_FOR(daemon_n_logged(daemon, "data valid") == 1);
	client_ping(asker, "not me");
	close(asker);
	daemon_end(daemon);
	ck_assert(daemon_has_logged(daemon, "opened 2 closed 2 left 0"));
	daemon_expect_counter(daemon, "closed_handler", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* A connection may close or abort itself by way of its id, too. */
START_TEST(connection_closes_itself_through_its_id)
{
	static const uint32_t how[] = { PROBE_CLOSE_OTHER, PROBE_ABORT_OTHER };
	struct daemon *daemon = start_probe(1, "");
	int fd = client_connect(daemon_port(daemon, "main"));
	uint64_t id = probe_who(fd).id;

	probe_send(fd, how[_i], 2, PROBE_ID(id));
	ck_assert_uint_eq(client_expect_end(fd), 0);
	close(fd);
	daemon_end(daemon);
	ck_assert(daemon_has_logged(daemon, "opened 1 closed 1 left 0"));
	daemon_destroy(&daemon);
}
END_TEST

/* From the handler of one of them: it may be closed, too, while its batch is served. */
START_TEST(all_connections_are_closed_from_a_handler)
{
	static const uint32_t how[] = { PROBE_CLOSE_ALL, PROBE_ABORT_ALL };
	struct daemon *daemon = start_probe(1, "");
	struct bytes request = { 0 };
	int fds[50];

	for (int i = 0; i < 50; i++) {
		fds[i] = client_connect(daemon_port(daemon, "main"));
		client_ping(fds[i], "here");
	}
	bytes_add_tlv(&request, how[_i], "farewell", 8);
	client_send(fds[20], request.data, request.len);
	for (int i = 0; i < 50; i++) {
		if (how[_i] == PROBE_CLOSE_ALL) {
			client_expect(fds[i], &request);
			client_expect_eof(fds[i]);
		} else {
			ck_assert_uint_eq(client_expect_end(fds[i]), 0);
		}
		close(fds[i]);
	}
	bytes_free(&request);
	daemon_end(daemon);
	ck_assert(daemon_has_logged(daemon, "opened 50 closed 50 left 0"));
	daemon_expect_counter(daemon, "closed_handler", 50);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(stale_and_foreign_ids_are_not_found)
{
	struct daemon *daemon = start_probe(4, "");
	uint16_t port = daemon_port(daemon, "main");
	int fd = probe_connect_to_worker(port, 0), mine = probe_connect_to_worker(port, 0);
	int other = probe_connect_to_worker(port, 1);
	uint64_t id = probe_who(mine).id, foreign_id = probe_who(other).id;
	bool is_gone = false;

	probe_send(fd, PROBE_FIND, 2, PROBE_ID(id));
	ck_assert_uint_eq(probe_result(fd), 1);
	probe_send(fd, PROBE_FIND, 2, PROBE_ID(foreign_id));
	ck_assert_uint_eq(probe_result(fd), 0);
	probe_send(fd, PROBE_FIND, 2, 0, 0);
	ck_assert_uint_eq(probe_result(fd), 0);
	probe_send(fd, PROBE_FIND, 2, 0xffffffff, 0xffffffff);
	ck_assert_uint_eq(probe_result(fd), 0);
	close(mine);
	while (!is_gone) {
		probe_send(fd, PROBE_FIND, 2, PROBE_ID(id));
		is_gone = probe_result(fd) == 0;
	}
	close(fd);
	close(other);
	daemon_stop(&daemon);
}
END_TEST

/* Numbers first to first + n - 1, each of size bytes. */
static void expect_pushes(int fd, uint32_t first, uint32_t n, size_t size)
{
	static const uint8_t zeros[1024];
	struct bytes pushes = { 0 };

	for (uint32_t i = first; i < first + n; i++) {
		bytes_add_be32(&pushes, PROBE_PUSH);
		bytes_add_be32(&pushes, (uint32_t)size);
		bytes_add_be32(&pushes, i);
		bytes_add(&pushes, zeros, size - 4);
	}
	client_expect(fd, &pushes);
	bytes_free(&pushes);
}

/* From another connection's handler, and from a timer: both leave at once, in order. */
START_TEST(sends_from_elsewhere_leave_at_once_and_in_order)
{
	struct daemon *daemon = start_probe(1, "");
	int asker = client_connect(daemon_port(daemon, "main"));
	int receiver = client_connect(daemon_port(daemon, "main"));
	uint64_t id = probe_who(receiver).id;

	for (int round = 0; round < 20; round++) {
		probe_send(asker, PROBE_SEND_TO, 3, PROBE_ID(id), 50);
		expect_pushes(receiver, 0, 50, 4);
		ck_assert_uint_eq(probe_result(asker), 50);
		probe_send(asker, PROBE_TIMER_SEND, 3, PROBE_ID(id), 50);
		expect_pushes(receiver, 0, 50, 4);
		client_ping(receiver, "my own");
	}
	close(asker);
	close(receiver);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(broadcast_reaches_all_connections_in_order)
{
	struct daemon *daemon = start_probe(1, "");
	int fds[100];

	for (int i = 0; i < 100; i++) {
		fds[i] = client_connect(daemon_port(daemon, "main"));
		client_ping(fds[i], "here");
	}
	probe_send(fds[0], PROBE_BROADCAST, 1, 200);
	for (int i = 0; i < 100; i++)
		expect_pushes(fds[i], 0, 200, 4);
	for (int i = 0; i < 100; i++) {
		client_ping(fds[i], "still here");
		close(fds[i]);
	}
	daemon_stop(&daemon);
}
END_TEST

/* In one copy: what a receiver that does not read costs is far less than the messages. */
START_TEST(shared_broadcast_costs_one_copy)
{
	struct daemon *daemon = start_probe(1, "");
	pid_t worker = daemon_worker(daemon, 0);
	int fds[100], asker;
	uint64_t before_kb;

	for (int i = 0; i < 100; i++) {
		fds[i] = client_connect_small(daemon_port(daemon, "main"));
		client_ping(fds[i], "here");
	}
	asker = client_connect(daemon_port(daemon, "main"));
	client_ping(asker, "here");
	before_kb = process_memory_kb(worker);
	/* 100 receivers x 500 messages x 1 KiB: 50 MB as copies. */
	probe_send(asker, PROBE_SHARED, 2, 500, 1024);
	expect_pushes(asker, 0, 500, 1024);
	client_ping(asker, "all have it");
	ck_assert_uint_lt(process_growth_kb(worker, before_kb), 12 << 10);
	for (int i = 0; i < 100; i++) {
		expect_pushes(fds[i], 0, 500, 1024);
		client_ping(fds[i], "still here");
		close(fds[i]);
	}
	close(asker);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "sends_refused", 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(every_way_to_send_makes_the_same_frame)
{
	static const uint32_t ways[] = { PROBE_ECHO, PROBE_PARTS, PROBE_IN_PLACE,
		PROBE_FORGET };
	static const size_t lens[] = { 4, 5, 127, 128, 1000, 4096 };
	struct daemon *daemon = start_probe(1, "");
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes stream = { 0 };

	for (uint32_t i = 0; i < 600; i++) {
		if (i % 11 == 0)
			bytes_add_tlv(&stream, ways[i % 4], NULL, 0);
		else
			bytes_add_filled(&stream, ways[i % 4], i, lens[i % 6]);
	}
	client_exchange(fd, &stream, &stream);
	close(fd);
	bytes_free(&stream);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(connections_are_counted)
{
	struct daemon *daemon = start_probe(1, "");
	int fds[10];

	for (int i = 0; i < 10; i++) {
		fds[i] = client_connect(daemon_port(daemon, "main"));
		probe_send(fds[i], PROBE_COUNT, 0);
		ck_assert_uint_eq(probe_result(fds[i]), (unsigned)i + 1);
	}
	for (int i = 0; i < 10; i++)
		close(fds[i]);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(chain_runs_before_handle_after)
{
	struct daemon *daemon = start_probe(1, "");
	int fd = client_connect(daemon_port(daemon, "main"));
	char text[PROBE_TEXT_SIZE];

	probe_send(fd, PROBE_CHAIN, 0);
	ck_assert_str_eq(probe_text(fd, PROBE_CHAIN, text), "bha");
	probe_send(fd, PROBE_CHAIN_DONE, 0);
	ck_assert_str_eq(probe_text(fd, PROBE_CHAIN_DONE, text), "b");
	probe_send(fd, PROBE_CHAIN_BARE, 0);
	client_ping(fd, "nothing came");
	probe_send(fd, PROBE_CHAIN_CLOSE, 0);
	client_expect_eof(fd);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "unknown_ids", 1);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(malformed_is_counted_and_logged_once_a_second)
{
	struct daemon *daemon = start_probe(1, "");
	int fd = client_connect(daemon_port(daemon, "main"));
	uint64_t start_ms = wait_now_ms(), seconds;

	for (int i = 0; i < 300; i++)
		probe_send(fd, PROBE_MALFORMED, 0);
	client_ping(fd, "no harm done");
	seconds = (wait_now_ms() - start_ms) / 1000;
	ck_assert_uint_ge(daemon_n_logged(daemon, "the client asked for it"), 1);
	ck_assert_uint_le(daemon_n_logged(daemon, "the client asked for it"), seconds + 2);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "malformed", 300);
	daemon_destroy(&daemon);
}
END_TEST

/* Two listeners, one of them with two modules: each hook gets its own, and data do not mix. */
START_TEST(modules_and_listeners_are_kept_apart)
{
	struct daemon *daemon = daemon_new(1, PROBE_SECTION
	    "module c10k { }\n"
	    "listen both { address = \"127.0.0.1:0\" modules = { c10k, probe } }\n"
	    "listen bare { address = \"127.0.0.1:0\" modules = { c10k } }\n");
	struct bytes request = { 0 };
	uint8_t reply[20];
	int both, bare;

	daemon_start(daemon);
	both = client_connect(daemon_port(daemon, "both"));
	bare = client_connect(daemon_port(daemon, "bare"));
	bytes_add_tlv(&request, 1001, "\0\0\0\1\0\0\0\2\0\0\0\0", 12);
	client_send(both, request.data, request.len);
	client_receive(both, reply, sizeof(reply));
	ck_assert_str_eq(probe_who(both).listener, "both");
	probe_send(both, PROBE_COUNT, 0);
	ck_assert_uint_eq(probe_result(both), 1);
	/* The listener "bare" does not know the probe's ids. */
	probe_send(bare, PROBE_WHO, 0);
	client_send(bare, request.data, request.len);
	client_receive(bare, reply, sizeof(reply));
	ck_assert_int_eq(memcmp(reply, "\0\0\3\351", 4), 0);
	close(both);
	close(bare);
	daemon_end(daemon);
	ck_assert(daemon_has_logged(daemon, "opened 1 closed 1 left 0"));
	daemon_expect_counter(daemon, "unknown_ids", 1);
	bytes_free(&request);
	daemon_destroy(&daemon);
}
END_TEST

/*
 * A daemon that is its own upstream. Hooks are called for both ends; rnl_each() visits the end
 * that was accepted only, and routes for clients do not see what comes from the upstream.
 */
START_TEST(connections_to_upstreams_are_no_clients)
{
	uint16_t port = client_free_port();
	struct daemon *daemon = daemon_new(1,
	    PROBE_SECTION
	    "module echo { }\n"
	    "connect self { address = \"127.0.0.1:%u\" modules = { probe, echo } }\n"
	    "listen main { address = \"127.0.0.1:%u\" modules = { probe } }\n",
	    port, port);
	uint32_t id;
	uint8_t number[4];
	int fd;

	daemon_start(daemon);
	fd = client_connect(port);
	do
		probe_send(fd, PROBE_COUNT, 0);
	while (probe_result(fd) < 2);
	WAIT_FOR(daemon_has_logged(daemon, "connect self: 127.0.0.1:"));
	probe_send(fd, PROBE_COUNT, 0);
	ck_assert_uint_eq(probe_result(fd), 2);
	probe_send(fd, PROBE_SHARED, 2, 3, 4);
	for (int i = 0; i < 3; i++) {
		client_receive_tlv(fd, &id, number, sizeof(number));
		ck_assert_uint_eq(id, PROBE_PUSH);
	}
	close(fd);
	daemon_end(daemon);
	ck_assert(daemon_has_logged(daemon, "on self, data valid, send -3"));
	ck_assert(daemon_has_logged(daemon, "opened 3 closed 3 left 0"));
	daemon_expect_counter(daemon, "accepted", 2);
	daemon_expect_counter(daemon, "connected", 1);
	daemon_expect_counter(daemon, "unknown_ids", 3);
	daemon_destroy(&daemon);
}
END_TEST

/* It ends the worker, and the log tells the author what to look for. */
START_TEST(misuse_is_told_in_the_words_of_the_header)
{
	static const char *const texts[PROBE_MISUSE_END] = {
		[PROBE_MISUSE_RELEASE] = "rnl_release() more often than rnl_hold()",
		[PROBE_MISUSE_COMMIT] = "rnl_commit() with more bytes than it has reserved",
		[PROBE_MISUSE_TIMER] = "rnl_stop_timer() with a timer that is gone",
		[PROBE_MISUSE_GET] = "rnl_upstream_get() for an address that the upstream does",
		[PROBE_MISUSE_NEXT] = "rnl_upstream_next() for an upstream that is not there",
	};
	struct daemon *daemon = daemon_new(1, "%s",
	    PROBE_SECTION "connect out { address = \"127.0.0.1:1\" modules = { probe } }\n"
			  "listen main { address = \"127.0.0.1:0\" modules = { probe } }\n");
	char line[160];
	int fd;

	daemon_start(daemon);
	fd = client_connect(daemon_port(daemon, "main"));
	probe_send(fd, PROBE_MISUSE, 1, _i);
	client_expect_end(fd);
	close(fd);
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	snprintf(line, sizeof(line), "its last words: a module calls %s", texts[_i]);
	ck_assert(daemon_has_logged(daemon, line));
	ck_assert(daemon_has_logged(daemon, "it died with module 'probe' handling a message"));
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("f_calls");
	TCase *calls = run_case(suite, "calls");
	TCase *closing = run_case(suite, "closing");

	run_add_workers(calls, connection_has_id_peer_listener_and_data_to_its_end);
	if (has_v6())
		run_add_workers(calls, peer_over_ipv6_has_its_address);
	tcase_add_test(calls, stale_and_foreign_ids_are_not_found);
	tcase_add_loop_test(
	    calls, misuse_is_told_in_the_words_of_the_header, 0, PROBE_MISUSE_END);
	tcase_add_test(calls, sends_from_elsewhere_leave_at_once_and_in_order);
	tcase_add_test(calls, broadcast_reaches_all_connections_in_order);
	tcase_add_test(calls, shared_broadcast_costs_one_copy);
	tcase_add_test(calls, every_way_to_send_makes_the_same_frame);
	tcase_add_test(calls, connections_are_counted);
	tcase_add_test(calls, chain_runs_before_handle_after);
	tcase_add_test(calls, malformed_is_counted_and_logged_once_a_second);
	tcase_add_test(calls, modules_and_listeners_are_kept_apart);
	tcase_add_test(calls, connections_to_upstreams_are_no_clients);
	tcase_add_loop_test(closing, open_hook_may_send_and_close_and_abort, 0, 3);
	tcase_add_test(closing, close_verdict_flushes_and_ends);
	tcase_add_loop_test(closing, abort_drops_what_is_queued, 0, 2);
	tcase_add_loop_test(closing, connection_is_closed_from_elsewhere, 0, 3);
	tcase_add_loop_test(closing, connection_closes_itself_through_its_id, 0, 2);
	tcase_add_loop_test(closing, all_connections_are_closed_from_a_handler, 0, 2);
	return run_suite(suite);
}
