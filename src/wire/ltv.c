/*
 * LTV, zinx's other pack (zpack/datapack_ltv_littleendian.go):
 *
 *     0        4        8
 *     | len LE | id LE  | payload ...
 *
 * A length that is too long is seen only when the header is whole, so that the id
 * is known by then.
 */
#include "config.h"

#include <endian.h>
#include <string.h>

#include "wire/framing.h"

#define HEADER_SIZE 8

static uint32_t load_le32(const uint8_t *in)
{
	uint32_t raw;

	memcpy(&raw, in, sizeof(raw));
	return le32toh(raw);
}

static void store_le32(uint8_t *out, uint32_t value)
{
	uint32_t raw = htole32(value);

	memcpy(out, &raw, sizeof(raw));
}

static enum decode ltv_decode(const struct framing *framing, const uint8_t *in, size_t in_len,
    size_t max_payload, struct frame *frame)
{
	(void)framing;
	if (in_len < HEADER_SIZE)
		return DECODE_MORE;
	frame->len = load_le32(in);
	frame->id = load_le32(in + 4);
	if (frame->len > max_payload)
		return DECODE_TOO_LONG;
	if (frame->len > in_len - HEADER_SIZE)
		return DECODE_MORE;
	frame->payload = in + HEADER_SIZE;
	frame->size = HEADER_SIZE + frame->len;
	return DECODE_FRAME;
}

static size_t ltv_seal(const struct framing *framing, uint8_t *frame, uint32_t id, size_t len)
{
	(void)framing;
	store_le32(frame, (uint32_t)len);
	store_le32(frame + 4, id);
	return HEADER_SIZE + len;
}

const struct framing framing_ltv = {
	.name = "ltv",
	.decode = ltv_decode,
	.seal = ltv_seal,
	.head = HEADER_SIZE,
	.max_payload = UINT32_MAX,
	.last_id = UINT32_MAX,
};
