/*
 * Module relay: each reply goes to the client whose request it answers, or to
 * nobody.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "system/backend.h"
#include "system/client.h"
#include "system/ctl.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/relay.h"
#include "system/run.h"

/* --- many clients, two daemons as backends --- */

#define N_CLIENTS 100
#define N_EACH 150
#define LEN 40

/* Requests of a client: their seeds are distinct over all clients. */
static void add_requests(struct bytes *requests, unsigned client)
{
	for (unsigned i = 0; i < N_EACH; i++)
		bytes_add_filled(requests, 5, client * N_EACH + i, LEN);
}

/*
 * All replies are this client's, each is there once, and unchanged. Only what one backend has
 * answered is in order.
 */
static void take_replies(int fd, unsigned client, bool is_in_order)
{
	bool seen[N_EACH] = { false };
	struct bytes requests = { 0 };

	add_requests(&requests, client);
	for (unsigned i = 0; i < N_EACH; i++) {
		uint8_t frame[8 + LEN];
		uint32_t seed;

		client_receive(fd, frame, sizeof(frame));
		seed = (uint32_t)frame[8] << 24 | (uint32_t)frame[9] << 16 |
		       (uint32_t)frame[10] << 8 | frame[11];
		ck_assert_msg(seed / N_EACH == client, "client %u got a reply of client %u",
		    client, seed / N_EACH);
		seed %= N_EACH;
		ck_assert(!seen[seed] && (!is_in_order || seed == i));
		seen[seed] = true;
		ck_assert_int_eq(
		    memcmp(frame, requests.data + seed * sizeof(frame), sizeof(frame)), 0);
	}
	bytes_free(&requests);
}

static struct daemon *start_echo(uint16_t port)
{
	struct daemon *daemon = daemon_new(1,
	    "module echo { }\nlisten main { address = \"127.0.0.1:%u\" modules = { echo } }\n",
	    port);

	daemon_start(daemon);
	return daemon;
}

START_TEST(each_client_gets_its_own_replies)
{
	static const char *const options[] = { "match = tag", "match = order",
		"match = tag spread = client", "match = order spread = client" };
	struct daemon *backends[2], *relay;
	uint16_t ports[2] = { client_free_port(), client_free_port() };
	int fds[N_CLIENTS];

	for (int i = 0; i < 2; i++)
		backends[i] = start_echo(ports[i]);
	relay = daemon_new(2,
	    "module relay { upstream = game max-in-flight = 100000 %s }\n"
	    "connect game { modules = { relay } send-queue-messages = 100000\n"
	    "  address = { \"127.0.0.1:%u\", \"127.0.0.1:%u\" } }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { relay } }\n",
	    options[_i], ports[0], ports[1]);
	daemon_start(relay);
	WAIT_FOR(daemon_n_logged(relay, ": connected") == 4);
	for (unsigned i = 0; i < N_CLIENTS; i++) {
		struct bytes requests = { 0 };

		fds[i] = relay_connect(relay);
		add_requests(&requests, i);
		client_send(fds[i], requests.data, requests.len);
		bytes_free(&requests);
	}
	for (unsigned i = 0; i < N_CLIENTS; i++)
		take_replies(fds[i], i, _i >= 2);
	for (unsigned i = 0; i < N_CLIENTS; i++)
		close(fds[i]);
	daemon_end(relay);
	daemon_expect_counter(relay, "connected", 4);
	daemon_expect_counter(relay, "accepted", N_CLIENTS);
	daemon_expect_counter(relay, "closed_peer", N_CLIENTS);
	daemon_expect_counter(relay, "closed_shutdown", 4);
	daemon_destroy(&relay);
	for (int i = 0; i < 2; i++) {
		daemon_end(backends[i]);
		/* Both were used. */
		ck_assert_uint_gt(
		    daemon_counter(backends[i], "frames_in"), N_CLIENTS * N_EACH / 5);
		daemon_destroy(&backends[i]);
	}
}
END_TEST

/* A request of each client, which is answered by what it said or by a failure; how many by the
 * latter. */
