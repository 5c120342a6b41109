/*
 * HTLV-CRC: any bytes, as they are, and with the checksums put right, which no fuzzer
 * would find.
 */
#include "config.h"

#include <string.h>

#include "wire/crc16.h"
#include "wire/htlv_crc.h"

#include "framing.h"

/* Header and checksum. */
#define OVERHEAD 5

static void put_right(uint8_t *bytes, size_t size)
{
	size_t at = 0;

	while (size - at >= OVERHEAD && size - at - OVERHEAD >= bytes[at + 2]) {
		size_t summed = 3u + bytes[at + 2];
		uint16_t crc = crc16(bytes + at, summed);

		bytes[at + summed] = (uint8_t)crc;
		bytes[at + summed + 1] = (uint8_t)(crc >> 8);
		at += summed + 2;
	}
}

/* The head of frames that are sent is that of the first one here. */
static void check(const struct framing *framing, const uint8_t *in, const struct frame *frame)
{
	const struct htlv_crc *htlv_crc = (const struct htlv_crc *)framing;

	if (in[0] == htlv_crc->head)
		fuzz_encodes_to_itself(framing, in, frame);
	else
		fuzz_encodes_to_its_like(framing, in, frame);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t bytes[FUZZ_MAX_INPUT];
	struct htlv_crc htlv_crc;

	if (size == 0 || size > sizeof(bytes))
		return 0;
	htlv_crc_init(&htlv_crc, data[0]);
	fuzz_framing(&htlv_crc.framing, data, size, check);
	memcpy(bytes, data, size);
	put_right(bytes, size);
	fuzz_framing(&htlv_crc.framing, bytes, size, check);
	return 0;
}
