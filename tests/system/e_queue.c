/*
 * Peers that do not read: what when-full does, what it costs, and that nothing is
 * lost without being counted..
 */
#include "config.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/process.h"
#include "system/run.h"

#define CONF PROBE_SECTION "listen main { address = \"127.0.0.1:0\" modules = { probe } %s }\n"

/* Echoes of this size on the wire; more of them than kernel and queue can hold. */
#define FRAME_SIZE 1024
#define N_FRAMES 20000

static struct daemon *start_probe(unsigned n_workers, const char *options)
{
	struct daemon *daemon = daemon_new(n_workers, CONF, options);

	daemon_start(daemon);
	return daemon;
}

static void add_echoes(struct bytes *stream, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		bytes_add_filled(stream, PROBE_ECHO, i, FRAME_SIZE - 8);
}

static uint64_t memory_of_workers(struct daemon *daemon)
{
	uint64_t kb = 0;

	for (unsigned slot = 0; slot < daemon->n_workers; slot++)
		kb += process_memory_kb(daemon_worker(daemon, slot));
	return kb;
}

/*
 * pause: the worker stops reading, so the client gets stuck, with bounded memory
 * and while others are served; when it reads, every reply is there.
 */
START_TEST(pause_stops_a_client_that_does_not_read_and_loses_nothing)
{
	struct daemon *daemon =
	    start_probe(run_workers(_i), "when-full = pause send-timeout = 60s");
	int bystander = client_connect(daemon_port(daemon, "main"));
	int fd = client_connect_small(daemon_port(daemon, "main"));
	uint64_t before_kb = memory_of_workers(daemon);
	struct bytes stream = { 0 };
	size_t n_sent;

	add_echoes(&stream, N_FRAMES);
	n_sent = client_send_until_stalled(fd, stream.data, stream.len, 500);
	ck_assert_uint_lt(n_sent, stream.len);
	ck_assert_uint_lt(memory_of_workers(daemon), before_kb + (16 << 10));
	for (int i = 0; i < 20; i++)
		client_ping(bystander, "served meanwhile");
	client_exchange(fd,
	    &(struct bytes){ .data = stream.data + n_sent, .len = stream.len - n_sent },
	    &stream);
	client_ping(fd, "as if nothing had been");
	close(fd);
	close(bystander);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "frames_in", N_FRAMES + 21);
	daemon_expect_counter(daemon, "frames_out", N_FRAMES + 21);
	daemon_expect_counter(daemon, "closed_peer", 2);
	bytes_free(&stream);
	daemon_destroy(&daemon);
}
END_TEST

/* The frames that arrive are whole and in order; what is missing is what was refused. */
static uint32_t count_echoes(int fd, const struct bytes *stream)
{
	uint8_t frame[FRAME_SIZE], head;
	uint32_t n = 0, next = 0;

	while (recv(fd, &head, 1, MSG_PEEK) == 1) {
		uint32_t seed;

		client_receive(fd, frame, sizeof(frame));
		seed = (uint32_t)frame[8] << 24 | (uint32_t)frame[9] << 16 |
		       (uint32_t)frame[10] << 8 | frame[11];
		ck_assert_uint_ge(seed, next);
		ck_assert_int_eq(
		    memcmp(frame, stream->data + (size_t)seed * FRAME_SIZE, FRAME_SIZE), 0);
		next = seed + 1;
		n++;
	}
	client_expect_eof(fd);
	return n;
}

START_TEST(refuse_answers_what_fits_and_counts_the_rest)
{
	struct daemon *daemon =
	    start_probe(run_workers(_i), "when-full = refuse send-timeout = 60s");
	int bystander = client_connect(daemon_port(daemon, "main"));
	int fd = client_connect_small(daemon_port(daemon, "main"));
	uint64_t before_kb = memory_of_workers(daemon), start_ms = wait_now_ms(), seconds;
	struct bytes stream = { 0 };
	uint32_t n_read;

	add_echoes(&stream, N_FRAMES);
	client_send(fd, stream.data, stream.len);
	client_await_read(fd);
	ck_assert_uint_lt(memory_of_workers(daemon), before_kb + (16 << 10));
	client_ping(bystander, "served meanwhile");
	seconds = (wait_now_ms() - start_ms) / 1000;
	shutdown(fd, SHUT_WR);
	n_read = count_echoes(fd, &stream);
	close(fd);
	close(bystander);
	/* At most one line a second about it. */
	ck_assert_uint_ge(daemon_n_logged(daemon, "refused"), 1);
	ck_assert_uint_le(daemon_n_logged(daemon, "refused"), seconds + 2);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "frames_in", N_FRAMES + 1);
	daemon_expect_counter(daemon, "frames_out", n_read + 1);
	daemon_expect_counter(daemon, "sends_refused", N_FRAMES - n_read);
	ck_assert_uint_lt(n_read, N_FRAMES);
	bytes_free(&stream);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(close_drops_a_client_that_does_not_read)
{
	struct daemon *daemon =
	    start_probe(run_workers(_i), "when-full = close send-timeout = 60s");
	int bystander = client_connect(daemon_port(daemon, "main"));
	int fd = client_connect_small(daemon_port(daemon, "main"));
	struct bytes stream = { 0 };

	add_echoes(&stream, N_FRAMES);
	client_try_send(fd, stream.data, stream.len);
	client_ping(bystander, "served");
	client_expect_end(fd);
	close(fd);
	close(bystander);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_queue_full", 1);
	daemon_expect_counter(daemon, "closed_peer", 1);
	bytes_free(&stream);
	daemon_destroy(&daemon);
}
END_TEST