static unsigned ask_all(const int fds[], unsigned n, unsigned round)
{
	unsigned n_failed = 0;
	char text[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(text, sizeof(text), "client %u, round %u", i, round);
		message_say(fds[i], i, text);
	}
	for (unsigned i = 0; i < n; i++) {
		struct message message = message_receive(fds[i]);

		snprintf(text, sizeof(text), "client %u, round %u", i, round);
		if (message.id == RELAY_FAILURE)
			n_failed++;
		else
			message_expect(&message, i, 0, text);
	}
	return n_failed;
}

/* Each request has one answer, and the backend is used again when it is back. */
START_TEST(a_backend_that_is_killed_and_comes_back)
{
	uint16_t port = client_free_port();
	struct daemon *backend = start_echo(port), *relay;
	char upstream[64];
	unsigned round = 0;
	pid_t worker;
	int fds[20];

	snprintf(upstream, sizeof(upstream), "address = \"127.0.0.1:%u\"", port);
	relay = relay_start(
	    _i == 0 ? "on-failure = tell" : "on-failure = tell match = order", upstream, "");
	WAIT_FOR(daemon_n_logged(relay, ": connected") == 1);
	for (int i = 0; i < 20; i++)
		fds[i] = relay_connect(relay);
	while (round < 20)
		ck_assert_uint_eq(ask_all(fds, 20, round++), 0);
	kill(daemon_worker(backend, 0), SIGKILL);
	for (int i = 0; i < 20; i++)
		ask_all(fds, 20, round++);
	WAIT_FOR(daemon_n_started(backend, 0) == 2);
	worker = daemon_worker(backend, 0);
	daemon_signal(backend, SIGKILL);
	ck_assert_int_eq(daemon_await_end(backend), -1);
	/* An orphan has the port until it notices. */
	WAIT_FOR(process_state(worker) == 0 || process_state(worker) == 'Z');
	WAIT_FOR(ask_all(fds, 20, round++) == 20);
	WAIT_FOR(daemon_has_logged(relay, "cannot connect: "));
	daemon_start(backend);
	WAIT_FOR(ask_all(fds, 20, round++) == 0);
	for (int i = 0; i < 20; i++)
		close(fds[i]);
	daemon_end(relay);
	daemon_expect_counter(relay, "closed_shutdown", 1);
	ck_assert_uint_ge(daemon_counter(relay, "connected"), 2);
	ck_assert_uint_ge(daemon_counter(relay, "connect_failures"), 1);
	daemon_destroy(&relay);
	daemon_stop(&backend);
}
END_TEST

/* --- replies --- */

