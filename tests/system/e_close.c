/*
 * How connections end: by the peer, by a timeout, by a reset.
 */
#include "config.h"

#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/process.h"
#include "system/run.h"

#define CONF PROBE_SECTION "listen main { address = \"127.0.0.1:0\" modules = { probe } %s }\n"

/* What a busy machine may add to a timeout. */
#define SLACK_MS 8000

static struct daemon *start_probe(unsigned n_workers, const char *options)
{
	struct daemon *daemon = daemon_new(n_workers, CONF, options);

	daemon_start(daemon);
	return daemon;
}

static void expect_between(uint64_t ms, uint64_t least_ms)
{
	ck_assert_uint_ge(ms, least_ms);
	ck_assert_uint_lt(ms, least_ms + SLACK_MS);
}

/* 500 requests, the end of the client's side, 500 replies, the end. */
START_TEST(half_close_gets_every_reply_then_eof)
{
	struct daemon *daemon = start_probe(run_workers(_i), "");
	struct bytes stream = { 0 };

	for (uint32_t i = 0; i < 500; i++)
		bytes_add_filled(&stream, PROBE_ECHO, i, 100);
	for (int i = 0; i < 8; i++) {
		int fd = client_connect(daemon_port(daemon, "main"));

		client_send(fd, stream.data, stream.len);
		shutdown(fd, SHUT_WR);
		client_expect(fd, &stream);
		client_expect_eof(fd);
		close(fd);
	}
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_peer", 8);
	daemon_expect_counter(daemon, "frames_out", 8 * 500);
	bytes_free(&stream);
	daemon_destroy(&daemon);
}
END_TEST