/* In every mode: no byte goes for so long, and the connection is gone. */
START_TEST(send_timeout_ends_a_client_that_does_not_read)
{
	static const char *const modes[] = { "when-full = pause send-timeout = 1s",
		"when-full = refuse send-timeout = 1s" };
	struct daemon *daemon = start_probe(1, modes[_i]);
	int bystander = client_connect(daemon_port(daemon, "main"));
	int fd = client_connect_small(daemon_port(daemon, "main"));
	uint64_t start_ms = wait_now_ms();

	for (int i = 0; i < 8; i++)
		probe_send(fd, PROBE_FLOOD, 2, 1000, 1000);
	WAIT_FOR(daemon_has_logged(daemon, "data valid"));
	ck_assert_uint_ge(wait_now_ms() - start_ms, 900);
	client_ping(bystander, "another one");
	client_expect_end(fd);
	close(fd);
	close(bystander);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_send_timeout", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* A client that reads slowly makes progress, however little, and is kept. */
START_TEST(slow_reader_outlives_send_timeout)
{
	struct daemon *daemon = start_probe(1, "when-full = pause send-timeout = 3s");
	int fd = client_connect_small(daemon_port(daemon, "main"));
	uint64_t start_ms = wait_now_ms();
	struct bytes stream = { 0 }, unsent, unread;
	size_t n_sent;

	add_echoes(&stream, N_FRAMES);
	n_sent = client_send_until_stalled(fd, stream.data, stream.len, 200);
	unsent = (struct bytes){ .data = stream.data + n_sent, .len = stream.len - n_sent };
	unread = stream;
	while (wait_now_ms() - start_ms < 5000) {
		client_expect(fd, &(struct bytes){ .data = unread.data, .len = 20000 });
		unread.data += 20000;
		unread.len -= 20000;
		poll(NULL, 0, 100);
	}
	client_exchange(fd, &unsent, &unread);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_send_timeout", 0);
	bytes_free(&stream);
	daemon_destroy(&daemon);
}
END_TEST

/* asked = taken + refused, and what is taken is what is read, as whole frames in order. */
START_TEST(every_send_is_taken_or_refused_and_counted)
{
	struct daemon *daemon = start_probe(1, "when-full = refuse send-queue-messages = 50");
	int fd = client_connect(daemon_port(daemon, "main"));
	uint32_t n_read = 0, last = 0;
	uint8_t frame[8 + 2000];

	probe_send(fd, PROBE_FLOOD, 2, 50000, 2000);
	shutdown(fd, SHUT_WR);
	while (recv(fd, frame, 1, MSG_PEEK) == 1) {
		uint32_t id, number;
		size_t len = client_receive_tlv(fd, &id, frame, sizeof(frame));

		n_read++;
		if (id == PROBE_RESULT)
			continue;
		ck_assert_uint_eq(id, PROBE_PUSH);
		ck_assert_uint_eq(len, 2000);
		number = (uint32_t)frame[0] << 24 | (uint32_t)frame[1] << 16 |
			 (uint32_t)frame[2] << 8 | frame[3];
		ck_assert(n_read == 1 || number > last);
		last = number;
	}
	client_expect_eof(fd);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "frames_out", n_read);
	daemon_expect_counter(daemon, "sends_refused", 50001 - n_read);
	ck_assert_uint_lt(n_read, 50001);
	ck_assert_uint_ge(n_read, 50);
	daemon_destroy(&daemon);
}
END_TEST

struct counts {
	unsigned asked, taken, refused, writable;
};

/* Ask again until there is room for the answer, reading what comes before it. */
static struct counts ask_counts(int fd)
{
	uint64_t end_ms = wait_now_ms() + DEADLINE_MS;
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	struct counts counts;
	char payload[4096];

