/*
 * What holds for every framing: a stream means the same however it is cut, nothing beyond
 * the input is read, and a message that is sent comes out as it was.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/htlv_crc.h"
#include "wire/length_field.h"
#include "wire/line.h"

#include "test_wire.h"

/* More than any payload here. */
#define MAX_PAYLOAD 40

#define MAX_STREAM 512

static struct htlv_crc htlv_crc;
static struct line lf, crlf;
static struct length_field fields[8];

static const struct length_field_rules rules[] = {
	{ .length = { 0, 1, false }, .strip = 1 },
	{ .length = { 0, 2, true }, .strip = 2, .adjustment = -2, .fixed_id = 3 },
	{ .length = { 1, 3, false }, .strip = 5, .id = { 4, 1, false }, .adjustment = 1 },
	{ .length = { 4, 4, false }, .strip = 8, .id = { 0, 4, false } },
	{ .length = { 0, 8, true }, .strip = 12, .id = { 8, 4, false }, .adjustment = -8 },
	{ .length = { 0, 2, false }, .id = { 2, 2, true } },
	{ .length = { 2, 2, false }, .strip = 1, .adjustment = -4, .id = { 0, 2, false } },
	{ .length = { 3, 2, false }, .strip = 20 },
};

static const struct {
	const struct framing *framing;
	bool has_id;     /* the id is on the wire */
	bool has_header; /* a part of the header is in the payload, and written over */
} samples[] = {
	{ &framing_tlv, true, false },
	{ &framing_ltv, true, false },
	{ &htlv_crc.framing, true, false },
	{ &lf.framing, false, false },
	{ &crlf.framing, false, false },
	{ &fields[0].framing, false, false },
	{ &fields[1].framing, false, false },
	{ &fields[2].framing, true, false },
	{ &fields[3].framing, true, false },
	{ &fields[4].framing, true, false },
	{ &fields[5].framing, true, true },
	{ &fields[6].framing, true, true },
	{ &fields[7].framing, false, false },
};

static void set_up(void)
{
	htlv_crc_init(&htlv_crc, 0xa2);
	line_init(&lf, 5, false);
	line_init(&crlf, 6, true);
	for (int i = 0; i < N_OF(rules); i++)
		length_field_init(&fields[i], &rules[i]);
}

struct stream {
	uint8_t bytes[MAX_STREAM];
	size_t len;
};

static void stream_add(struct stream *stream, const void *bytes, size_t len)
{
	ck_assert_uint_le(len, sizeof(stream->bytes) - stream->len);
	memcpy(stream->bytes + stream->len, bytes, len);
	stream->len += len;
}

/* A message of this length, where the framing has a frame for it. */
static void stream_add_message(
    struct stream *stream, const struct framing *framing, uint32_t id, size_t len)
{
	uint8_t payload[MAX_PAYLOAD + 1], frame[2 * MAX_PAYLOAD];
	size_t size;

	for (size_t i = 0; i < len; i++)
		payload[i] = (uint8_t)('a' + (i + id) % 26);
	size = framing_encode(framing, frame, id, payload, len);
	stream_add(stream, frame, size);
}

/* What a reader of the stream sees, in words. */
struct trace {
	char text[4096];
	size_t len;
	bool is_over;
};

static void trace_add(struct trace *trace, enum decode said, const struct frame *frame)
{
	char *at = trace->text + trace->len;
	size_t room = sizeof(trace->text) - trace->len;

	trace->is_over = said == DECODE_TOO_LONG || said == DECODE_BAD;
	if (said == DECODE_BAD)
		trace->len += (size_t)snprintf(at, room, "bad: %s\n", frame->why);
	else if (said == DECODE_FRAME)
		trace->len += (size_t)snprintf(at, room, "%" PRIu32 " of %zu: %.*s\n",
		    frame->id, frame->size, (int)frame->len, (const char *)frame->payload);
	else
		trace->len += (size_t)snprintf(
		    at, room, "%d: %" PRIu32 ", %zu\n", (int)said, frame->id, frame->len);
	ck_assert_uint_lt(trace->len, sizeof(trace->text));
}

