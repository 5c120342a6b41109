#include "config.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/panic.h"
#include "wire/framing.h"

#include "bench/options.h"
#include "bench/protocol.h"

#define ECHO_ID 1
#define NO_FIELD SIZE_MAX

/* The c10k protocol; where which field stands in the payload. */
struct kind {
	uint32_t id;
	size_t len;
	size_t serial_at, client_at, sum_at;
	uint32_t reply_increment;
};

static const struct kind c10k_kinds[PROTOCOL_MESSAGES] = {
	{ 1001, 12, 0, 4, 8, 0 },
	{ 2001, 16, 0, 4, NO_FIELD, 1 },
	{ 3001, 64, 4, 0, NO_FIELD, 1 },
	{ 4001, 256, 8, 0, NO_FIELD, 1 },
};

/* The finaliser of MurmurHash3: every bit of the input moves half of the output's. */
static uint64_t mix_bits(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

/* Random, but always the same for a request; two uses take different halves. */
static uint64_t chance(uint64_t seed, uint32_t client, uint64_t serial)
{
	return mix_bits(mix_bits(seed + ((uint64_t)client << 32)) ^ serial);
}

static void put_u32(uint8_t *to, uint32_t value)
{
	value = htonl(value);
	memcpy(to, &value, sizeof(value));
}

static uint8_t *field_at(uint8_t *payload, size_t len, size_t at)
{
	return at <= len && len - at >= sizeof(uint32_t) ? payload + at : NULL;
}

/* The payload's rest is a pattern, so that a byte out of place shows. */
static void message_init(
    struct message *message, const struct framing *framing, const struct kind *kind)
{
	uint8_t *payload;
	size_t i;

	message->id = kind->id;
	message->size = framing_overhead(framing) + kind->len;
	message->frame = must_alloc(message->size, 1);
	payload = message->frame + framing->head;
	for (i = 0; i < kind->len; i++)
		payload[i] = (uint8_t)(i * 7 + 3);
	CHECK(framing->seal(framing, message->frame, kind->id, kind->len) == message->size);
	message->serial_field = field_at(payload, kind->len, kind->serial_at);
	message->client_field = field_at(payload, kind->len, kind->client_at);
	message->sum_field = field_at(payload, kind->len, kind->sum_at);
	message->reply_increment = kind->reply_increment;
}

void protocol_init(struct protocol *protocol, const struct options *options)
{
	const struct kind echo = { ECHO_ID, (size_t)options->echo_bytes, 0, 4, NO_FIELD, 0 };
	const struct kind *kinds = options->load == LOAD_ECHO ? &echo : c10k_kinds;
	size_t i;

	*protocol = (struct protocol){ .seed = options->seed };
	protocol->reconnect_threshold =
	    (uint64_t)(options->reconnect_percent / 100 * 4294967296.0);
	if (options->load == LOAD_ECHO) {
		message_init(
		    &protocol->messages[protocol->n_messages++], options->framing, &echo);
		return;
	}
	for (i = 0; i < PROTOCOL_MESSAGES; i++) {
		if (options->load == LOAD_MIX || options->message_id == kinds[i].id)
			message_init(&protocol->messages[protocol->n_messages++],
			    options->framing, &kinds[i]);
	}
	CHECK(protocol->n_messages > 0);
}

static const struct message *pick(
    const struct protocol *protocol, uint32_t client, uint64_t serial)
{
	if (protocol->n_messages == 1)
		return &protocol->messages[0];
	return &protocol->messages[chance(protocol->seed, client, serial) % PROTOCOL_MESSAGES];
}

/* A serial in the upper bits as well, so that sums wrap and signs change. */
static uint32_t spread(uint64_t serial)
{
	return (uint32_t)serial * UINT32_C(2654435761);
}

const uint8_t *protocol_request(
    struct protocol *protocol, uint32_t client, uint64_t serial, size_t *size)
{
	const struct message *message = pick(protocol, client, serial);

	if (message->serial_field != NULL)
		put_u32(message->serial_field, spread(serial));
	if (message->client_field != NULL)
		put_u32(message->client_field, client);
	if (message->sum_field != NULL)
		put_u32(message->sum_field, 0);
	*size = message->size;
	return message->frame;
}

const uint8_t *protocol_reply(
    struct protocol *protocol, uint32_t client, uint64_t serial, size_t *size)
{
	const struct message *message = pick(protocol, client, serial);
	uint32_t first = spread(serial) + message->reply_increment;

	if (message->serial_field != NULL)
		put_u32(message->serial_field, first);
	if (message->client_field != NULL)
		put_u32(message->client_field, client);
	if (message->sum_field != NULL)
		put_u32(message->sum_field, first + client);
	*size = message->size;
	return message->frame;
}

size_t protocol_size(const struct protocol *protocol, uint32_t client, uint64_t serial)
{
	return pick(protocol, client, serial)->size;
}

bool protocol_reconnects_after(
    const struct protocol *protocol, uint32_t client, uint64_t serial)
{
	if (protocol->reconnect_threshold == 0)
		return false;
	return chance(protocol->seed, client, serial) >> 32 < protocol->reconnect_threshold;
}

void protocol_deinit(struct protocol *protocol)
{
	unsigned int i;

	for (i = 0; i < protocol->n_messages; i++)
		free(protocol->messages[i].frame);
	protocol->n_messages = 0;
}
