/*
 * Bytes in, bytes out: framing, order, limits of a frame, unknown ids, the c10k
 * protocol.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

#define MAX_MESSAGE 4096

#define ECHO_CONF           \
	"module echo { }\n" \
	"listen main { address = \"127.0.0.1:0\" modules = { echo } max-message = 4096 }\n"

#define C10K_CONF           \
	"module c10k { }\n" \
	"listen main { address = \"127.0.0.1:0\" modules = { c10k } %s }\n"

static struct daemon *start_echo(unsigned n_workers)
{
	struct daemon *daemon = daemon_new(n_workers, ECHO_CONF);

	daemon_start(daemon);
	return daemon;
}

static struct daemon *start_c10k(unsigned n_workers, const char *options)
{
	struct daemon *daemon = daemon_new(n_workers, C10K_CONF, options);

	daemon_start(daemon);
	return daemon;
}

/* Three frames, one of them empty. */
static void add_three(struct bytes *stream)
{
	bytes_add_tlv(stream, 0xdeadbeef, "first", 5);
	bytes_add_tlv(stream, 0, NULL, 0);
	bytes_add_tlv(stream, 3, "the third one", 13);
}

START_TEST(frames_split_at_every_byte_are_frames)
{
	struct daemon *daemon = start_echo(run_workers(_i));
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes stream = { 0 };

	add_three(&stream);
	for (size_t cut = 1; cut < stream.len; cut++) {
		client_send(fd, stream.data, cut);
		client_await_read(fd);
		client_send(fd, stream.data + cut, stream.len - cut);
		client_expect(fd, &stream);
	}
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "frames_in", 3 * (stream.len - 1));
	daemon_expect_counter(daemon, "bytes_in", stream.len * (stream.len - 1));
	bytes_free(&stream);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(frames_that_come_byte_by_byte_are_frames)
{
	struct daemon *daemon = start_echo(run_workers(_i));
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes stream = { 0 };

	add_three(&stream);
	for (size_t i = 0; i < stream.len; i++) {
		client_send(fd, stream.data + i, 1);
		client_await_read(fd);
	}
	client_expect(fd, &stream);
	close(fd);
	bytes_free(&stream);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(glued_frames_are_frames)
{
	struct daemon *daemon = start_echo(run_workers(_i));
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes stream = { 0 };

	for (int i = 0; i < 20; i++)
		add_three(&stream);
	client_send(fd, stream.data, stream.len);
	client_expect(fd, &stream);
	close(fd);
	bytes_free(&stream);
	daemon_stop(&daemon);
}
END_TEST

/* Contract 4.5: a batch of frames is answered by one write. */
START_TEST(replies_to_a_batch_leave_in_one_drain)
{
	struct daemon *daemon = start_echo(1);
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes stream = { 0 };

	for (int i = 0; i < 60; i++)
		bytes_add_tlv(&stream, 2, "0123456789", 10);
	client_send(fd, stream.data, stream.len);
	client_expect(fd, &stream);
	close(fd);
	bytes_free(&stream);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "frames_out", 60);
	daemon_expect_counter(daemon, "drains", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* Memory grows with bytes received, never with bytes announced. */
START_TEST(announced_bytes_cost_no_memory)
{
	struct daemon *daemon = daemon_new(1,
	    "module echo { }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { echo } max-message = 16M\n"
	    "send-queue-bytes = 32M }\n");
	uint64_t before_kb;
	int fds[100];

	daemon_start(daemon);
	before_kb = process_memory_kb(daemon_worker(daemon, 0));
	for (int i = 0; i < 100; i++) {
		struct bytes head = { 0 };

		fds[i] = client_connect(daemon_port(daemon, "main"));
		bytes_add_be32(&head, 1);
		bytes_add_be32(&head, 16 << 20);
		bytes_add(&head, "some bytes of many", 18);
		client_send(fds[i], head.data, head.len);
		client_await_read(fds[i]);
		bytes_free(&head);
	}
	ck_assert_uint_lt(process_growth_kb(daemon_worker(daemon, 0), before_kb), 2048);
	for (int i = 0; i < 100; i++)
		close(fds[i]);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(longest_message_is_served)
{
	struct daemon *daemon = start_echo(run_workers(_i));
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes stream = { 0 };

	bytes_add_filled(&stream, 1, 1, MAX_MESSAGE);
	bytes_add_filled(&stream, 1, 2, MAX_MESSAGE);
	client_send(fd, stream.data, stream.len);
	client_expect(fd, &stream);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "oversize", 0);
	bytes_free(&stream);
	daemon_destroy(&daemon);
}
END_TEST

/* The frames before it are answered, the connection ends in order, nobody else notices. */
START_TEST(one_byte_more_closes_after_the_replies_before_it)
{
	struct daemon *daemon = start_echo(run_workers(_i));
	int bystander = client_connect(daemon_port(daemon, "main"));
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes before = { 0 }, stream = { 0 };

	add_three(&before);
	bytes_add(&stream, before.data, before.len);
	bytes_add_filled(&stream, 9, 1, MAX_MESSAGE + 1);
	bytes_add_tlv(&stream, 5, "never seen", 10);
	client_ping(bystander, "before");
	client_send(fd, stream.data, stream.len);
	client_expect(fd, &before);
	client_expect_eof(fd);
	client_ping(bystander, "after");
	ck_assert(daemon_has_logged(daemon, "4097"));
	close(fd);
	close(bystander);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "oversize", 1);
	daemon_expect_counter(daemon, "closed_protocol", 1);
	daemon_expect_counter(daemon, "frames_in", 5);
	bytes_free(&before);
	bytes_free(&stream);
	daemon_destroy(&daemon);
}
END_TEST

/* The length alone is enough; nothing is reserved for it, and no sum with it wraps. */
START_TEST(announced_length_of_4_gib_closes)
{
	static const uint32_t lens[] = { 0xffffffff, 0xfffffff8, 0xfffffff7, 0x80000000, 4097 };
	struct daemon *daemon = start_echo(run_workers(_i));

	for (size_t i = 0; i < sizeof(lens) / sizeof(lens[0]); i++) {
		int fd = client_connect(daemon_port(daemon, "main"));
		struct bytes head = { 0 };

		bytes_add_be32(&head, 1);
		bytes_add_be32(&head, lens[i]);
		client_send(fd, head.data, head.len);
		client_expect_eof(fd);
		bytes_free(&head);
		close(fd);
	}
	daemon_end(daemon);
	daemon_expect_counter(daemon, "oversize", 5);
	daemon_expect_counter(daemon, "closed_protocol", 5);
	daemon_destroy(&daemon);
}
END_TEST

/* Only complaints about the same thing are capped, and the line says how many were left out. */
START_TEST(oversize_frames_do_not_flood_the_log)
{
	struct daemon *daemon = start_echo(1);
	uint64_t start_ms = wait_now_ms();
	struct bytes head = { 0 };
	uint64_t seconds;
	unsigned n_lines;

	bytes_add_be32(&head, 1);
	bytes_add_be32(&head, 100000);
	for (int i = 0; i < 300; i++) {
		int fd = client_connect(daemon_port(daemon, "main"));

		client_send(fd, head.data, head.len);
		client_expect_eof(fd);
		close(fd);
	}
	seconds = (wait_now_ms() - start_ms) / 1000;
	n_lines = daemon_n_logged(daemon, "100000");
	ck_assert_uint_ge(n_lines, 1);
	ck_assert_uint_le(n_lines, 2 + seconds);
	bytes_free(&head);
	daemon_stop(&daemon);
}
END_TEST

static void add_sum(struct bytes *request, struct bytes *reply, uint32_t a, uint32_t b)
{
	bytes_add_be32(request, 1001);
	bytes_add_be32(request, 12);
	bytes_add_be32(request, a);
	bytes_add_be32(request, b);
	bytes_add_be32(request, 0);
	bytes_add_be32(reply, 1001);
	bytes_add_be32(reply, 12);
	bytes_add_be32(reply, a);
	bytes_add_be32(reply, b);
	bytes_add_be32(reply, a + b);
}

START_TEST(order_of_2000_pipelined_requests_is_kept)
{
	struct daemon *daemon = start_c10k(run_workers(_i), "");
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes request = { 0 }, reply = { 0 };

	for (uint32_t i = 0; i < 2000; i++)
		add_sum(&request, &reply, i, i * 7);
	client_exchange(fd, &request, &reply);
	close(fd);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_stop(&daemon);
}
END_TEST

/*
 * 64 frames or 64 KiB a wakeup: what is left of one read, be it many small frames
 * or few long ones, is dealt with although no more input comes.
 */
START_TEST(leftovers_of_a_wakeup_are_resumed_without_new_input)
{
	struct daemon *daemon = start_echo(run_workers(_i));
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes small = { 0 }, large = { 0 };

	for (int i = 0; i < 1000; i++)
		bytes_add_tlv(&small, 2, NULL, 0);
	for (uint32_t i = 0; i < 40; i++)
		bytes_add_filled(&large, 2, i, MAX_MESSAGE);
	client_send(fd, small.data, small.len);
	client_expect(fd, &small);
	client_exchange(fd, &large, &large);
	client_send(fd, small.data, small.len);
	shutdown(fd, SHUT_WR);
	client_expect(fd, &small);
	client_expect_eof(fd);
	close(fd);
	bytes_free(&small);
	bytes_free(&large);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(unknown_id_is_ignored)
{
	struct daemon *daemon = start_c10k(run_workers(_i), "unknown-message = ignore");
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes request = { 0 }, reply = { 0 };

	bytes_add_tlv(&request, 4242, "who is this", 11);
	add_sum(&request, &reply, 1, 2);
	client_send(fd, request.data, request.len);
	client_expect(fd, &reply);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "unknown_ids", 1);
	daemon_expect_counter(daemon, "closed_protocol", 0);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(unknown_id_closes_where_the_conf_says_so)
{
	struct daemon *daemon = start_c10k(run_workers(_i), "unknown-message = close");
	int bystander = client_connect(daemon_port(daemon, "main"));
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes request = { 0 }, reply = { 0 };

	add_sum(&request, &reply, 1, 2);
	client_exchange(bystander, &request, &reply);
	bytes_add_tlv(&request, 4242, "who is this", 11);
	client_send(fd, request.data, request.len);
	client_expect(fd, &reply);
	client_expect_eof(fd);
	client_send(bystander, request.data, reply.len);
	client_expect(bystander, &reply);
	close(fd);
	close(bystander);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "unknown_ids", 1);
	daemon_expect_counter(daemon, "closed_protocol", 1);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_destroy(&daemon);
}
END_TEST

/* A frame of n_words words, each its number; the reply has answer in place of one of them. */
static void add_c10k(
    struct bytes *bytes, uint32_t id, uint32_t n_words, uint32_t place, uint32_t value)
{
	bytes_add_be32(bytes, id);
	bytes_add_be32(bytes, n_words * 4);
	for (uint32_t i = 0; i < n_words; i++)
		bytes_add_be32(bytes, i == place ? value : i * 1000);
}

START_TEST(c10k_answers_its_four_ids)
{
	static const struct {
		uint32_t id, n_words, place;
	} kinds[] = { { 2001, 4, 0 }, { 3001, 16, 1 }, { 4001, 64, 2 } };
	struct daemon *daemon = start_c10k(run_workers(_i), "");
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes request = { 0 }, reply = { 0 };

	add_sum(&request, &reply, 0x7fffffff, 1);
	add_sum(&request, &reply, 0xffffffff, 0xffffffff);
	for (size_t i = 0; i < 3; i++) {
		add_c10k(&request, kinds[i].id, kinds[i].n_words, kinds[i].place, 41);
		add_c10k(&reply, kinds[i].id, kinds[i].n_words, kinds[i].place, 42);
		add_c10k(&request, kinds[i].id, kinds[i].n_words, kinds[i].place, 0x7fffffff);
		add_c10k(&reply, kinds[i].id, kinds[i].n_words, kinds[i].place, 0x80000000);
	}
	client_send(fd, request.data, request.len);
	client_expect(fd, &reply);
	close(fd);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(short_c10k_payload_gets_no_reply)
{
	static const uint8_t zeros[256];
	static const struct {
		uint32_t id;
		size_t len;
	} shorts[] = { { 1001, 0 }, { 1001, 11 }, { 2001, 15 }, { 3001, 63 }, { 4001, 255 } };
	struct daemon *daemon = start_c10k(run_workers(_i), "");
	int fd = client_connect(daemon_port(daemon, "main"));
	struct bytes request = { 0 }, reply = { 0 };

	for (size_t i = 0; i < 5; i++)
		bytes_add_tlv(&request, shorts[i].id, zeros, shorts[i].len);
	add_sum(&request, &reply, 5, 6);
	client_send(fd, request.data, request.len);
	client_expect(fd, &reply);
	ck_assert(daemon_has_logged(daemon, "c10k"));
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "malformed", 5);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(ltv_and_tlv_listeners_share_a_daemon)
{
	struct daemon *daemon = daemon_new(run_workers(_i),
	    "module echo { }\nmodule c10k { }\n"
	    "listen little { address = \"127.0.0.1:0\" modules = { echo } framing = ltv }\n"
	    "listen big { address = \"127.0.0.1:0\" modules = { c10k } framing = tlv }\n");
	struct bytes little = { 0 }, request = { 0 }, reply = { 0 };
	int fds[2];

	daemon_start(daemon);
	fds[0] = client_connect(daemon_port(daemon, "little"));
	fds[1] = client_connect(daemon_port(daemon, "big"));
	bytes_add_ltv(&little, 0x01020304, "little-endian", 13);
	bytes_add_ltv(&little, 5, NULL, 0);
	for (size_t cut = 1; cut < little.len; cut++) {
		client_send(fds[0], little.data, cut);
		client_await_read(fds[0]);
		client_send(fds[0], little.data + cut, little.len - cut);
		client_expect(fds[0], &little);
	}
	add_sum(&request, &reply, 20, 22);
	client_exchange(fds[1], &request, &reply);
	close(fds[0]);
	close(fds[1]);
	bytes_free(&little);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_stop(&daemon);
}
END_TEST

/* An LTV length is the first word, so a TLV client's id is taken for one. */
START_TEST(ltv_length_of_4_gib_closes)
{
	struct daemon *daemon = daemon_new(1,
	    "module echo { }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { echo } framing = ltv }\n");
	struct bytes head = { 0 };
	int fd;

	daemon_start(daemon);
	fd = client_connect(daemon_port(daemon, "main"));
	bytes_add_le32(&head, 0xffffffff);
	bytes_add_le32(&head, 1);
	client_send(fd, head.data, head.len);
	client_expect_eof(fd);
	close(fd);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "oversize", 1);
	bytes_free(&head);
	daemon_destroy(&daemon);
}
END_TEST

/* A deterministic walk through bytes that are no frames, many clients, one daemon. */
START_TEST(any_bytes_do_no_harm_to_others)
{
	struct daemon *daemon = start_c10k(run_workers(_i), "");
	int bystander = client_connect(daemon_port(daemon, "main"));
	struct bytes request = { 0 }, reply = { 0 };
	uint32_t state = 1;

	add_sum(&request, &reply, 1, 2);
	for (int i = 0; i < 100; i++) {
		int fd = client_connect(daemon_port(daemon, "main"));
		uint8_t noise[300];

		for (size_t n = 0; n < sizeof(noise); n++) {
			state = state * 1664525u + 1013904223u;
			noise[n] = (uint8_t)(state >> (i % 2 == 0 ? 24 : 29));
		}
		client_try_send(fd, noise, sizeof(noise));
		if (i % 3 == 0)
			client_reset(fd);
		else
			close(fd);
	}
	client_exchange(bystander, &request, &reply);
	for (unsigned slot = 0; slot < daemon->n_workers; slot++)
		ck_assert_uint_eq(daemon_n_started(daemon, slot), 1);
	close(bystander);
	bytes_free(&request);
	bytes_free(&reply);
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("a_wire");
	TCase *frames = run_case(suite, "frames");
	TCase *limits = run_case(suite, "limits");
	TCase *c10k = run_case(suite, "c10k");

	run_add_workers(frames, glued_frames_are_frames);
	run_add_workers(frames, frames_split_at_every_byte_are_frames);
	run_add_workers(frames, frames_that_come_byte_by_byte_are_frames);
	run_add_workers(frames, order_of_2000_pipelined_requests_is_kept);
	run_add_workers(frames, leftovers_of_a_wakeup_are_resumed_without_new_input);
	run_add_workers(frames, ltv_and_tlv_listeners_share_a_daemon);
	tcase_add_test(frames, replies_to_a_batch_leave_in_one_drain);
	run_add_workers(limits, longest_message_is_served);
	tcase_add_test(limits, announced_bytes_cost_no_memory);
	run_add_workers(limits, one_byte_more_closes_after_the_replies_before_it);
	run_add_workers(limits, announced_length_of_4_gib_closes);
	tcase_add_test(limits, oversize_frames_do_not_flood_the_log);
	tcase_add_test(limits, ltv_length_of_4_gib_closes);
	run_add_workers(limits, any_bytes_do_no_harm_to_others);
	run_add_workers(c10k, c10k_answers_its_four_ids);
	run_add_workers(c10k, short_c10k_payload_gets_no_reply);
	run_add_workers(c10k, unknown_id_is_ignored);
	run_add_workers(c10k, unknown_id_closes_where_the_conf_says_so);
	return run_suite(suite);
}
