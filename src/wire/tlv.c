/*
 * TLV, zinx's default pack (zpack/datapack_tlv_bigendian.go):
 *
 *     0        4        8
 *     | id BE  | len BE | payload ...
 */
#include "config.h"

#include <endian.h>
#include <string.h>

#include "wire/framing.h"

#define HEADER_SIZE 8

static uint32_t load_be32(const uint8_t *in)
{
	uint32_t raw;

	memcpy(&raw, in, sizeof(raw));
	return be32toh(raw);
}

static void store_be32(uint8_t *out, uint32_t value)
{
	uint32_t raw = htobe32(value);

	memcpy(out, &raw, sizeof(raw));
}

static enum decode tlv_decode(const struct framing *framing, const uint8_t *in, size_t in_len,
    size_t max_payload, struct frame *frame)
{
	(void)framing;
	if (in_len < HEADER_SIZE)
		return DECODE_MORE;
	frame->id = load_be32(in);
	frame->len = load_be32(in + 4);
	if (frame->len > max_payload)
		return DECODE_TOO_LONG;
	if (frame->len > in_len - HEADER_SIZE)
		return DECODE_MORE;
	frame->payload = in + HEADER_SIZE;
	frame->size = HEADER_SIZE + frame->len;
	return DECODE_FRAME;
}

static size_t tlv_seal(const struct framing *framing, uint8_t *frame, uint32_t id, size_t len)
{
	(void)framing;
	store_be32(frame, id);
	store_be32(frame + 4, (uint32_t)len);
	return HEADER_SIZE + len;
}

const struct framing framing_tlv = {
	.name = "tlv",
	.decode = tlv_decode,
	.seal = tlv_seal,
	.head = HEADER_SIZE,
	.max_payload = UINT32_MAX,
	.last_id = UINT32_MAX,
};