START_TEST(a_tag_stands_before_the_payload_and_order_needs_none)
{
	struct backend backend;
	int server, fd;
	struct daemon *relay =
	    relay_start_before(&backend, _i == 0 ? "match = tag" : "match = order", &server);
	size_t offset = _i == 0 ? RELAY_TAG : 0;
	struct message request;

	fd = relay_connect(relay);
	message_say(fd, 9, "a request");
	request = message_receive(server);
	message_expect(&request, 9, offset, "a request");
	message_send(server, &request);
	request = message_receive(fd);
	message_expect(&request, 9, 0, "a request");
	close(fd);
	close(server);
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

/* By tag, replies may come in any order and with any id. */
START_TEST(tagged_replies_find_their_clients_in_any_order)
{
	struct backend backend;
	struct message requests[10], reply;
	int server, fds[10];
	struct daemon *relay = relay_start_before(&backend, "", &server);
	char text[] = "client 0";

	for (int i = 0; i < 10; i++) {
		fds[i] = relay_connect(relay);
		text[7] = (char)('0' + i);
		message_say(fds[i], 1, text);
		requests[i] = message_receive(server);
	}
	for (int i = 9; i >= 0; i--) {
		requests[i].id = 100 + (uint32_t)i;
		message_send(server, &requests[i]);
	}
	for (int i = 0; i < 10; i++) {
		reply = message_receive(fds[i]);
		text[7] = (char)('0' + i);
		message_expect(&reply, 100 + (uint32_t)i, 0, text);
		close(fds[i]);
	}
	close(server);
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

/* Neither nobody's tag, nor a tag that was used, nor a part of one reaches any client. */
START_TEST(garbage_for_a_reply_reaches_nobody)
{
	struct backend backend;
	struct message request, garbage;
	int server, fd, other;
	struct daemon *relay = relay_start_before(&backend, "", &server);

	fd = relay_connect(relay);
	other = relay_connect(relay);
	message_say(server, 1, "before any request, longer than a tag");
	message_say(fd, 1, "mine");
	request = message_receive(server);
	garbage = request;
	message_say(server, 1, "short");
	message_say(server, 1, "some text instead of a tag");
	for (int bit = 0; bit < 64; bit++) {
		garbage.payload[bit / 8] ^= (uint8_t)(1 << bit % 8);
		message_send(server, &garbage);
		garbage = request;
	}
	memset(garbage.payload, 0, RELAY_TAG);
	message_send(server, &garbage);
	memset(garbage.payload, 0xff, RELAY_TAG);
	message_send(server, &garbage);
	message_send(server, &request);
	message_send(server, &request);
	garbage = message_receive(fd);
	message_expect(&garbage, 1, 0, "mine");
	/* The next that either gets is its own. */
	message_say(other, 2, "others");
	request = message_receive(server);
	message_send(server, &request);
	garbage = message_receive(other);
	message_expect(&garbage, 2, 0, "others");
	message_say(fd, 3, "mine again");
	request = message_receive(server);
	message_send(server, &request);
	garbage = message_receive(fd);
	message_expect(&garbage, 3, 0, "mine again");
	close(fd);
	close(other);
	close(server);
	daemon_end(relay);
	daemon_expect_counter(relay, "malformed", 70);
	daemon_expect_counter(relay, "connected", 1);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

/* A tag is good on the connection that the request went to. */
START_TEST(a_reply_on_another_connection_reaches_nobody)
{
	struct backend backends[2];
	struct message request, reply;
	struct daemon *relay;
	int servers[2], fd;
	char upstream[96];

	for (int i = 0; i < 2; i++)
		backend_open(&backends[i]);
	snprintf(upstream, sizeof(upstream), "address = { \"127.0.0.1:%u\", \"127.0.0.1:%u\" }",
	    backends[0].port, backends[1].port);
	relay = relay_start("", upstream, "");
	for (int i = 0; i < 2; i++)
		servers[i] = backend_accept(&backends[i]);
	WAIT_FOR(daemon_n_logged(relay, ": connected") == 2);
	fd = relay_connect(relay);
	message_say(fd, 1, "to the first");
	request = message_receive(servers[0]);
	message_send(servers[1], &request);
	client_await_read(servers[1]);
	message_say(fd, 2, "to the second");
	reply = message_receive(servers[1]);
	message_send(servers[1], &reply);
	reply = message_receive(fd);
	message_expect(&reply, 2, 0, "to the second");
	message_send(servers[0], &request);
	reply = message_receive(fd);
	message_expect(&reply, 1, 0, "to the first");
	close(fd);
	for (int i = 0; i < 2; i++)
		close(servers[i]);
	daemon_end(relay);
	daemon_expect_counter(relay, "malformed", 1);
	daemon_destroy(&relay);
	for (int i = 0; i < 2; i++)
		backend_close(&backends[i]);
}
END_TEST

/* By order, a connection on which a reply is not what must come next cannot be trusted. */
START_TEST(a_reply_out_of_order_ends_the_connection)
{
	struct backend backend;
	struct message request, reply;
	int server, fd;
	struct daemon *relay =
	    relay_start_before(&backend, "match = order on-failure = tell", &server);

	fd = relay_connect(relay);
	if (_i == 0) {
		message_say(server, 1, "to no request");
	} else {
		message_say(fd, 1, "a request");
		request = message_receive(server);
		message_say(server, 2, "to another request");
		relay_expect_failure(fd, 1, RELAY_LOST);
	}
	client_expect_end(server);
	close(server);
	server = backend_accept(&backend);
	request = relay_ask(fd, server, 3, "once more");
	message_expect(&request, 3, 0, "once more");
	message_send(server, &request);
	reply = message_receive(fd);
	message_expect(&reply, 3, 0, "once more");
	close(fd);
	close(server);
	daemon_stop(&relay);
	backend_close(&backend);
}
END_TEST

/* The framing is broken: no message can be told from what follows. */
START_TEST(bytes_that_are_no_frame_end_the_connection)
{
	static const uint8_t garbage[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	struct backend backend;
	struct message request;
	int server, fd;
	struct daemon *relay = relay_start_before(&backend, "on-failure = tell", &server);

	fd = relay_connect(relay);
	message_say(fd, 1, "a request");
	request = message_receive(server);
	message_expect(&request, 1, RELAY_TAG, "a request");
	client_send(server, garbage, sizeof(garbage));
	relay_expect_failure(fd, 1, RELAY_LOST);
	client_expect_end(server);
	close(server);
	server = backend_accept(&backend);
	close(fd);
	close(server);
	daemon_end(relay);
	ck_assert(daemon_has_logged(relay, "connect game: 127.0.0.1:"));
	daemon_expect_counter(relay, "closed_protocol", 1);
	daemon_expect_counter(relay, "oversize", 1);
	relay_expect_count(relay, "lost", 1);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

/* --- options --- */

/* They are no replies, which a relay by order would take them for. */
START_TEST(heartbeats_go_to_backends_and_come_from_them)
{
	struct backend backend;
	struct daemon *daemon;
	struct message request;
	char upstream[160];
	int server, client;

	backend_open(&backend);
	snprintf(upstream, sizeof(upstream),
	    "address = \"127.0.0.1:%u\" heartbeat-interval = 10ms heartbeat-timeout = 1m "
	    "heartbeat-id = 77",
	    backend.port);
	daemon = relay_start("match = order", upstream, "");
	server = backend_accept(&backend);
	for (int i = 0; i < 3; i++) {
		struct message beat = message_receive(server);

		message_expect(&beat, 77, 0, "");
		message_say(server, 77, "here");
	}
	client = relay_connect(daemon);
	message_say(client, 5, "hello");
	do
		request = message_receive(server);
	while (request.id == 77);
	message_expect(&request, 5, 0, "hello");
	message_say(server, 77, "here");
	message_send(server, &request);
	request = message_receive(client);
	message_expect(&request, 5, 0, "hello");
	close(client);
	close(server);
	backend_close(&backend);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "malformed", 0);
	daemon_expect_counter(daemon, "unknown_ids", 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(a_backend_may_have_a_unix_socket)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct daemon *daemon = daemon_new(1, "%s", "");
	struct backend backend = { .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	struct message request, reply;
	char conf[1024];
	int server, client;

	snprintf(conf, sizeof(conf),
	    "%smodule relay { upstream = game on-failure = tell }\n"
	    "connect game { address = \"unix:%s/game:0\" modules = { relay }\n"
	    "  reconnect-min = 10ms reconnect-max = 50ms socket-send-buffer = 64k }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { relay } }\n",
	    daemon_read(daemon, daemon->conf), daemon->folder);
	daemon_set_conf(daemon, conf);
	daemon_start(daemon);
	client = relay_connect(daemon);
	/* Nobody is there yet. */
	WAIT_FOR(daemon_has_logged(daemon, "/game:0: cannot connect: No such file"));
	snprintf(address.sun_path, sizeof(address.sun_path), "%s/game:0", daemon->folder);
	ck_assert_int_eq(bind(backend.fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(backend.fd, 16), 0);
	server = backend_accept(&backend);
	request = relay_ask(client, server, 5, "hello");
	message_expect(&request, 5, RELAY_TAG, "hello");
	message_send(server, &request);
	reply = message_receive(client);
	message_expect(&reply, 5, 0, "hello");
	/* One in flight, so that the module tells whose connection is lost. */
	request = relay_ask(client, server, 5, "again");
	close(server);
	relay_expect_failure(client, 5, RELAY_LOST);
	snprintf(conf, sizeof(conf), "unix:%s: 1 requests were in flight", address.sun_path);
	ck_assert(daemon_has_logged(daemon, conf));
	server = backend_accept(&backend);
	close(server);
	close(client);
	backend_close(&backend);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(a_silent_backend_is_given_up)
{
	struct backend backend;
	struct daemon *daemon;
	char upstream[96];
	int server;

	backend_open(&backend);
	snprintf(upstream, sizeof(upstream),
	    "address = \"127.0.0.1:%u\" heartbeat-timeout = 50ms", backend.port);
	daemon = relay_start("", upstream, "");
	server = backend_accept(&backend);
	client_expect_eof(server);
	close(server);
	WAIT_FOR(daemon_has_logged(daemon, "the connection ended: heartbeat-timeout"));
	/* Another is made. */
	server = backend_accept(&backend);
	close(server);
	backend_close(&backend);
	daemon_end(daemon);
	ck_assert_uint_ge(daemon_counter(daemon, "closed_heartbeat"), 1);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(only_the_ids_of_the_conf_are_passed_on)
{
	struct backend backend;
	struct message request;
	int server, fd;
	struct daemon *relay =
	    relay_start_before(&backend, "ids = \" 7, 10 - 12 ,4294967295\"", &server);

	fd = relay_connect(relay);
	for (uint32_t id = 0; id < 20; id++)
		message_say(fd, id, "x");
	message_say(fd, UINT32_MAX, "x");
	for (uint32_t i = 0; i < 5; i++) {
		static const uint32_t ids[] = { 7, 10, 11, 12, UINT32_MAX };

		request = message_receive(server);
		ck_assert_uint_eq(request.id, ids[i]);
	}
	client_reset(fd);
	close(server);
	daemon_end(relay);
	daemon_expect_counter(relay, "unknown_ids", 16);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

#define METRIC(module, name, value) \
	"\nrunnel_module_" module "_" name "{worker=\"0\",module=\"" module "\"} " value "\n"

/* Sections of one file, each with options, connections and counts of its own. */
START_TEST(each_range_goes_to_its_own_group_of_backends)
{
	static const char *const names[] = { "relay", "chat", "shop" };
	struct backend backends[3];
	struct daemon *daemon;
	int servers[3], client;
	char control[160];

	for (int i = 0; i < 3; i++)
		backend_open(&backends[i]);
	daemon = daemon_new(1,
	    "module relay { upstream = relay ids = \"1000-1999\" }\n"
	    "module chat { path = relay.so upstream = chat ids = \"2000-2999\" match = order "
	    "}\n"
	    "module shop { path = relay.so upstream = shop ids = \"3000, 4000\" match = order\n"
	    "  spread = client }\n"
	    "connect relay { address = \"127.0.0.1:%u\" modules = { relay } }\n"
	    "connect chat { address = \"127.0.0.1:%u\" modules = { chat } }\n"
	    "connect shop { address = \"127.0.0.1:%u\" modules = { shop } framing = ltv }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { relay, chat, shop } }\n",
	    backends[0].port, backends[1].port, backends[2].port);
	snprintf(control, sizeof(control), "control-socket = \"%s/sock\"\n", daemon->folder);
	ctl_append(daemon, control);
	daemon_start(daemon);
	for (int i = 0; i < 3; i++)
		servers[i] = backend_accept(&backends[i]);
	WAIT_FOR(daemon_n_logged(daemon, ": connected") == 3);
	client = relay_connect(daemon);
	for (uint32_t i = 0; i < 3; i++) {
		struct bytes frame = { 0 };
		struct message request, reply;

		message_say(client, 1000 * (i + 1), "hello");
		if (i < 2) {
			request = message_receive(servers[i]);
			message_expect(
			    &request, 1000 * (i + 1), i == 0 ? RELAY_TAG : 0, "hello");
			message_send(servers[i], &request);
		} else {
			bytes_add_ltv(&frame, 3000, "hello", 5);
			client_expect(servers[i], &frame);
			client_send(servers[i], frame.data, frame.len);
			bytes_free(&frame);
		}
		reply = message_receive(client);
		message_expect(&reply, 1000 * (i + 1), 0, "hello");
	}
	message_say(client, 2000, "one that waits");
	message_receive(servers[1]);
	ctl_expect(daemon, "metrics", 0);
	ctl_expect_said(daemon, METRIC("chat", "requests_total", "2"));
	ctl_expect_said(daemon, METRIC("chat", "replies_total", "1"));
	ctl_expect_said(daemon, METRIC("chat", "failed_requests_total", "0"));
	ctl_expect_said(daemon, METRIC("chat", "requests_in_flight", "1"));
	ctl_expect_said(daemon, METRIC("shop", "requests_total", "1"));
	ctl_expect_said(daemon, METRIC("shop", "requests_in_flight", "0"));
	close(servers[1]);
	client_expect_eof(client);
	ctl_expect(daemon, "metrics", 0);
	ctl_expect_said(daemon, METRIC("chat", "failed_requests_total", "1"));
	ctl_expect_said(daemon, METRIC("chat", "failed_requests_lost_total", "1"));
	ctl_expect_said(daemon, METRIC("chat", "failed_requests_down_total", "0"));
	ctl_expect_said(daemon, METRIC("chat", "requests_in_flight", "0"));
	close(client);
	daemon_end(daemon);
	for (int i = 0; i < 3; i++) {
		char line[64];

		snprintf(line, sizeof(line), "module '%s': requests=%d replies=1 ", names[i],
		    i == 1 ? 2 : 1);
		ck_assert_uint_eq(daemon_n_logged(daemon, line), 1);
		if (i != 1)
			close(servers[i]);
		backend_close(&backends[i]);
	}
	daemon_destroy(&daemon);
}
END_TEST

static unsigned seconds_since(const struct timespec *then)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned)(now.tv_sec - then->tv_sec);
}

/* However often there is cause for them: lines are a second apart at least. */
START_TEST(trouble_is_logged_once_a_second)
{
	struct backend backend;
	struct daemon *relay;
	struct timespec start;
	int server, fd;

	clock_gettime(CLOCK_MONOTONIC, &start);
	relay = relay_start_before(
	    &backend, "match = order reply-timeout = 1ms on-failure = tell", &server);
	fd = relay_connect(relay);
	for (int i = 0; i < 20; i++) {
		(void)relay_ask(fd, server, 7, "without a reply");
		relay_expect_failure(fd, 7, RELAY_LATE);
		client_expect_end(server);
		close(server);
		server = backend_accept(&backend);
	}
	backend_close(&backend);
	close(server);
	WAIT_FOR(daemon_has_logged(relay, "cannot connect: "));
	for (int i = 0; i < 100; i++) {
		message_say(fd, 8, "to nobody");
		relay_expect_failure(fd, 8, RELAY_DOWN);
	}
	close(fd);
	daemon_end(relay);
	relay_expect_count(relay, "late", 20);
	for (int i = 0; i < 3; i++) {
		static const char *const lines[] = { "a reply is late",
			"requests were in flight", "a request has failed: no backend is up" };

		ck_assert_uint_ge(daemon_n_logged(relay, lines[i]), 1);
		ck_assert_uint_le(daemon_n_logged(relay, lines[i]), seconds_since(&start) + 2);
	}
	daemon_destroy(&relay);
}
END_TEST

START_TEST(messages_without_replies_are_passed_on_and_forgotten)
{
	struct backend backend;
	struct message request;
	int server, fd;
	struct daemon *relay = relay_start_before(&backend, "match = none", &server);

	fd = relay_connect(relay);
	for (int i = 0; i < 100; i++)
		message_say(fd, 1, "news");
	for (int i = 0; i < 100; i++) {
		request = message_receive(server);
		message_expect(&request, 1, 0, "news");
	}
	message_say(server, 1, "a reply nevertheless");
	client_await_read(server);
	ck_assert_int_eq(shutdown(fd, SHUT_WR), 0);
	client_expect_eof(fd);
	close(fd);
	close(server);
	daemon_end(relay);
	daemon_expect_counter(relay, "malformed", 1);
	daemon_destroy(&relay);
	backend_close(&backend);
}
END_TEST

static const struct {
	const char *options, *reason;
} bad[] = {
	{ "", "upstream: it must be given" },
	{ "upstream = other", "there is no section connect other whose modules list this one" },
	{ "upstream = none", "there is no section connect none whose modules list this one" },
	{ "upstream = game spread = odd", "spread: 'odd' is refused; give message or client" },
	{ "upstream = game match = id", "match: 'id' is refused; give tag, order or none" },
	{ "upstream = game on-failure = x", "on-failure: 'x' is refused; give close or tell" },
	{ "upstream = game ids = \"\"", "ids: '' is refused" },
	{ "upstream = game ids = \"1,\"", "ids: '1,' is refused" },
	{ "upstream = game ids = \"2-1\"", "ids: '2-1' is refused" },
	{ "upstream = game ids = \"-1\"", "ids: '-1' is refused" },
	{ "upstream = game ids = \"4294967296\"", "ids: '4294967296' is refused" },
	{ "upstream = game ids = \"1 2\"", "ids: '1 2' is refused" },
	{ "upstream = game ids = \"1-2,2\"", "message id 2: module 'relay' handles it twice" },
	{ "upstream = game reply-timeout = 0", "reply-timeout: '0' is refused" },
	{ "upstream = lines",
	    "connect lines: framing = line: a line has no place for the tag of match = tag" },
	{ "upstream = short",
	    "connect short: max-message: 7 bytes are less than the tag of match = tag has" },
};

START_TEST(bad_options_are_refused)
{
	struct daemon *daemon = daemon_new(1,
	    "module relay { %s }\nmodule echo { }\n"
	    "connect game { address = 127.0.0.1:1 modules = { relay } }\n"
	    "connect other { address = 127.0.0.1:1 modules = { echo } }\n"
	    "connect lines { address = 127.0.0.1:1 modules = { relay } framing = line }\n"
	    "connect short { address = 127.0.0.1:1 modules = { relay } max-message = 7 }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { relay } }\n",
	    bad[_i].options);

	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	ck_assert_msg(strstr(daemon_read(daemon, daemon->err), bad[_i].reason) != NULL,
	    "not '%s' but: %s", bad[_i].reason, daemon->text);
	daemon_destroy(&daemon);
}
END_TEST

/* Installed among the examples. */
START_TEST(the_example_is_good)
{
	const char *srcdir = getenv("srcdir");
	struct daemon *daemon = daemon_new(1, "%s", "");
	char path[4096];
	char *text;

	snprintf(path, sizeof(path), "%s/conf/relay.conf", srcdir != NULL ? srcdir : ".");
	text = strdup(daemon_read(daemon, path));
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(strstr(text, "connect game {"));
	daemon_destroy(&daemon);
	daemon = daemon_new(1, "%s", text);
	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 0);
	free(text);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("f_relay");
	TCase *many = run_case(suite, "many");
	TCase *replies = run_case(suite, "replies");
	TCase *options = run_case(suite, "options");

	tcase_add_loop_test(many, each_client_gets_its_own_replies, 0, 4);
	tcase_add_loop_test(many, a_backend_that_is_killed_and_comes_back, 0, 2);
	tcase_add_loop_test(
	    replies, a_tag_stands_before_the_payload_and_order_needs_none, 0, 2);
	tcase_add_test(replies, tagged_replies_find_their_clients_in_any_order);
	tcase_add_test(replies, garbage_for_a_reply_reaches_nobody);
	tcase_add_test(replies, a_reply_on_another_connection_reaches_nobody);
	tcase_add_loop_test(replies, a_reply_out_of_order_ends_the_connection, 0, 2);
	tcase_add_test(replies, bytes_that_are_no_frame_end_the_connection);
	tcase_add_test(options, heartbeats_go_to_backends_and_come_from_them);
	tcase_add_test(options, a_backend_may_have_a_unix_socket);
	tcase_add_test(options, a_silent_backend_is_given_up);
	tcase_add_test(options, each_range_goes_to_its_own_group_of_backends);
	tcase_add_test(options, only_the_ids_of_the_conf_are_passed_on);
	tcase_add_test(options, trouble_is_logged_once_a_second);
	tcase_add_test(options, messages_without_replies_are_passed_on_and_forgotten);
	tcase_add_test(options, the_example_is_good);
	tcase_add_loop_test(options, bad_options_are_refused, 0, sizeof(bad) / sizeof(bad[0]));
	return run_suite(suite);
}
