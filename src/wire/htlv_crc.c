#include "config.h"

#include <stdio.h>

#include "wire/crc16.h"
#include "wire/htlv_crc.h"

#define HEADER_SIZE 3
#define CRC_SIZE 2

static uint16_t load_le16(const uint8_t *in)
{
	return (uint16_t)(in[0] | in[1] << 8);
}

static enum decode decode(const struct framing *framing, const uint8_t *in, size_t in_len,
    size_t max_payload, struct frame *frame)
{
	(void)framing;
	if (in_len < HEADER_SIZE)
		return DECODE_MORE;
	frame->id = in[1];
	frame->len = in[2];
	if (frame->len > max_payload)
		return DECODE_TOO_LONG;
	frame->size = HEADER_SIZE + frame->len + CRC_SIZE;
	if (frame->size > in_len)
		return DECODE_MORE;
	frame->payload = in + HEADER_SIZE;
	if (crc16(in, HEADER_SIZE + frame->len) != load_le16(frame->payload + frame->len))
		return DECODE_CORRUPT;
	return DECODE_FRAME;
}

static size_t seal(const struct framing *framing, uint8_t *frame, uint32_t id, size_t len)
{
	const struct htlv_crc *htlv_crc = (const struct htlv_crc *)framing;
	uint16_t crc;

	if (id > UINT8_MAX)
		return 0;
	frame[0] = htlv_crc->head;
	frame[1] = (uint8_t)id;
	frame[2] = (uint8_t)len;
	crc = crc16(frame, HEADER_SIZE + len);
	frame[HEADER_SIZE + len] = (uint8_t)crc;
	frame[HEADER_SIZE + len + 1] = (uint8_t)(crc >> 8);
	return HEADER_SIZE + len + CRC_SIZE;
}

void htlv_crc_init(struct htlv_crc *htlv_crc, uint8_t head)
{
	*htlv_crc = (struct htlv_crc){
		.framing = {
			.name = "htlv-crc",
			.decode = decode,
			.seal = seal,
			.head = HEADER_SIZE,
			.tail = CRC_SIZE,
			.max_payload = UINT8_MAX,
			.last_id = UINT8_MAX,
		},
		.head = head,
	};
	snprintf(htlv_crc->framing.terms, FRAMING_TERMS_SIZE, "head %u", head);
}
