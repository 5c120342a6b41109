#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "wire/line.h"

/* LF, or CR LF. */
#define MAX_END 2

/*
 * No LF is within reach. A line of max_payload bytes may end with CR LF, so one more byte
 * is too many unless it is a CR, and a second one always.
 */
static enum decode judge_part(
    const uint8_t *in, size_t in_len, size_t max_payload, struct frame *frame)
{
	if (in_len <= max_payload)
		return DECODE_MORE;
	if (in_len - max_payload < MAX_END && in[max_payload] == '\r')
		return DECODE_MORE;
	frame->len = max_payload + 1;
	return DECODE_TOO_LONG;
}

static enum decode decode(const struct framing *framing, const uint8_t *in, size_t in_len,
    size_t max_payload, struct frame *frame)
{
	const struct line *line = (const struct line *)framing;
	size_t reach = in_len;
	const uint8_t *end;

	/* What stands behind the longest line decides nothing. */
	if (in_len > max_payload && in_len - max_payload > MAX_END)
		reach = max_payload + MAX_END;
	frame->id = line->id;
	end = reach > 0 ? memchr(in, '\n', reach) : NULL;
	if (end == NULL)
		return judge_part(in, reach, max_payload, frame);
	frame->payload = in;
	frame->size = (size_t)(end - in) + 1;
	frame->len = frame->size - 1;
	if (frame->len > 0 && in[frame->len - 1] == '\r')
		frame->len--;
	return frame->len > max_payload ? DECODE_TOO_LONG : DECODE_FRAME;
}

/* A payload that the peer would not read as it is here cannot be sent. */
static bool is_line(const struct line *line, const uint8_t *payload, size_t len)
{
	if (len == 0)
		return true;
	if (memchr(payload, '\n', len) != NULL)
		return false;
	return line->is_crlf || payload[len - 1] != '\r';
}

static size_t seal(const struct framing *framing, uint8_t *frame, uint32_t id, size_t len)
{
	const struct line *line = (const struct line *)framing;
	size_t size = len;

	(void)id;
	if (!is_line(line, frame, len))
		return 0;
	if (line->is_crlf)
		frame[size++] = '\r';
	frame[size++] = '\n';
	return size;
}

void line_init(struct line *line, uint32_t id, bool is_crlf)
{
	*line = (struct line){
		.framing = {
			.name = "line",
			.decode = decode,
			.seal = seal,
			.tail = is_crlf ? 2 : 1,
			.max_payload = UINT32_MAX,
			.first_id = id,
			.last_id = id,
		},
		.id = id,
		.is_crlf = is_crlf,
	};
	snprintf(line->framing.terms, FRAMING_TERMS_SIZE, "id %" PRIu32 ", %s", id,
	    is_crlf ? "crlf" : "lf");
}