	while (wait_now_ms() < end_ms) {
		probe_send(fd, PROBE_COUNTS, 0);
		while (poll(&wait, 1, 200) == 1) {
			uint32_t id;
			size_t len = client_receive_tlv(fd, &id, payload, sizeof(payload) - 1);

			payload[len] = '\0';
			if (id == PROBE_COUNTS) {
				ck_assert_int_eq(
				    sscanf(payload, "%u %u %u %u", &counts.asked, &counts.taken,
					&counts.refused, &counts.writable),
				    4);
				return counts;
			}
		}
	}
	ck_abort_msg("no room for an answer");
}

START_TEST(writable_is_called_once_for_each_episode_of_refusals)
{
	static const char *const modes[] = { "when-full = refuse", "when-full = pause" };
	struct daemon *daemon = start_probe(1, modes[_i]);
	int fd = client_connect_small(daemon_port(daemon, "main"));

	for (unsigned episode = 1; episode <= 3; episode++) {
		struct counts counts;

		/* More than any buffer takes: the queue's 1024 messages are full at its end. */
		probe_send(fd, PROBE_FLOOD, 2, 10000, 1000);
		client_await_read(fd);
		/* Answers that have room may overtake the hook; then it may not be called again. */
		WAIT_FOR(ask_counts(fd).writable >= episode);
		counts = ask_counts(fd);
		ck_assert_uint_eq(counts.asked, episode * 10000);
		ck_assert_uint_eq(counts.taken + counts.refused, counts.asked);
		ck_assert_uint_gt(counts.refused, 0);
		ck_assert_uint_eq(counts.writable, episode);
	}
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(message_that_can_never_fit_is_too_big)
{
	struct daemon *daemon = start_probe(1, "send-queue-bytes = 64k");
	int fd = client_connect(daemon_port(daemon, "main"));

	probe_send(fd, PROBE_SIZED, 1, 65536);
	ck_assert_int_eq((int32_t)probe_result(fd), -2);
	probe_send(fd, PROBE_SIZED, 1, 1 << 22);
	ck_assert_int_eq((int32_t)probe_result(fd), -2);
	client_ping(fd, "nothing was queued");
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "frames_out", 3);
	daemon_destroy(&daemon);
}
END_TEST

/*
 * Many clients do not read: the budget of the worker holds over all of them, and
 * a bystander whose reply was refused meanwhile is served again afterwards.
 */
START_TEST(budget_of_a_worker_bounds_all_queues_together)
{
	static const char *const modes[] = { "when-full = refuse", "when-full = pause" };
	struct daemon *daemon = daemon_new(1,
	    "worker-send-memory = 4M\n" PROBE_SECTION
	    "listen main { address = \"127.0.0.1:0\" modules = { probe } %s\n"
	    "send-queue-bytes = 1M send-timeout = 60s }\n",
	    modes[_i]);
	int fds[64], bystander;
	uint64_t before_kb;

	daemon_start(daemon);
	bystander = client_connect(daemon_port(daemon, "main"));
	client_ping(bystander, "before");
	before_kb = memory_of_workers(daemon);
	for (int i = 0; i < 64; i++) {
		fds[i] = client_connect_small(daemon_port(daemon, "main"));
		probe_send(fds[i], PROBE_FLOOD, 2, 8000, 1000);
	}
	for (int i = 0; i < 64; i++)
		client_await_read(fds[i]);
	ck_assert_uint_lt(memory_of_workers(daemon), before_kb + (16 << 10));
	probe_send(bystander, PROBE_FLOOD, 2, 1, 1000);
	client_await_read(bystander);
	for (int i = 0; i < 64; i++)
		client_reset(fds[i]);
	WAIT_FOR(daemon_n_logged(daemon, "data valid") == 64);
	/* All is given back. */
	ask_counts(bystander);
	client_ping(bystander, "there is room again");
	close(bystander);
	daemon_end(daemon);
	ck_assert_uint_gt(daemon_counter(daemon, "sends_refused"), 0);
	daemon_destroy(&daemon);
}
END_TEST

/* Whether it sleeps, and has slept but for little of a second of our time. */
static bool is_quiet(pid_t worker)
{
	uint64_t start_ms = process_cpu_ms(worker);

	poll(NULL, 0, 1000);
	return process_cpu_ms(worker) - start_ms < 200 && process_state(worker) == 'S';
}

/*
 * Who does not read costs memory, but no time: with input unread, with its own
 * side closed, and with the connection being closed by us.
 */
