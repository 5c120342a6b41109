/*
 * Lines: any bytes, with either terminator for what is sent.
 */
#include "config.h"

#include <string.h>

#include "base/panic.h"
#include "wire/line.h"

#include "framing.h"

static void check(const struct framing *framing, const uint8_t *in, const struct frame *frame)
{
	const struct line *line = (const struct line *)framing;
	size_t end = frame->size - frame->len;

	CHECK(in[frame->size - 1] == '\n');
	CHECK(memchr(in, '\n', frame->size - 1) == NULL);
	if (end == (line->is_crlf ? 2 : 1) && (frame->len == 0 || in[frame->len - 1] != '\r'))
		fuzz_encodes_to_itself(framing, in, frame);
	else
		fuzz_encodes_to_its_like(framing, in, frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct line line;

	line_init(&line, 1, false);
	fuzz_framing(&line.framing, data, size, check);
	line_init(&line, 2, true);
	fuzz_framing(&line.framing, data, size, check);
	return 0;
}