/* The same with more than sockets hold, and with a reader that starts late. */
START_TEST(half_close_of_a_slow_reader_gets_every_reply)
{
	struct daemon *daemon = start_probe(run_workers(_i), "send-timeout = 60s");
	int fd = client_connect_small(daemon_port(daemon, "main"));
	struct bytes stream = { 0 };
	size_t n_sent;

	for (uint32_t i = 0; i < 16000; i++)
		bytes_add_filled(&stream, PROBE_ECHO, i, 1016);
	n_sent = client_send_until_stalled(fd, stream.data, stream.len, 300);
	ck_assert_uint_gt(n_sent, 1 << 20);
	shutdown(fd, SHUT_WR);
	stream.len = n_sent - n_sent % 1024;
	client_expect(fd, &stream);
	client_expect_eof(fd);
	close(fd);
	bytes_free(&stream);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(half_close_within_a_frame_ends)
{
	struct daemon *daemon = start_probe(run_workers(_i), "");
	int fd = client_connect(daemon_port(daemon, "main"));

	client_send(fd, "\0\0\0\7\0\0", 6);
	shutdown(fd, SHUT_WR);
	client_expect_eof(fd);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_peer", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* Output is queued when the reset comes; the close hook runs once, nobody else notices. */
START_TEST(reset_with_output_queued_harms_nobody)
{
	struct daemon *daemon = start_probe(run_workers(_i), "when-full = refuse");
	int bystander = client_connect(daemon_port(daemon, "main"));
	uint64_t n_accepted, n_closed;

	for (int i = 0; i < 30; i++) {
		int fd = client_connect_small(daemon_port(daemon, "main"));

		for (int n = 0; n < 8; n++)
			probe_send(fd, PROBE_FLOOD, 2, 1000, 1000);
		/* Some while it works on the requests, some when it is stuck. */
		if (i % 2 == 0)
			client_await_read(fd);
		client_reset(fd);
	}
	client_ping(bystander, "nothing happened");
	close(bystander);
	daemon_end(daemon);
	/* Some may have been reset before they were accepted. */
	n_accepted = daemon_counter(daemon, "accepted");
	n_closed = daemon_counter(daemon, "closed_error") +
		   daemon_counter(daemon, "closed_peer") +
		   daemon_counter(daemon, "closed_shutdown");
	ck_assert_uint_eq(n_closed, n_accepted);
	ck_assert_uint_eq(daemon_n_logged(daemon, "data valid"), n_accepted);
	ck_assert_uint_eq(daemon_n_logged(daemon, "left 0"), daemon->n_workers);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(idle_timeout_closes_the_silent_only)
{
	struct daemon *daemon = start_probe(run_workers(_i), "idle-timeout = 1s");
	int silent = client_connect(daemon_port(daemon, "main"));
	int talker = client_connect(daemon_port(daemon, "main"));
	struct pollfd wait = { .fd = silent, .events = POLLIN };
	uint64_t start_ms = wait_now_ms();

	do {
		client_ping(talker, "I am here");
		ck_assert_uint_lt(wait_now_ms() - start_ms, 1000 + SLACK_MS);
	} while (poll(&wait, 1, 100) == 0);
	client_expect_eof(silent);
	expect_between(wait_now_ms() - start_ms, 900);
	/* The talker has outlived its own timeout, too. */
	while (wait_now_ms() - start_ms < 2200) {
		client_ping(talker, "I am here");
		poll(NULL, 0, 100);
	}
	start_ms = wait_now_ms();
	client_expect_eof(talker);
	expect_between(wait_now_ms() - start_ms, 700);
	close(silent);
	close(talker);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_idle", 2);
	daemon_destroy(&daemon);
}
END_TEST

/* Traffic in one direction is enough, whichever it is. */
START_TEST(idle_timeout_spares_who_only_sends_or_only_hears)
{
	struct daemon *daemon = start_probe(1, "idle-timeout = 1s");
	int sender = client_connect(daemon_port(daemon, "main"));
	int hearer = client_connect(daemon_port(daemon, "main"));
	uint64_t start_ms = wait_now_ms(), id = probe_who(hearer).id;

	while (wait_now_ms() - start_ms < 2500) {
		probe_send(sender, PROBE_TIMER_SEND, 3, PROBE_ID(id), 1);
		client_receive(hearer, (uint8_t[12]){ 0 }, 12);
		poll(NULL, 0, 100);
	}
	client_ping(sender, "I have sent");
	client_ping(hearer, "I have heard");
	close(sender);
	close(hearer);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_idle", 0);
	daemon_destroy(&daemon);
}
END_TEST

/* A frame that has begun must be complete in time, and a byte now and then is no excuse. */
START_TEST(frame_timeout_is_not_extended_by_trickled_bytes)
{
	struct daemon *daemon = start_probe(run_workers(_i), "frame-timeout = 1s");
	int between = client_connect(daemon_port(daemon, "main"));
	int fd = client_connect(daemon_port(daemon, "main"));
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	uint64_t start_ms;

	client_ping(between, "no frame has begun");
	client_ping(fd, "a whole frame");
	start_ms = wait_now_ms();
	client_send(fd, "\0\0\0\7\0\0\1\0", 8);
	while (poll(&wait, 1, 100) == 0) {
		client_try_send(fd, "x", 1);
		ck_assert_uint_lt(wait_now_ms() - start_ms, 1000 + SLACK_MS);
	}
	client_expect_end(fd);
	expect_between(wait_now_ms() - start_ms, 900);
	client_ping(between, "nor has it now");
	close(fd);
	close(between);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_frame_timeout", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* Frames that are each complete in time go on for longer than one frame may take. */
START_TEST(frame_timeout_starts_anew_with_each_frame)
{
	struct daemon *daemon = start_probe(1, "frame-timeout = 1500ms");
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes frames = { 0 };
	uint64_t start_ms = wait_now_ms();

	bytes_add_tlv(&frames, PROBE_ECHO, "abcd", 4);
	/* Each piece ends within a frame: there is always one that has begun. */
	client_send(fd, frames.data, 6);
	while (wait_now_ms() - start_ms < 3000) {
		poll(NULL, 0, 200);
		client_send(fd, frames.data + 6, frames.len - 6);
		client_send(fd, frames.data, 6);
		client_expect(fd, &frames);
	}
	close(fd);
	bytes_free(&frames);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_frame_timeout", 0);
	daemon_destroy(&daemon);
}
END_TEST

/* All that was queued arrives although input is still unread, then EOF. */
START_TEST(close_flushes_first)
{
	struct daemon *daemon = start_probe(run_workers(_i), "");
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes noise = { 0 };

	probe_send(fd, PROBE_CLOSE, 1, 200);
	for (uint32_t i = 0; i < 200; i++)
		bytes_add_filled(&noise, PROBE_ECHO, i, 1000);
	client_send(fd, noise.data, noise.len);
	for (uint32_t i = 0; i < 200; i++) {
		uint8_t payload[1000];
		uint32_t id;

		ck_assert_uint_eq(
		    client_receive_tlv(fd, &id, payload, sizeof(payload)), sizeof(payload));
		ck_assert_uint_eq(id, PROBE_PUSH);
		ck_assert_uint_eq((unsigned)payload[2] << 8 | payload[3], i);
	}
	client_expect_eof(fd);
	ck_assert(daemon_has_logged(daemon, "send after close: -3"));
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_handler", 1);
	daemon_expect_counter(daemon, "frames_in", 1);
	daemon_destroy(&daemon);
	bytes_free(&noise);
}
END_TEST

/* The peer keeps its side open, and even goes on sending: linger-timeout is the end of it. */
START_TEST(linger_timeout_ends_a_peer_that_does_not_close)
{
	struct daemon *daemon = start_probe(run_workers(_i), "linger-timeout = 1s");
	int fd = client_connect(daemon_port(daemon, "main"));
	uint64_t start_ms = wait_now_ms();

	probe_send(fd, PROBE_CLOSE, 1, 0);
	client_expect_eof(fd);
	while (client_try_send(fd, "x", 1)) {
		poll(NULL, 0, 50);
		ck_assert_uint_lt(wait_now_ms() - start_ms, 1000 + SLACK_MS);
	}
	expect_between(wait_now_ms() - start_ms, 900);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_handler", 1);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("e_close");
	TCase *peer = run_case(suite, "peer");
	TCase *timeouts = run_case(suite, "timeouts");
	TCase *ours = run_case(suite, "ours");

	run_add_workers(peer, half_close_gets_every_reply_then_eof);
	run_add_workers(peer, half_close_of_a_slow_reader_gets_every_reply);
	run_add_workers(peer, half_close_within_a_frame_ends);
	run_add_workers(peer, reset_with_output_queued_harms_nobody);
	run_add_workers(timeouts, idle_timeout_closes_the_silent_only);
	tcase_add_test(timeouts, idle_timeout_spares_who_only_sends_or_only_hears);
	run_add_workers(timeouts, frame_timeout_is_not_extended_by_trickled_bytes);
	tcase_add_test(timeouts, frame_timeout_starts_anew_with_each_frame);
	run_add_workers(ours, close_flushes_first);
	run_add_workers(ours, linger_timeout_ends_a_peer_that_does_not_close);
	return run_suite(suite);
}
