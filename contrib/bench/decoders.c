/*
 * decoders: how many frames and bytes a second each framing's decoder takes apart, on one
 * CPU and in memory, and each encoder makes. It prints a table in Markdown.
 *
 *     contrib/bench/decoders [MILLISECONDS]
 *
 * Each row is the best of several rounds that take so long together, in CPU time of this
 * process, so that others on the machine disturb little.
 */
#include "config.h"

#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wire/htlv_crc.h"
#include "wire/length_field.h"
#include "wire/line.h"

#define N_ROUNDS 10
#define DEFAULT_MS 500
#define MAX_MS 60000

/* What a worker reads at once. */
#define STREAM_SIZE (64 * 1024)

static const size_t payloads[] = { 12, 64, 255, 1024 };
#define N_PAYLOADS (sizeof(payloads) / sizeof(payloads[0]))

/* What was decoded goes here, so that nothing is left out as useless. */
static volatile uint64_t sink;

struct stream {
	uint8_t bytes[STREAM_SIZE];
	size_t len, n_frames;
};

static struct htlv_crc htlv_crc;
static struct line line;
static struct length_field as_tlv, short_field;

static const struct {
	const char *name;
	const struct framing *framing;
} rows[] = {
	{ "tlv", &framing_tlv },
	{ "ltv", &framing_ltv },
	{ "htlv-crc", &htlv_crc.framing },
	{ "length-field, as tlv", &as_tlv.framing },
	{ "length-field, 2 bytes", &short_field.framing },
	{ "line", &line.framing },
};

static uint64_t cpu_ns(void)
{
	struct timespec now;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) != 0)
		err(1, "clock_gettime");
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* As many frames as there is room for. */
static void fill(struct stream *stream, const struct framing *framing, size_t payload_len)
{
	uint8_t payload[1024];

	for (size_t i = 0; i < sizeof(payload); i++)
		payload[i] = (uint8_t)('a' + i % 26);
	*stream = (struct stream){ .len = 0 };
	while (STREAM_SIZE - stream->len >= payload_len + framing_overhead(framing)) {
		stream->len += framing_encode(
		    framing, stream->bytes + stream->len, 1, payload, payload_len);
		stream->n_frames++;
	}
}

/* All of the stream, as a worker does. */
static void decode(const struct stream *stream, const struct framing *framing)
{
	struct frame frame = { 0 };
	uint64_t sum = 0;
	size_t at = 0;

	while (at < stream->len) {
		if (framing->decode(framing, stream->bytes + at, stream->len - at, 4096,
			&frame) != DECODE_FRAME)
			errx(1, "%s: no frame at %zu", framing->name, at);
		sum += frame.id + frame.len + frame.payload[0];
		at += frame.size;
	}
	sink += sum;
}

/* As many frames over the old ones, from a payload that stands in its place. */
static void encode(struct stream *stream, const struct framing *framing, size_t payload_len)
{
	size_t at = 0;

	for (size_t i = 0; i < stream->n_frames; i++)
		at += framing->seal(framing, stream->bytes + at, 1, payload_len);
	sink += at;
}

/* payload_len 0: decode, else encode. Nanoseconds of one pass: the best of the rounds. */
static double measure(
    struct stream *stream, const struct framing *framing, size_t payload_len, uint64_t round_ns)
{
	double best = 0;

	for (int round = 0; round < N_ROUNDS; round++) {
		uint64_t start = cpu_ns(), took = 0;
		unsigned n_passes = 0;
		double ns;

		for (; took < round_ns; took = cpu_ns() - start) {
			for (int i = 0; i < 16; i++, n_passes++) {
				if (payload_len == 0)
					decode(stream, framing);
				else
					encode(stream, framing, payload_len);
			}
		}
		ns = (double)took / n_passes;
		if (round == 0 || ns < best)
			best = ns;
	}
	return best;
}

static void report(size_t row, size_t payload_len, uint64_t round_ns)
{
	const struct framing *framing = rows[row].framing;
	static struct stream stream;
	double decode_ns, encode_ns, n;

	if (payload_len > framing->max_payload)
		return;
	fill(&stream, framing, payload_len);
	decode_ns = measure(&stream, framing, 0, round_ns);
	encode_ns = measure(&stream, framing, payload_len, round_ns);
	n = (double)stream.n_frames;
	printf("| %s | %zu | %.1f | %.0f | %.1f | %.1f | %.1f |\n", rows[row].name, payload_len,
	    n / decode_ns * 1e3, (double)stream.len / decode_ns * 1e9 / (1 << 20),
	    decode_ns / n, n / encode_ns * 1e3, encode_ns / n);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	long ms = argc > 1 ? strtol(argv[1], NULL, 10) : DEFAULT_MS;

	if (argc > 2 || ms < 1 || ms > MAX_MS)
		errx(1, "usage: decoders [MILLISECONDS], from 1 to %d", MAX_MS);
	htlv_crc_init(&htlv_crc, 0xa2);
	line_init(&line, 1, false);
	length_field_init(
	    &as_tlv, &(struct length_field_rules){
			 .length = { 4, 4, false }, .id = { 0, 4, false }, .strip = 8 });
	length_field_init(&short_field,
	    &(struct length_field_rules){ .length = { 0, 2, false }, .strip = 2 });
	puts("| framing | payload, bytes | decoded, million frames/s | MiB/s | ns/frame | "
	     "encoded, "
	     "million frames/s | ns/frame |");
	puts("| --- | ---: | ---: | ---: | ---: | ---: | ---: |");
	for (size_t row = 0; row < sizeof(rows) / sizeof(rows[0]); row++) {
		for (size_t i = 0; i < N_PAYLOADS; i++)
			report(row, payloads[i], (uint64_t)ms * 1000000 / N_ROUNDS);
	}
	return 0;
}
