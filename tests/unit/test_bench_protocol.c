/*
 * bench/protocol: requests as the wire has them, and replies as the c10k module makes them,
 * reckoned here from the description of the protocol.
 */
#include "config.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "wire/framing.h"

#include "bench/options.h"
#include "bench/protocol.h"

#include "test_bench.h"

#define FRAME_MAX 512

struct c10k_row {
	uint32_t id;
	size_t len;
	size_t incremented_at; /* the field that the reply has one more in */
};

static const struct c10k_row c10k_rows[] = {
	{ 1001, 12, SIZE_MAX },
	{ 2001, 16, 0 },
	{ 3001, 64, 4 },
	{ 4001, 256, 8 },
};

static struct options make_options(enum load load)
{
	return (struct options){
		.framing = &framing_tlv,
		.load = load,
		.message_id = 1001,
		.seed = 1,
	};
}

static uint32_t get_u32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return ntohl(value);
}

static void put_u32(uint8_t *to, uint32_t value)
{
	value = htonl(value);
	memcpy(to, &value, sizeof(value));
}

/* Turn a request's payload into what the c10k module answers. */
static void answer(const struct c10k_row *row, uint8_t *payload)
{
	if (row->id == 1001)
		put_u32(payload + 8, get_u32(payload) + get_u32(payload + 4));
	else
		put_u32(
		    payload + row->incremented_at, get_u32(payload + row->incremented_at) + 1);
}

START_TEST(c10k_reply_is_what_the_module_makes_of_the_request)
{
	const struct c10k_row *row = &c10k_rows[_i];
	struct options options = make_options(LOAD_ID);
	struct protocol protocol;
	uint8_t request[FRAME_MAX];
	const uint8_t *reply;
	size_t size;
	uint64_t serial;

	options.message_id = row->id;
	protocol_init(&protocol, &options);
	for (serial = 0; serial < 1000; serial++) {
		memcpy(request, protocol_request(&protocol, 77, serial, &size), 8 + row->len);
		ck_assert_uint_eq(size, 8 + row->len);
		ck_assert_uint_eq(protocol_size(&protocol, 77, serial), size);
		ck_assert_uint_eq(get_u32(request), row->id);
		ck_assert_uint_eq(get_u32(request + 4), row->len);
		answer(row, request + 8);
		reply = protocol_reply(&protocol, 77, serial, &size);
		ck_assert_uint_eq(size, 8 + row->len);
		/* The request's own sum field is no part of the contract. */
		ck_assert_mem_eq(reply, request, size);
	}
	protocol_deinit(&protocol);
}
END_TEST

START_TEST(replies_of_other_requests_and_clients_differ)
{
	struct options options = make_options(LOAD_ID);
	struct protocol protocol;
	uint8_t reply[FRAME_MAX];
	uint64_t serial;
	size_t size;

	options.message_id = c10k_rows[_i].id;
	protocol_init(&protocol, &options);
	for (serial = 0; serial < 100; serial++) {
		const uint8_t *next;

		memcpy(
		    reply, protocol_reply(&protocol, 5, serial, &size), 8 + c10k_rows[_i].len);
		next = protocol_reply(&protocol, 5, serial + 1, &size);
		ck_assert_mem_ne(reply, next, size);
		next = protocol_reply(&protocol, 6, serial, &size);
		ck_assert_mem_ne(reply, next, size);
	}
	protocol_deinit(&protocol);
}
END_TEST

/* 1001 must see sums that wrap: a wrong width or sign in a server would pass else. */
START_TEST(sums_wrap_and_have_both_signs)
{
	struct options options = make_options(LOAD_ID);
	struct protocol protocol;
	bool has_negative = false, has_positive = false, has_wrapped = false;
	uint64_t serial;
	size_t size;

	protocol_init(&protocol, &options);
	for (serial = 0; serial < 1000; serial++) {
		const uint8_t *reply = protocol_reply(&protocol, 0x7fffffff, serial, &size);
		uint32_t sum = get_u32(reply + 16);

		has_negative |= sum > INT32_MAX;
		has_positive |= sum <= INT32_MAX;
		has_wrapped |= sum < get_u32(reply + 8);
	}
	ck_assert(has_negative && has_positive && has_wrapped);
	protocol_deinit(&protocol);
}
END_TEST

