/*
 * What is asked and what must come back. Requests and replies are functions of
 * the client's number and the request's serial number on that client, so nothing
 * need be kept per request: bytes not yet sent or not yet seen are made again.
 * A reply that is another's, comes out of order, or differs in one byte is seen,
 * since serial and client stand in the payload (where it is long enough).
 */
#ifndef RUNNEL_BENCH_PROTOCOL_H
#define RUNNEL_BENCH_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct framing;
struct options;

#define PROTOCOL_MESSAGES 4

/* One kind of message. Reply and request have the same size. */
struct message {
	uint8_t *frame;           /* owned: header and payload, its fields set at each use */
	size_t size;              /* of the frame */
	uint8_t *serial_field;    /* within frame; NULL: the payload is too short */
	uint8_t *client_field;    /* the same */
	uint8_t *sum_field;       /* NULL: the reply has the serial field plus one */
	uint32_t reply_increment; /* what the reply adds to the serial field */
	uint32_t id;
};

struct protocol {
	struct message messages[PROTOCOL_MESSAGES];
	unsigned int n_messages;
	uint64_t seed;
	uint64_t reconnect_threshold; /* of 2^32 */
};

/* At start; exits when there is no memory. */
void protocol_init(struct protocol *protocol, const struct options *options);

/*
 * The frames of a request and of its reply, *size bytes, at least 1. Borrowed until the next
 * call for this protocol.
 */
const uint8_t *protocol_request(
    struct protocol *protocol, uint32_t client, uint64_t serial, size_t *size);
const uint8_t *protocol_reply(
    struct protocol *protocol, uint32_t client, uint64_t serial, size_t *size);

/* The size of both. */
size_t protocol_size(const struct protocol *protocol, uint32_t client, uint64_t serial);

/* Is this request's reply followed by a new connection? */
bool protocol_reconnects_after(
    const struct protocol *protocol, uint32_t client, uint64_t serial);

void protocol_deinit(struct protocol *protocol);

#endif
