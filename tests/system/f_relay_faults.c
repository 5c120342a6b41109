/*
 * Module relay: backends that are gone, late or slow, clients that are, and the
 * end of the relay itself.
 */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/backend.h"
#include "system/client.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/relay.h"
#include "system/run.h"

/* --- failures --- */

START_TEST(a_late_reply_reaches_nobody)
{
	struct backend backend;
	struct message late, request, reply;
	int server, fd;
	struct daemon *relay =
	    relay_start_before(&backend, "on-failure = tell reply-timeout = 50ms", &server);

	fd = relay_connect(relay);
	message_say(fd, 1, "slow");
	late = message_receive(server);
	relay_expect_failure(fd, 1, RELAY_LATE);
	message_send(server, &late);
	client_await_read(server);
	do {
		message_say(fd, 2, "fast");
		request = message_receive(server);
		message_send(server, &request);
		reply = message_receive(fd);
	} while (reply.id == RELAY_FAILURE);
	message_expect(&reply, 2, 0, "fast");
	close(fd);
	close(server);
	daemon_end(relay);
	daemon_expect_counter(relay, "connected", 1);
	ck_assert_uint_ge(daemon_counter(relay, "malformed"), 1);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

/* Each in its time, also when the one that was looked out for has been answered. */
START_TEST(each_request_is_late_in_its_time)
{
	struct backend backend;
	struct message requests[3], reply;
	int server, fd;
	struct daemon *relay =
	    relay_start_before(&backend, "on-failure = tell reply-timeout = 2s", &server);

	fd = relay_connect(relay);
	for (uint32_t i = 0; i < 3; i++) {
		uint64_t later_ms = wait_now_ms() + 20;

		message_say(fd, i, "a request");
		requests[i] = message_receive(server);
		WAIT_FOR(wait_now_ms() > later_ms);
	}
	message_send(server, &requests[0]);
	reply = message_receive(fd);
	message_expect(&reply, 0, 0, "a request");
	relay_expect_failure(fd, 1, RELAY_LATE);
	relay_expect_failure(fd, 2, RELAY_LATE);
	close(fd);
	close(server);
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

/* libev looks at the wall clock each half second, so the reply is late after that. */
START_TEST(a_clock_that_is_set_back_changes_nothing)
{
	const char *given = getenv("LD_PRELOAD");
	struct backend backend;
	struct daemon *relay;
	char text[512];
	int server, fd;
	FILE *file;

	snprintf(text, sizeof(text), "%s/wall.so%s%s", SHIMS, given != NULL ? ":" : "",
	    given != NULL ? given : "");
	setenv("LD_PRELOAD", text, 1);
	snprintf(text, sizeof(text), "%s/wall-back", run_folder());
	setenv("RUNNEL_WALL_BACK", text, 1);
	relay = relay_start_before(&backend, "on-failure = tell reply-timeout = 1s", &server);
	fd = relay_connect(relay);
	message_say(fd, 7, "a request");
	message_receive(server);
	file = fopen(text, "we");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fclose(file), 0);
	relay_expect_failure(fd, 7, RELAY_LATE);
	close(fd);
	close(server);
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

/* All that are in flight there fail, not only the late one. */
START_TEST(by_order_a_late_reply_ends_the_connection)
{
	struct backend backend;
	int server, fd, other;
	struct daemon *relay = relay_start_before(
	    &backend, "match = order on-failure = tell reply-timeout = 50ms", &server);

	fd = relay_connect(relay);
	other = relay_connect(relay);
	message_say(fd, 1, "slow");
	(void)message_receive(server);
	relay_expect_failure(fd, 1, RELAY_LATE);
	client_expect_end(server);
	close(server);
	server = backend_accept(&backend);
	close(fd);
	close(other);
	close(server);
	daemon_end(relay);
	daemon_expect_counter(relay, "closed_handler", 1);
	relay_expect_count(relay, "late", 1);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

/* By tag and by order: the reply to a client that has left is for none that comes later. */
START_TEST(the_reply_to_a_client_that_has_left_reaches_nobody)
{
	struct backend backend;
	struct message first, second, reply;
	int server, fd;
	struct daemon *relay =
	    relay_start_before(&backend, _i == 0 ? "match = tag" : "match = order", &server);

	fd = relay_connect(relay);
	message_say(fd, 1, "and goodbye");
	first = message_receive(server);
	client_reset(fd);
	fd = relay_connect(relay);
	message_say(fd, 1, "another");
	second = message_receive(server);
	message_send(server, &first);
	message_send(server, &second);
	reply = message_receive(fd);
	message_expect(&reply, 1, 0, "another");
	close(fd);
	close(server);
	daemon_end(relay);
	relay_expect_count(relay, "gone", 1);
	relay_expect_count(relay, "replies", 1);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

/* With the connection go the requests on it; the default is to close their clients. */
START_TEST(requests_on_a_lost_connection_fail)
{
	struct backend backend;
	int server, fds[5], bystander;
	struct message request;
	uint8_t octet;
	struct daemon *relay =
	    relay_start_before(&backend, _i == 0 ? "on-failure = tell" : "", &server);

	bystander = relay_connect(relay);
	for (int i = 0; i < 5; i++) {
		fds[i] = relay_connect(relay);
		message_say(fds[i], 7, "a request");
		(void)message_receive(server);
	}
	client_reset(server);
	server = backend_accept(&backend);
	for (int i = 0; i < 5; i++) {
		if (_i == 0)
			relay_expect_failure(fds[i], 7, RELAY_LOST);
		else
			client_expect_eof(fds[i]);
		close(fds[i]);
	}
	ck_assert(daemon_has_logged(relay, "5 requests were in flight"));
	/* Who had asked nothing is not concerned. */
	if (_i == 0) {
		request = relay_ask(bystander, server, 8, "still there");
		message_send(server, &request);
		request = message_receive(bystander);
		message_expect(&request, 8, 0, "still there");
	}
	ck_assert_int_eq(recv(bystander, &octet, 1, MSG_DONTWAIT), -1);
	ck_assert_int_eq(errno, EAGAIN);
	close(bystander);
	close(server);
	daemon_end(relay);
	relay_expect_count(relay, "lost", 5);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

START_TEST(without_a_backend_requests_fail_at_once)
{
	char upstream[64];
	struct daemon *relay;
	int fd;

	snprintf(upstream, sizeof(upstream), "address = \"127.0.0.1:%u\"", client_free_port());
	relay = relay_start(
	    _i == 0 ? "on-failure = tell failure-id = 4294967295" : "", upstream, "");
	fd = relay_connect(relay);
	message_say(fd, 7, "is anybody there");
	if (_i == 0)
		relay_expect_failure(fd, 7, RELAY_DOWN);
	else
		client_expect_eof(fd);
	close(fd);
	daemon_end(relay);
	relay_expect_count(relay, "down", 1);
	daemon_destroy(&relay);
}
END_TEST

/* A worker that is ready has tried: so a reload loses no request for want of a connection. */
START_TEST(a_worker_is_ready_when_its_upstreams_were_tried)
{
	struct backend backend;
	char upstream[64];
	struct daemon *relay;
	const char *log, *tried;

	backend_open_crowded(&backend);
	snprintf(upstream, sizeof(upstream),
	    "address = \"127.0.0.1:%u\" connect-timeout = 100ms", backend.port);
	relay = relay_start("", upstream, "");
	log = daemon_read(relay, relay->log);
	tried = strstr(log, "cannot connect: Connection timed out");
	ck_assert_ptr_nonnull(tried);
	ck_assert(strstr(log, "ready: ") > tried);
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

/* Nor does one that does not answer for long keep it from being ready. */
START_TEST(a_backend_that_does_not_answer_keeps_no_worker)
{
	struct backend backend;
	char upstream[64];
	struct daemon *relay;

	backend_open_crowded(&backend);
	snprintf(upstream, sizeof(upstream), "address = \"127.0.0.1:%u\" connect-timeout = 1d",
	    backend.port);
	relay = relay_start("", upstream, "");
	daemon_signal(relay, SIGHUP);
	WAIT_FOR(daemon_has_logged(relay, "generation 2 serves"));
	ck_assert(!daemon_has_logged(relay, "cannot connect"));
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

START_TEST(a_request_that_never_fits_fails)
{
	struct backend backend;
	char upstream[160], text[400];
	struct message request;
	struct daemon *relay;
	int fd, server;

	backend_open(&backend);
	snprintf(upstream, sizeof(upstream),
	    "address = \"127.0.0.1:%u\" max-message = 64 send-queue-bytes = 256", backend.port);
	relay = relay_start("on-failure = tell max-in-flight = 2", upstream, "");
	server = backend_accept(&backend);
	WAIT_FOR(daemon_has_logged(relay, ": connected"));
	fd = relay_connect(relay);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (uint32_t i = 0; i < 5; i++) {
		message_say(fd, i, text);
		relay_expect_failure(fd, i, RELAY_TOO_BIG);
	}
	message_say(fd, 7, "fits");
	request = message_receive(server);
	message_expect(&request, 7, RELAY_TAG, "fits");
	close(fd);
	close(server);
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

/* Its client alone is told: a backend would end the connection, and fail all that is in flight. */
START_TEST(a_request_that_the_backend_would_refuse_fails_alone)
{
	struct backend backend;
	char upstream[64], text[100];
	struct message request, last;
	struct daemon *relay;
	int fds[2], server;

	backend_open(&backend);
	snprintf(upstream, sizeof(upstream), "address = \"127.0.0.1:%u\" max-message = 99",
	    backend.port);
	relay = relay_start("on-failure = tell", upstream, "max-message = 99");
	server = backend_accept(&backend);
	WAIT_FOR(daemon_has_logged(relay, ": connected"));
	for (int i = 0; i < 2; i++)
		fds[i] = relay_connect(relay);
	message_say(fds[0], 1, "in flight");
	request = message_receive(server);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	message_say(fds[1], 2, text);
	relay_expect_failure(fds[1], 2, RELAY_TOO_BIG);
	text[99 - RELAY_TAG] = '\0';
	message_say(fds[1], 3, text);
	last = message_receive(server);
	message_expect(&last, 3, RELAY_TAG, text);
	message_send(server, &request);
	request = message_receive(fds[0]);
	message_expect(&request, 1, 0, "in flight");
	for (int i = 0; i < 2; i++)
		close(fds[i]);
	close(server);
	daemon_end(relay);
	ck_assert(daemon_has_logged(relay, "connect game: max-message = 99: messages of more "
					   "than 91 bytes are not passed on"));
	relay_expect_count(relay, "too_big", 1);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

/* It is not tried with each backend in turn. */
START_TEST(a_request_that_has_no_frame_fails)
{
	struct backend backends[2];
	char upstream[128];
	struct daemon *relay;
	int servers[2], fd;

	for (int i = 0; i < 2; i++)
		backend_open(&backends[i]);
	snprintf(upstream, sizeof(upstream),
	    "address = { \"127.0.0.1:%u\", \"127.0.0.1:%u\" } framing = line", backends[0].port,
	    backends[1].port);
	relay = relay_start("on-failure = tell match = none", upstream, "");
	for (int i = 0; i < 2; i++)
		servers[i] = backend_accept(&backends[i]);
	WAIT_FOR(daemon_n_logged(relay, ": connected") == 2);
	fd = relay_connect(relay);
	message_say(fd, 7, "two\nlines");
	relay_expect_failure(fd, 7, RELAY_UNSAYABLE);
	close(fd);
	daemon_end(relay);
	ck_assert_uint_eq(
	    daemon_n_logged(relay, "send refused, framing line has no frame for it"), 1);
	relay_expect_count(relay, "unsayable", 1);
	daemon_destroy(&relay);
	for (int i = 0; i < 2; i++) {
		close(servers[i]);
		backend_close(&backends[i]);
	}
}
END_TEST

/* --- flow control --- */

/* The queue to it fills; then requests fail at once, and memory is bounded. */
START_TEST(a_backend_that_does_not_read_costs_bounded_memory)
{
	struct backend backend;
	int server, fd;
	struct daemon *relay = relay_start_before(&backend,
	    "on-failure = tell max-in-flight = 100000 max-per-client = 100000 "
	    "reply-timeout = 60s",
	    &server);
	uint64_t before_kb = process_memory_kb(daemon_worker(relay, 0));
	struct bytes requests = { 0 };
	struct message message;

	fd = relay_connect(relay);
	for (uint32_t i = 0; i < 20000; i++)
		bytes_add_filled(&requests, 3, i, 1000);
	for (size_t at = 0; at < requests.len;) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN | POLLOUT };
		ssize_t n;

		ck_assert_int_eq(poll(&poll_fd, 1, DEADLINE_MS), 1);
		if (poll_fd.revents & POLLIN) {
			message = message_receive(fd);
			ck_assert_uint_eq(message.id, RELAY_FAILURE);
			ck_assert_uint_eq(message.payload[7], RELAY_BUSY);
			continue;
		}
		n = send(fd, requests.data + at, requests.len - at, MSG_DONTWAIT);
		ck_assert_int_gt(n, 0);
		at += (size_t)n;
	}
	client_await_read(fd);
	ck_assert_uint_lt(process_growth_kb(daemon_worker(relay, 0), before_kb),
	    RUN_IS_SANITIZED ? 64 << 10 : 16 << 10);
	close(fd);
	close(server);
	daemon_end(relay);
	ck_assert_uint_gt(daemon_counter(relay, "sends_refused"), 1000);
	bytes_free(&requests);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

/* A client that waits for as many replies as it may is not read. */
START_TEST(a_client_has_so_many_requests_in_flight)
{
	struct backend backend;
	struct message requests[4], reply;
	int server, fd, other;
	struct daemon *relay = relay_start_before(&backend, "max-per-client = 4", &server);
	char text[] = "0";

	fd = relay_connect(relay);
	other = relay_connect(relay);
	for (int i = 0; i < 10; i++) {
		text[0] = (char)('0' + i);
		message_say(fd, 1, text);
	}
	for (int i = 0; i < 4; i++)
		requests[i] = message_receive(server);
	message_expect(&requests[3], 1, RELAY_TAG, "3");
	/* Had it been read, its fifth would have come before this one. */
	message_say(other, 1, "the other's");
	reply = message_receive(server);
	message_expect(&reply, 1, RELAY_TAG, "the other's");
	for (int i = 0; i < 10; i++) {
		text[0] = (char)('0' + i);
		message_send(server, &requests[i % 4]);
		reply = message_receive(fd);
		message_expect(&reply, 1, 0, text);
		if (i + 4 < 10)
			requests[i % 4] = message_receive(server);
	}
	close(fd);
	close(other);
	close(server);
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

START_TEST(a_connection_has_so_many_requests_in_flight)
{
	struct backend backend;
	struct message requests[3], reply;
	int server, fd;
	struct daemon *relay =
	    relay_start_before(&backend, "max-in-flight = 3 on-failure = tell", &server);

	fd = relay_connect(relay);
	for (uint32_t i = 0; i < 3; i++) {
		message_say(fd, i, "fits");
		requests[i] = message_receive(server);
	}
	message_say(fd, 3, "does not");
	relay_expect_failure(fd, 3, RELAY_BUSY);
	message_send(server, &requests[1]);
	reply = message_receive(fd);
	message_expect(&reply, 1, 0, "fits");
	message_say(fd, 4, "fits again");
	requests[1] = message_receive(server);
	message_expect(&requests[1], 4, RELAY_TAG, "fits again");
	close(fd);
	close(server);
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

static bool has_input(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	return poll(&poll_fd, 1, 0) == 1;
}

/* With the queue of a client full, a reply would be missing: it is closed instead. */
START_TEST(a_client_that_does_not_read_its_replies_is_closed)
{
	struct backend backend;
	struct message request;
	char upstream[64];
	struct daemon *relay;
	int server, fd;
	bool is_open = true;

	backend_open(&backend);
	snprintf(upstream, sizeof(upstream), "address = \"127.0.0.1:%u\"", backend.port);
	relay =
	    relay_start("max-per-client = 100000 max-in-flight = 100000 reply-timeout = 60s",
		upstream, "send-queue-messages = 4 when-full = refuse linger-timeout = 0");
	server = backend_accept(&backend);
	WAIT_FOR(daemon_has_logged(relay, ": connected"));
	fd = client_connect_small(daemon_port(relay, "main"));
	for (int i = 0; i < 20000 && is_open; i++) {
		struct bytes frame = { 0 };

		bytes_add_filled(&frame, 1, (uint32_t)i, 500);
		is_open = client_try_send(fd, frame.data, frame.len);
		bytes_free(&frame);
		/* The refusal of the last reply may not be logged yet. */
		WAIT_FOR(has_input(server) || daemon_has_logged(relay, "send refused"));
		if (!has_input(server))
			break;
		request = message_receive(server);
		message_send(server, &request);
	}
	client_expect_end(fd);
	close(fd);
	close(server);
	daemon_end(relay);
	relay_expect_count(relay, "undelivered", 1);
	daemon_expect_counter(relay, "closed_handler", 1);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

/* --- ends --- */

/* The worker stops, and what it is asked for still comes. */
START_TEST(replies_come_back_while_the_relay_stops)
{
	struct backend backend;
	struct message requests[5], reply;
	int server, fds[5], idle;
	struct daemon *relay =
	    relay_start_before(&backend, _i == 0 ? "match = tag" : "match = order", &server);

	idle = relay_connect(relay);
	message_say(idle, 9, "the first");
	reply = message_receive(server);
	message_send(server, &reply);
	(void)message_receive(idle);
	for (uint32_t i = 0; i < 5; i++) {
		fds[i] = relay_connect(relay);
		message_say(fds[i], i, "the last");
		requests[i] = message_receive(server);
	}
	daemon_signal(relay, SIGTERM);
	/* The worker has begun to stop when it closes who waits for nothing. */
	client_expect_eof(idle);
	close(idle);
	for (uint32_t i = 0; i < 5; i++)
		message_send(server, &requests[i]);
	for (uint32_t i = 0; i < 5; i++) {
		reply = message_receive(fds[i]);
		message_expect(&reply, i, 0, "the last");
		client_expect_eof(fds[i]);
		close(fds[i]);
	}
	client_expect_eof(server);
	close(server);
	ck_assert_int_eq(daemon_await_end(relay), 0);
	daemon_expect_counter(relay, "closed_shutdown", 7);
	relay_expect_count(relay, "replies", 6);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

/*
 * The next generation has connections of its own. A client that waits gets its reply where it
 * has asked, and goes on there; then the backend has no connection of the old one any more.
 */
START_TEST(a_client_that_waits_is_moved_after_its_reply)
{
	struct backend backend;
	struct message request, reply;
	int server, next_server, fd;
	struct daemon *relay = relay_start_before(&backend, "", &server);

	fd = relay_connect(relay);
	message_say(fd, 1, "of the old one");
	request = message_receive(server);
	daemon_signal(relay, SIGHUP);
	next_server = backend_accept(&backend);
	WAIT_FOR(daemon_n_logged(relay, ": connected") == 2);
	message_send(server, &request);
	reply = message_receive(fd);
	message_expect(&reply, 1, 0, "of the old one");
	client_expect_eof(server);
	close(server);
	message_say(fd, 2, "of the new one");
	request = message_receive(next_server);
	message_send(next_server, &request);
	reply = message_receive(fd);
	message_expect(&reply, 2, 0, "of the new one");
	close(fd);
	close(next_server);
	daemon_end(relay);
	daemon_expect_counter(relay, "accepted", 1);
	daemon_expect_counter(relay, "moved_out", 1);
	daemon_expect_counter(relay, "connected", 2);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

/* No reply comes: the client is failed in time, and nothing keeps the worker. */
START_TEST(a_backend_that_is_silent_does_not_keep_the_worker)
{
	struct backend backend;
	int server, fd;
	struct daemon *relay = relay_start_before(&backend, "reply-timeout = 200ms", &server);

	fd = relay_connect(relay);
	message_say(fd, 1, "in vain");
	(void)message_receive(server);
	daemon_signal(relay, SIGTERM);
	client_expect_eof(fd);
	close(fd);
	ck_assert_int_eq(daemon_await_end(relay), 0);
	relay_expect_count(relay, "late", 1);
	ck_assert(!daemon_has_logged(relay, "the time to drain is over"));
	close(server);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

START_TEST(a_half_closed_client_gets_its_replies)
{
	struct backend backend;
	struct message requests[3], reply;
	int server, fd;
	struct daemon *relay = relay_start_before(&backend, "", &server);

	fd = relay_connect(relay);
	for (uint32_t i = 0; i < 3; i++)
		message_say(fd, i, "and no more");
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	for (uint32_t i = 0; i < 3; i++)
		requests[i] = message_receive(server);
	for (uint32_t i = 0; i < 3; i++) {
		message_send(server, &requests[i]);
		reply = message_receive(fd);
		message_expect(&reply, i, 0, "and no more");
	}
	client_expect_eof(fd);
	close(fd);
	close(server);
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("f_relay_faults");
	TCase *failures = run_case(suite, "failures");
	TCase *flow = run_case(suite, "flow");
	TCase *ends = run_case(suite, "ends");

	tcase_add_test(failures, a_late_reply_reaches_nobody);
	tcase_add_test(failures, each_request_is_late_in_its_time);
	/* A sanitizer may be asked for before the library is. */
	if (!RUN_IS_SANITIZED)
		tcase_add_test(failures, a_clock_that_is_set_back_changes_nothing);
	tcase_add_test(failures, by_order_a_late_reply_ends_the_connection);
	tcase_add_loop_test(failures, the_reply_to_a_client_that_has_left_reaches_nobody, 0, 2);
	tcase_add_loop_test(failures, requests_on_a_lost_connection_fail, 0, 2);
	tcase_add_loop_test(failures, without_a_backend_requests_fail_at_once, 0, 2);
	tcase_add_test(failures, a_worker_is_ready_when_its_upstreams_were_tried);
	tcase_add_test(failures, a_backend_that_does_not_answer_keeps_no_worker);
	tcase_add_test(failures, a_request_that_never_fits_fails);
	tcase_add_test(failures, a_request_that_the_backend_would_refuse_fails_alone);
	tcase_add_test(failures, a_request_that_has_no_frame_fails);
	tcase_add_test(flow, a_backend_that_does_not_read_costs_bounded_memory);
	tcase_add_test(flow, a_client_has_so_many_requests_in_flight);
	tcase_add_test(flow, a_connection_has_so_many_requests_in_flight);
	tcase_add_test(flow, a_client_that_does_not_read_its_replies_is_closed);
	tcase_add_loop_test(ends, replies_come_back_while_the_relay_stops, 0, 2);
	tcase_add_test(ends, a_client_that_waits_is_moved_after_its_reply);
	tcase_add_test(ends, a_backend_that_is_silent_does_not_keep_the_worker);
	tcase_add_test(ends, a_half_closed_client_gets_its_replies);
	return run_suite(suite);
}
