/*
 * HTLV-CRC, zinx's framing of small devices (zdecoder/htlvcrcdecoder.go):
 *
 *     0      1    2     3           3 + len
 *     | head | id | len | payload ... | crc LE |
 *
 * The checksum is that of all before it, see crc16.h.
 */
#ifndef RUNNEL_WIRE_HTLV_CRC_H
#define RUNNEL_WIRE_HTLV_CRC_H

#include <stdint.h>

#include "wire/framing.h"

struct htlv_crc {
	struct framing framing; /* first */
	uint8_t
	    head; /* the first byte of frames that are sent; of those received it may be any */
};

void htlv_crc_init(struct htlv_crc *htlv_crc, uint8_t head);

#endif