START_TEST(mix_has_all_messages_in_equal_parts_and_the_same_ones_again)
{
	struct options options = make_options(LOAD_MIX);
	struct protocol protocol, again;
	unsigned int counts[4] = { 0 };
	uint64_t serial;
	size_t size, i;

	protocol_init(&protocol, &options);
	protocol_init(&again, &options);
	for (serial = 0; serial < 4000; serial++) {
		uint32_t id = get_u32(protocol_request(&protocol, 3, serial, &size));

		ck_assert_uint_eq(id, get_u32(protocol_request(&again, 3, serial, &size)));
		ck_assert_uint_eq(id, get_u32(protocol_reply(&protocol, 3, serial, &size)));
		for (i = 0; i < 4; i++)
			counts[i] += id == c10k_rows[i].id;
	}
	for (i = 0; i < 4; i++) {
		ck_assert_uint_gt(counts[i], 850);
		ck_assert_uint_lt(counts[i], 1150);
	}
	protocol_deinit(&again);
	protocol_deinit(&protocol);
}
END_TEST

START_TEST(seed_changes_the_mix)
{
	struct options options = make_options(LOAD_MIX);
	struct protocol protocol, other;
	unsigned int n_same = 0;
	uint64_t serial;

	protocol_init(&protocol, &options);
	options.seed = 2;
	protocol_init(&other, &options);
	for (serial = 0; serial < 1000; serial++)
		n_same +=
		    protocol_size(&protocol, 3, serial) == protocol_size(&other, 3, serial);
	ck_assert_uint_gt(n_same, 150);
	ck_assert_uint_lt(n_same, 350);
	protocol_deinit(&other);
	protocol_deinit(&protocol);
}
END_TEST

/* Payloads too short for a serial number, and none at all. */
START_TEST(echo_has_any_size_and_is_its_own_reply)
{
	static const uint64_t sizes[] = { 0, 1, 3, 4, 7, 8, 100, 70000 };
	struct options options = make_options(LOAD_ECHO);
	struct protocol protocol;
	uint8_t *request = malloc(8 + 70000);
	size_t i, size;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		options.echo_bytes = sizes[i];
		protocol_init(&protocol, &options);
		memcpy(request, protocol_request(&protocol, 9, 4, &size), 8 + sizes[i]);
		ck_assert_uint_eq(size, 8 + sizes[i]);
		ck_assert_uint_eq(get_u32(request), 1);
		ck_assert_uint_eq(get_u32(request + 4), sizes[i]);
		ck_assert_mem_eq(protocol_reply(&protocol, 9, 4, &size), request, size);
		protocol_deinit(&protocol);
	}
	free(request);
}
END_TEST

START_TEST(ltv_has_length_and_id_the_other_way)
{
	struct options options = make_options(LOAD_ID);
	struct protocol protocol;
	const uint8_t header[] = { 12, 0, 0, 0, 0xe9, 3, 0, 0 };
	size_t size;

	options.framing = &framing_ltv;
	protocol_init(&protocol, &options);
	ck_assert_mem_eq(protocol_request(&protocol, 1, 1, &size), header, sizeof(header));
	ck_assert_uint_eq(size, 20);
	protocol_deinit(&protocol);
}
END_TEST

static unsigned int count_reconnects(double percent)
{
	struct options options = make_options(LOAD_ID);
	struct protocol protocol;
	unsigned int n = 0;
	uint64_t serial;

	options.reconnect_percent = percent;
	protocol_init(&protocol, &options);
	for (serial = 0; serial < 10000; serial++)
		n += protocol_reconnects_after(&protocol, 8, serial);
	protocol_deinit(&protocol);
	return n;
}

START_TEST(reconnects_are_as_frequent_as_asked)
{
	ck_assert_uint_eq(count_reconnects(0), 0);
	ck_assert_uint_gt(count_reconnects(5), 400);
	ck_assert_uint_lt(count_reconnects(5), 600);
	ck_assert_uint_eq(count_reconnects(100), 10000);
}
END_TEST

TCase *protocol_tests(void)
{
	TCase *tests = tcase_create("protocol");

	tcase_add_loop_test(tests, c10k_reply_is_what_the_module_makes_of_the_request, 0, 4);
	tcase_add_loop_test(tests, replies_of_other_requests_and_clients_differ, 0, 4);
	tcase_add_test(tests, sums_wrap_and_have_both_signs);
	tcase_add_test(tests, mix_has_all_messages_in_equal_parts_and_the_same_ones_again);
	tcase_add_test(tests, seed_changes_the_mix);
	tcase_add_test(tests, echo_has_any_size_and_is_its_own_reply);
	tcase_add_test(tests, ltv_has_length_and_id_the_other_way);
	tcase_add_test(tests, reconnects_are_as_frequent_as_asked);
	return tests;
}
