/*
 * A module's framing that answers whatever the input says: what the host makes of the
 * answer is within the bytes that there are, and within the limits.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/panic.h"
#include "module/framings.h"
#include "module/modules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MAX_PAYLOAD 16
#define HEAD 3
#define TAIL 2

/* An answer: the verdict, and used, payload and len, each by its distance from a landmark. */
#define N_ANSWER_BYTES 8

/* The answer that is given next. */
static const uint8_t *answer;

/* 0, the end of the input, or the greatest number, and up to 127 from there. */
static size_t distance(const uint8_t *bytes, size_t len)
{
	static const size_t far = SIZE_MAX;
	const size_t marks[] = { 0, len, far, far / 2 };

	return marks[bytes[0] % 4] + (size_t)(int8_t)bytes[1];
}

static enum rnl_decode decode(
    void *in, size_t len, size_t max_payload, struct rnl_frame *frame, void *arg)
{
	CHECK(frame->size == sizeof(*frame) && max_payload == MAX_PAYLOAD && arg == &answer);
	frame->used = distance(answer + 1, len);
	frame->payload = (const void *)((uintptr_t)in + distance(answer + 3, len));
	frame->len = distance(answer + 5, len);
	frame->id = answer[7];
	frame->why = answer[7] % 2 == 0 ? "the input says so" : NULL;
	return (enum rnl_decode)(answer[0] % 8);
}

static size_t encode(void *frame, uint32_t id, size_t len, void *arg)
{
	(void)arg;
	/* All the room that there is may be used. */
	memset(frame, (int)id, HEAD + len + TAIL);
	return distance(answer + 1, HEAD + len + TAIL);
}

static const struct framing *make(struct module *module)
{
	const struct rnl_framing api = { .size = sizeof(api),
		.name = "fuzzed",
		.decode = decode,
		.encode = encode,
		.head = HEAD,
		.tail = TAIL,
		.arg = &answer };
	static char name[] = "fuzz", framing_name[] = "fuzzed", place[] = "conf:1";
	char *names[] = { name };
	const struct listen_settings settings = { .name = name,
		.modules = names,
		.n_modules = 1,
		.framing = framing_name,
		.framing_place = place };
	struct modules modules = { .list = &module, .n = 1 };
	const struct framing *framing;
	union framing_room room;
	struct reason why;

	module->name = name;
	CHECK(module_framing_add(module, &api) == RNL_OK);
	CHECK(framing_find("listen", &settings, &modules, &room, &framing, &why) == STATUS_OK);
	return framing;
}

static void check_answer(const struct framing *framing, const uint8_t *in, size_t len)
{
	struct frame frame = { 0 };
	enum decode said = framing->decode(framing, in, len, MAX_PAYLOAD, &frame);

	switch (said) {
	case DECODE_FRAME:
		CHECK(frame.size > 0 && frame.size <= len && frame.len <= MAX_PAYLOAD);
		CHECK(frame.payload >= in && frame.payload <= in + frame.size);
		CHECK(frame.len <= (size_t)(in + frame.size - frame.payload));
		break;
	case DECODE_CORRUPT:
		CHECK(frame.size > 0 && frame.size <= len);
		break;
	case DECODE_MORE:
		CHECK(len <= MAX_PAYLOAD + HEAD + TAIL);
		break;
	case DECODE_TOO_LONG:
		break;
	case DECODE_BAD:
		CHECK(frame.why != NULL && strlen(frame.why) > 0);
		break;
	}
}

static void check_encoding(const struct framing *framing, const uint8_t *payload, size_t len)
{
	uint8_t *out = malloc(len + framing_overhead(framing));
	size_t size;

	if (out == NULL)
		abort();
	size = framing_encode(framing, out, answer[7], payload, len);
	CHECK(size <= len + framing_overhead(framing));
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct module module;
	static const struct framing *framing;
	const uint8_t *in = data + N_ANSWER_BYTES;

	if (size <= N_ANSWER_BYTES)
		return 0;
	if (framing == NULL)
		framing = make(&module);
	answer = data;
	check_answer(framing, in, size - N_ANSWER_BYTES);
	check_encoding(framing, in, size - N_ANSWER_BYTES);
	return 0;
}