/* Take what is whole at the front of the first len bytes; returns where the rest begins. */
static size_t take(struct trace *trace, const struct framing *framing,
    const struct stream *stream, size_t at, size_t len)
{
	while (!trace->is_over) {
		struct frame frame = { 0 };
		uint8_t *in = malloc(len - at + 1); /* one more, for malloc(0) */
		enum decode said;

		ck_assert_ptr_nonnull(in);
		/* Against the end, which ASan watches. */
		memcpy(in + 1, stream->bytes + at, len - at);
		said = framing->decode(framing, in + 1, len - at, MAX_PAYLOAD, &frame);
		if (said != DECODE_MORE)
			trace_add(trace, said, &frame);
		free(in);
		if (said == DECODE_MORE)
			break;
		if (said == DECODE_FRAME || said == DECODE_CORRUPT) {
			ck_assert_uint_gt(frame.size, 0);
			ck_assert_uint_le(frame.size, len - at);
			at += frame.size;
		}
	}
	return at;
}

/* The stream comes in pieces of this many bytes. */
static void read_in_pieces(struct trace *trace, const struct framing *framing,
    const struct stream *stream, size_t piece)
{
	size_t at = 0;

	*trace = (struct trace){ .len = 0 };
	for (size_t len = 0; len <= stream->len; len += piece)
		at = take(trace, framing, stream, at, len);
	take(trace, framing, stream, at, stream->len);
}

static void expect_same_in_pieces(const struct framing *framing, const struct stream *stream)
{
	struct trace whole = { .len = 0 }, cut;

	take(&whole, framing, stream, 0, stream->len);
	for (size_t piece = 1; piece < stream->len; piece++) {
		read_in_pieces(&cut, framing, stream, piece);
		ck_assert_str_eq(cut.text, whole.text);
	}
	for (size_t first = 0; first < stream->len; first++) {
		size_t at;

		cut = (struct trace){ .len = 0 };
		at = take(&cut, framing, stream, 0, first);
		take(&cut, framing, stream, at, stream->len);
		ck_assert_str_eq(cut.text, whole.text);
	}
}

START_TEST(messages_are_the_same_however_they_are_cut)
{
	const struct framing *framing = samples[_i].framing;
	struct stream stream = { .len = 0 };
	struct trace trace = { .len = 0 };
	int n_lines = 0;

	for (uint32_t i = 0; i < 6; i++)
		stream_add_message(&stream, framing, i, 4 + i * 7);
	take(&trace, framing, &stream, 0, stream.len);
	for (const char *at = trace.text; (at = strchr(at, '\n')) != NULL; at++)
		n_lines++;
	ck_assert_int_eq(n_lines, 6);
	expect_same_in_pieces(framing, &stream);
}
END_TEST

/* One byte more than the limit, behind messages that are in order. */
START_TEST(long_message_is_the_same_however_it_is_cut)
{
	const struct framing *framing = samples[_i].framing;
	struct stream stream = { .len = 0 };
	struct trace trace = { .len = 0 };

	stream_add_message(&stream, framing, 1, MAX_PAYLOAD);
	stream_add_message(&stream, framing, 2, MAX_PAYLOAD + 1);
	stream_add_message(&stream, framing, 3, MAX_PAYLOAD);
	take(&trace, framing, &stream, 0, stream.len);
	ck_assert(trace.is_over);
	ck_assert_ptr_nonnull(strstr(trace.text, "3: "));
	ck_assert_ptr_nonnull(strstr(trace.text, ", 41\n"));
	expect_same_in_pieces(framing, &stream);
}
END_TEST

/* Bytes that are mostly no frames, and the same with messages before them. */
START_TEST(noise_is_the_same_however_it_is_cut)
{
	const struct framing *framing = samples[_i].framing;
	uint32_t state = 1;

	for (int round = 0; round < 40; round++) {
		struct stream stream = { .len = 0 };

		if (round % 2 == 1)
			stream_add_message(&stream, framing, 1, 10);
		for (int i = 0; i < 90; i++) {
			uint8_t byte;

			state = state * 1664525u + 1013904223u;
			byte = (uint8_t)(state >> (round % 4 < 2 ? 24 : 28));
			stream_add(&stream, &byte, 1);
		}
		expect_same_in_pieces(framing, &stream);
	}
}
END_TEST

START_TEST(corrupt_frame_is_the_same_however_it_is_cut)
{
	struct stream stream = { .len = 0 };
	struct trace trace = { .len = 0 };

	for (uint32_t i = 0; i < 3; i++)
		stream_add_message(&stream, &htlv_crc.framing, i, 10);
	stream.bytes[15 + 7] ^= 1;
	take(&trace, &htlv_crc.framing, &stream, 0, stream.len);
	ck_assert_str_eq(trace.text, "0 of 15: abcdefghij\n1: 1, 10\n2 of 15: cdefghijkl\n");
	expect_same_in_pieces(&htlv_crc.framing, &stream);
}
END_TEST

