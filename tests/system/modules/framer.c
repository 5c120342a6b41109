/*
 * A module with framings of its own: "stx", which uses all that a framing may do, and
 * "liar", which breaks the contract as its input says. Its handler echoes, or does what the
 * payload begins with.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <runnel/module.h>

/*
 * stx: STX, id, length in groups of seven bits (the least first, the high bit says that more
 * follow), payload XOR MASK, the XOR of the masked payload, ETX.
 */
#define STX 0x02
#define ETX 0x03
#define MASK 0x5a
#define MAX_GROUPS 3
#define HEAD (2 + MAX_GROUPS)
#define TAIL 2

/* The length that begins at bytes: how many bytes it has; 0: more than are there. */
static size_t get_length(const uint8_t *bytes, size_t n_bytes, size_t *length)
{
	*length = 0;
	for (size_t i = 0; i < n_bytes && i < MAX_GROUPS; i++) {
		*length |= (size_t)(bytes[i] & 0x7f) << 7 * i;
		if ((bytes[i] & 0x80) == 0)
			return i + 1;
	}
	return 0;
}

static uint8_t sum_of(const uint8_t *bytes, size_t len)
{
	uint8_t sum = 0;

	for (size_t i = 0; i < len; i++)
		sum ^= bytes[i];
	return sum;
}

static void mask(uint8_t *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		bytes[i] ^= MASK;
}

static enum rnl_decode decode_stx(
    void *in, size_t len, size_t max_payload, struct rnl_frame *frame, void *arg)
{
	uint8_t *bytes = in, *payload;
	size_t n_groups;

	(void)arg;
	if (bytes[0] != STX) {
		frame->why = "no STX";
		return RNL_BAD;
	}
	if (len < 3)
		return RNL_MORE;
	frame->id = bytes[1];
	n_groups = get_length(bytes + 2, len - 2, &frame->len);
	if (n_groups == 0 && len >= HEAD) {
		frame->why = "the length has too many bytes";
		return RNL_BAD;
	}
	if (n_groups == 0)
		return RNL_MORE;
	if (frame->len > max_payload)
		return RNL_TOO_LONG;
	frame->used = 2 + n_groups + frame->len + TAIL;
	if (frame->used > len)
		return RNL_MORE;
	payload = bytes + 2 + n_groups;
	frame->payload = payload;
	if (payload[frame->len + 1] != ETX) {
		frame->why = "no ETX";
		return RNL_BAD;
	}
	if (payload[frame->len] != sum_of(payload, frame->len))
		return RNL_CORRUPT;
	mask(payload, frame->len);
	return RNL_FRAME;
}

static size_t encode_stx(void *frame, uint32_t id, size_t len, void *arg)
{
	uint8_t *bytes = frame, *at = bytes;
	size_t left = len;

	(void)arg;
	if (id > UINT8_MAX)
		return 0;
	mask(bytes + HEAD, len);
	*at++ = STX;
	*at++ = (uint8_t)id;
	do {
		*at++ = (uint8_t)((left & 0x7f) | (left > 0x7f ? 0x80 : 0));
		left >>= 7;
	} while (left > 0);
	memmove(at, bytes + HEAD, len);
	at += len;
	*at = sum_of(at - len, len);
	at[1] = ETX;
	return (size_t)(at + TAIL - bytes);
}

/* A letter says what is wrong with the answer; another byte is a frame of itself. */
static enum rnl_decode decode_liar(
    void *in, size_t len, size_t max_payload, struct rnl_frame *frame, void *arg)
{
	const uint8_t *bytes = in;

	(void)max_payload;
	(void)arg;
	*frame = (struct rnl_frame){
		.size = frame->size, .used = 1, .payload = bytes, .len = 1, .id = bytes[0]
	};
	switch (bytes[0]) {
	case 'a': /* it takes nothing */
		frame->used = 0;
		break;
	case 'b': /* it takes more than there is */
		frame->used = len + 1;
		break;
	case 'c': /* the payload is before the frame */
		frame->payload = bytes - 1;
		break;
	case 'd': /* behind it */
		frame->payload = bytes + 1;
		break;
	case 'e': /* and nowhere */
		frame->payload = NULL;
		break;
	case 'f': /* it goes on behind the frame */
		frame->len = 2;
		break;
	case 'g': /* as far as there is */
		frame->len = SIZE_MAX;
		break;
	case 'h':
		return (enum rnl_decode)77;
	case 'i': /* and never is there enough */
		return RNL_MORE;
	case 'j':
		return RNL_BAD;
	case 'k':
		frame->used = 0;
		return RNL_CORRUPT;
	case 'l':
		frame->used = SIZE_MAX;
		return RNL_CORRUPT;
	}
	return RNL_FRAME;
}