START_TEST(stalled_clients_cost_no_time)
{
	struct daemon *daemon = start_probe(1, "when-full = pause send-timeout = 60s");
	pid_t worker = daemon_worker(daemon, 0);
	struct bytes stream = { 0 };
	int fds[30];

	add_echoes(&stream, 4000);
	for (int i = 0; i < 30; i++) {
		fds[i] = client_connect_small(daemon_port(daemon, "main"));
		if (i % 3 == 2)
			probe_send(fds[i], PROBE_CLOSE, 1, 1000);
		client_send_until_stalled(fds[i], stream.data, stream.len, 0);
		if (i % 3 == 1)
			shutdown(fds[i], SHUT_WR);
	}
	/* Until the last of them is stalled, too; a worker that spins is never quiet. */
	WAIT_FOR(is_quiet(worker));
	for (int i = 0; i < 30; i++)
		client_reset(fds[i]);
	WAIT_FOR(daemon_n_logged(daemon, "data valid") == 30);
	WAIT_FOR(is_quiet(worker));
	bytes_free(&stream);
	daemon_stop(&daemon);
}
END_TEST

/* Contract 5: the budget of a turn. A second's work of one client does not delay another's. */
START_TEST(flood_of_one_client_does_not_hold_up_another)
{
	struct daemon *daemon = start_probe(1, "");
	int flooder = client_connect(daemon_port(daemon, "main"));
	int pinger = client_connect(daemon_port(daemon, "main"));
	struct bytes stream = { 0 };
	uint64_t start_ms, ping_ms;

	for (int i = 0; i < 2000; i++)
		bytes_add_tlv(&stream, PROBE_BUSY, "\0\0\1\364", 4);
	client_ping(pinger, "before");
	start_ms = wait_now_ms();
	client_send(flooder, stream.data, stream.len);
	client_ping(pinger, "meanwhile");
	ping_ms = wait_now_ms() - start_ms;
	client_expect(flooder, &stream);
	/* 64 frames of 0.5 ms are a turn; all of them are 1,000 ms at the least. */
	ck_assert_uint_lt(ping_ms, (wait_now_ms() - start_ms) / 3);
	close(flooder);
	close(pinger);
	bytes_free(&stream);
	daemon_stop(&daemon);
}
END_TEST

/* A burst of input and output leaves no memory behind with a connection that is idle. */
START_TEST(memory_comes_back_after_a_burst)
{
	struct daemon *daemon = start_probe(1, "max-message = 64k");
	uint64_t before_kb = memory_of_workers(daemon);
	struct bytes stream = { 0 };
	int fds[200];

	for (uint32_t i = 0; i < 4; i++)
		bytes_add_filled(&stream, PROBE_ECHO, i, 65536);
	for (int i = 0; i < 200; i++) {
		fds[i] = client_connect(daemon_port(daemon, "main"));
		/* All but a byte: input is held. */
		client_send(fds[i], stream.data, 65536 + 7);
	}
	for (int i = 0; i < 200; i++) {
		client_exchange(fds[i],
		    &(struct bytes){
			.data = stream.data + 65536 + 7, .len = stream.len - 65536 - 7 },
		    &stream);
	}
	WAIT_FOR(memory_of_workers(daemon) < before_kb + before_kb / 2 + 2048);
	for (int i = 0; i < 200; i++)
		close(fds[i]);
	bytes_free(&stream);
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("e_queue");
	TCase *modes = run_case(suite, "when-full");
	TCase *account = run_case(suite, "account");
	TCase *timeout = run_case(suite, "send-timeout");

	run_add_workers(modes, pause_stops_a_client_that_does_not_read_and_loses_nothing);
	run_add_workers(modes, refuse_answers_what_fits_and_counts_the_rest);
	run_add_workers(modes, close_drops_a_client_that_does_not_read);
	tcase_add_loop_test(timeout, send_timeout_ends_a_client_that_does_not_read, 0, 2);
	tcase_add_test(timeout, slow_reader_outlives_send_timeout);
	tcase_add_test(account, every_send_is_taken_or_refused_and_counted);
	tcase_add_loop_test(
	    account, writable_is_called_once_for_each_episode_of_refusals, 0, 2);
	tcase_add_test(account, message_that_can_never_fit_is_too_big);
	tcase_add_loop_test(account, budget_of_a_worker_bounds_all_queues_together, 0, 2);
	tcase_add_test(account, stalled_clients_cost_no_time);
	tcase_add_test(account, flood_of_one_client_does_not_hold_up_another);
	if (!RUN_IS_SANITIZED)
		tcase_add_test(account, memory_comes_back_after_a_burst);
	return run_suite(suite);
}
