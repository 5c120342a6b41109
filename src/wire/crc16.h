/*
 * The checksum of Modbus (Modbus over serial line, 6.2.2): CRC-16 by x^16 + x^15 +
 * x^2 + 1, reflected, that begins at 0xffff. Its low byte is sent first.
 */
#ifndef RUNNEL_WIRE_CRC16_H
#define RUNNEL_WIRE_CRC16_H

#include <stddef.h>
#include <stdint.h>

uint16_t crc16(const uint8_t *bytes, size_t len);

#endif