/* By name and terms two framings are told apart, of which one has other parameters. */
START_TEST(parameters_are_in_the_terms)
{
	struct htlv_crc head;
	struct line id;

	for (int i = 0; i < N_OF(samples); i++) {
		const struct framing *framing = samples[i].framing;

		ck_assert_uint_lt(strlen(framing->terms), FRAMING_TERMS_SIZE - 1);
		for (int k = 0; k < i; k++)
			ck_assert(strcmp(framing->name, samples[k].framing->name) != 0 ||
				  strcmp(framing->terms, samples[k].framing->terms) != 0);
	}
	htlv_crc_init(&head, 0xa1);
	ck_assert_str_ne(head.framing.terms, htlv_crc.framing.terms);
	htlv_crc_init(&head, 0xa2);
	ck_assert_str_eq(head.framing.terms, htlv_crc.framing.terms);
	line_init(&id, 4, false);
	ck_assert_str_ne(id.framing.terms, lf.framing.terms);
}
END_TEST

/* Each of them by itself, and at its greatest, where the terms are longest. */
START_TEST(parameters_of_a_length_field_are_in_its_terms)
{
	const struct length_field_rules base = { .length = { 1024, 8, true },
		.id = { 1024, 4, true },
		.adjustment = -65536,
		.strip = 2048,
		.fixed_id = UINT32_MAX };
	struct length_field_rules other[9];
	struct length_field field, changed;

	for (int i = 0; i < N_OF(other); i++)
		other[i] = base;
	other[0].length.offset--;
	other[1].length.size--;
	other[2].length.is_little = false;
	other[3].id.offset--;
	other[4].id.size--;
	other[5].id.is_little = false;
	other[6].adjustment++;
	other[7].strip--;
	other[8].fixed_id--;
	length_field_init(&field, &base);
	ck_assert_uint_lt(strlen(field.framing.terms), FRAMING_TERMS_SIZE - 1);
	for (int i = 0; i < N_OF(other); i++) {
		length_field_init(&changed, &other[i]);
		ck_assert_str_ne(changed.framing.terms, field.framing.terms);
	}
}
END_TEST

START_TEST(what_is_sent_comes_out)
{
	const struct framing *framing = samples[_i].framing;
	unsigned n_sent = 0;

	for (uint32_t id = 0; id < 300; id += 23) {
		for (size_t len = 0; len <= MAX_PAYLOAD; len++) {
			uint8_t payload[MAX_PAYLOAD], frame[2 * MAX_PAYLOAD],
			    again[sizeof(frame)];
			struct frame found = { 0 };
			size_t size;

			memset(payload, (int)('a' + id % 26), sizeof(payload));
			size = framing_encode(framing, frame, id, payload, len);
			if (size == 0)
				continue;
			n_sent++;
			ck_assert_uint_le(size, len + framing_overhead(framing));
			ck_assert_int_eq(
			    framing->decode(framing, frame, size, len, &found), DECODE_FRAME);
			ck_assert_uint_eq(found.size, size);
			ck_assert_uint_eq(found.len, len);
			/* A payload that has parts of the header in it gets them right. */
			size =
			    framing_encode(framing, again, found.id, found.payload, found.len);
			ck_assert_uint_eq(size, found.size);
			ck_assert_mem_eq(again, frame, size);
			if (samples[_i].has_id)
				ck_assert_uint_eq(found.id, id);
			if (!samples[_i].has_header)
				ck_assert_mem_eq(found.payload, payload, len);
		}
	}
	ck_assert_uint_gt(n_sent, 400);
}
END_TEST

TCase *every_framing_tests(void)
{
	TCase *test = tcase_create("every_framing");

	tcase_add_checked_fixture(test, set_up, NULL);
	tcase_add_loop_test(test, messages_are_the_same_however_they_are_cut, 0, N_OF(samples));
	tcase_add_loop_test(test, long_message_is_the_same_however_it_is_cut, 0, N_OF(samples));
	tcase_add_loop_test(test, noise_is_the_same_however_it_is_cut, 0, N_OF(samples));
	tcase_add_test(test, corrupt_frame_is_the_same_however_it_is_cut);
	tcase_add_test(test, parameters_are_in_the_terms);
	tcase_add_test(test, parameters_of_a_length_field_are_in_its_terms);
	tcase_add_loop_test(test, what_is_sent_comes_out, 0, N_OF(samples));
	return test;
}
