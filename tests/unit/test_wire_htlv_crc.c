/*
 * HTLV-CRC and its checksum.
 */
#include "config.h"

#include <string.h>

#include "wire/crc16.h"
#include "wire/htlv_crc.h"

#include "test_wire.h"

/* Frames that zinx's example client sends (examples/zinx_decoder/client). */
static const uint8_t zinx_0x10[] = { 0xa2, 0x10, 0x18, 0x68, 0x65, 0x74, 0, 0, 0x04, 0xd3, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xe7, 0xa2 };
static const uint8_t zinx_0x13[] = { 0xa2, 0x13, 0x0e, 0x68, 0x65, 0x74, 0, 0, 0x04, 0xd3, 0, 0,
	0, 1, 0, 0, 0, 0x40, 0xc3 };

static struct htlv_crc htlv_crc;

static void set_up(void)
{
	htlv_crc_init(&htlv_crc, 0xa2);
}

static enum decode decode(
    const uint8_t *in, size_t in_len, size_t max_payload, struct frame *frame)
{
	return htlv_crc.framing.decode(&htlv_crc.framing, in, in_len, max_payload, frame);
}

/* The check value of the catalogue of parametrised CRC algorithms, "CRC-16/MODBUS". */
START_TEST(checksum_is_that_of_modbus)
{
	ck_assert_uint_eq(crc16((const uint8_t *)"123456789", 9), 0x4b37);
	ck_assert_uint_eq(crc16(NULL, 0), 0xffff);
}
END_TEST

/* Bit by bit, as the standard describes it. */
static uint16_t slow_crc16(const uint8_t *bytes, size_t len)
{
	uint16_t crc = 0xffff;

	for (size_t i = 0; i < len; i++) {
		crc ^= bytes[i];
		for (int bit = 0; bit < 8; bit++)
			crc = (uint16_t)(crc & 1 ? crc >> 1 ^ 0xa001 : crc >> 1);
	}
	return crc;
}

START_TEST(every_byte_is_summed)
{
	for (unsigned value = 0; value < 256; value++) {
		const uint8_t bytes[3] = { 0x5a, (uint8_t)value, (uint8_t)~value };

		ck_assert_uint_eq(crc16(bytes, 3), slow_crc16(bytes, 3));
	}
}
END_TEST

static void expect_zinx(const uint8_t *in, size_t size, uint32_t id)
{
	uint8_t out[64];
	struct frame frame = { 0 };

	ck_assert_int_eq(decode(in, size, 4096, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.id, id);
	ck_assert_uint_eq(frame.len, size - 5);
	ck_assert_uint_eq(frame.size, size);
	ck_assert_ptr_eq(frame.payload, in + 3);
	ck_assert_uint_eq(
	    framing_encode(&htlv_crc.framing, out, id, frame.payload, frame.len), size);
	ck_assert_mem_eq(out, in, size);
}

START_TEST(bytes_are_those_of_zinx)
{
	expect_zinx(zinx_0x10, sizeof(zinx_0x10), 0x10);
	expect_zinx(zinx_0x13, sizeof(zinx_0x13), 0x13);
}
END_TEST

START_TEST(head_is_sent_as_set_and_received_as_any)
{
	uint8_t out[8];
	struct frame frame = { 0 };

	htlv_crc_init(&htlv_crc, 0x55);
	ck_assert_uint_eq(framing_encode(&htlv_crc.framing, out, 7, "abc", 3), 8);
	ck_assert_uint_eq(out[0], 0x55);
	htlv_crc_init(&htlv_crc, 0xa2);
	ck_assert_int_eq(decode(out, sizeof(out), 3, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.id, 7);
}
END_TEST

START_TEST(one_bit_is_noticed_wherever_it_is)
{
	for (size_t bit = 0; bit < 8 * sizeof(zinx_0x13); bit++) {
		uint8_t in[sizeof(zinx_0x13)];
		struct frame frame = { 0 };

		if (bit / 8 == 2) /* of the length */
			continue;
		memcpy(in, zinx_0x13, sizeof(in));
		in[bit / 8] ^= (uint8_t)(1u << bit % 8);
		ck_assert_int_eq(decode(in, sizeof(in), 4096, &frame), DECODE_CORRUPT);
		ck_assert_uint_eq(frame.size, sizeof(in));
		ck_assert_uint_eq(frame.len, 14);
		ck_assert_uint_eq(frame.id, in[1]);
	}
}
END_TEST

START_TEST(longest_payload_is_255_bytes)
{
	uint8_t payload[255], out[260];
	struct frame frame = { 0 };

	memset(payload, 0x77, sizeof(payload));
	ck_assert_uint_eq(htlv_crc.framing.max_payload, 255);
	ck_assert_uint_eq(htlv_crc.framing.last_id, 255);
	ck_assert_uint_eq(
	    framing_encode(&htlv_crc.framing, out, 255, payload, 255), sizeof(out));
	ck_assert_int_eq(decode(out, sizeof(out), 255, &frame), DECODE_FRAME);
	ck_assert_uint_eq(frame.len, 255);
	ck_assert_mem_eq(frame.payload, payload, 255);
	/* Three bytes say that it is refused. */
	ck_assert_int_eq(decode(out, 3, 254, &frame), DECODE_TOO_LONG);
	ck_assert_uint_eq(frame.len, 255);
	ck_assert_uint_eq(frame.id, 255);
}
END_TEST

START_TEST(id_beyond_a_byte_is_not_cut)
{
	uint8_t out[8];

	ck_assert_uint_eq(framing_encode(&htlv_crc.framing, out, 256, "abc", 3), 0);
	ck_assert_uint_eq(framing_encode(&htlv_crc.framing, out, UINT32_MAX, NULL, 0), 0);
}
END_TEST

TCase *htlv_crc_tests(void)
{
	TCase *test = tcase_create("htlv_crc");

	tcase_add_checked_fixture(test, set_up, NULL);
	tcase_add_test(test, checksum_is_that_of_modbus);
	tcase_add_test(test, every_byte_is_summed);
	tcase_add_test(test, bytes_are_those_of_zinx);
	tcase_add_test(test, head_is_sent_as_set_and_received_as_any);
	tcase_add_test(test, one_bit_is_noticed_wherever_it_is);
	tcase_add_test(test, longest_payload_is_255_bytes);
	tcase_add_test(test, id_beyond_a_byte_is_not_cut);
	return test;
}