/* 0 to 9 is a frame of that many bytes more than there is room for. */
static size_t encode_liar(void *frame, uint32_t id, size_t len, void *arg)
{
	(void)frame;
	(void)arg;
	return id >= '0' && id <= '9' ? len + 1 + (id - '0') : len;
}

static void pass_on(struct rnl_conn *conn, void *shared)
{
	rnl_send_shared(conn, shared);
}

static void tell_all(uint32_t id, const void *text, size_t len)
{
	struct rnl_shared *shared = rnl_shared_new(id, text, len);

	if (shared == NULL)
		return;
	rnl_each(pass_on, shared);
	rnl_shared_free(shared);
}

/* What three ways to send this say. */
static void try(struct rnl_conn *conn, uint32_t id, const void *bytes, size_t len)
{
	enum rnl_status sent = rnl_send(conn, id, bytes, len), committed, shared = RNL_ENOMEM;
	struct rnl_shared *message = rnl_shared_new(id, bytes, len);
	char text[64];
	void *room;

	committed = rnl_reserve(conn, len, &room);
	if (committed == RNL_OK) {
		memcpy(room, bytes, len);
		committed = rnl_commit(conn, id, len);
	}
	if (message != NULL) {
		shared = rnl_send_shared(conn, message);
		rnl_shared_free(message);
	}
	snprintf(text, sizeof(text), "%d %d %d", (int)sent, (int)committed, (int)shared);
	rnl_send(conn, 1, text, strlen(text));
}

static enum rnl_verdict serve(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const char *text = msg->payload;

	(void)arg;
	if (msg->len > 0 && text[0] == '!')
		tell_all(msg->id, text + 1, msg->len - 1);
	else if (msg->len > 0 && text[0] == '\\')
		try(conn, msg->id, "one\ntwo", 7);
	else if (msg->len > 0 && text[0] == '^')
		try(conn, 1000000, "one", 3);
	else
		rnl_send(conn, msg->id, msg->payload, msg->len);
	return RNL_DONE;
}

/* Each of these is refused, and none of them stays. */
static int try_bad_framings(struct rnl_setup *setup)
{
	static const struct rnl_framing good = {
		.size = sizeof(good), .name = "good", .decode = decode_stx, .encode = encode_stx
	};
	struct rnl_framing bad[8];

	for (size_t i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].size = 8;
	bad[1].name = NULL;
	bad[2].name = "two words";
	bad[3].name = "length-field";
	bad[4].name = "stx";
	bad[5].decode = NULL;
	bad[6].encode = NULL;
	bad[7].head = 65537;
	for (size_t i = 0; i < 8; i++) {
		enum rnl_status status = rnl_add_framing(setup, &bad[i]);

		if (status != RNL_EINVAL)
			return rnl_refuse(setup, "bad framing %zu: %d", i, (int)status);
	}
	return 0;
}

static int configure(struct rnl_setup *setup)
{
	const struct rnl_framing stx = { .size = sizeof(stx),
		.name = "stx",
		.decode = decode_stx,
		.encode = encode_stx,
		.head = HEAD,
		.tail = TAIL,
		.max_payload = 1 << 7 * MAX_GROUPS,
		.max_id = UINT8_MAX };
	const struct rnl_route all = RNL_ON_RANGE(0, UINT32_MAX, serve);
	char name[] = "liar";
	const struct rnl_framing liar = {
		.size = sizeof(liar), .name = name, .decode = decode_liar, .encode = encode_liar
	};

	if (rnl_add_framing(setup, &stx) != RNL_OK || rnl_add_framing(setup, &liar) != RNL_OK)
		return rnl_refuse(setup, "the framings are refused");
	/* The host has a name of its own. */
	name[0] = 'L';
	if (rnl_option_number(setup, "serve") && rnl_add_route(setup, &all) != RNL_OK)
		return -1;
	return rnl_option_number(setup, "try-bad") ? try_bad_framings(setup) : 0;
}

static const struct rnl_option options[] = {
	{ "serve", RNL_BOOL, "true", 0, 0, "handle messages" },
	{ "try-bad", RNL_BOOL, "false", 0, 0, "add framings that are refused" },
};

RNL_MODULE(.options = options, .n_options = 2, .configure = configure);
