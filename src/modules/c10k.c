/*
 * c10k: what the benchmark server of zinx's SendBuffMsg change does; see
 * runnel-protocol(7). Fields are big-endian int32. The reply has the same id and
 * the same bytes, one field of which is computed. Bytes beyond a message's own
 * length are not part of it.
 */
#include <arpa/inet.h>
#include <string.h>

#include <runnel/module.h>

#define MAX_LEN 256

/* A message of this length, in whose field at this offset the reply differs. */
struct shape {
	size_t len, at;
};

static struct shape sum = { 12, 8 }, id = { 16, 0 }, seq = { 64, 4 }, counter = { 256, 8 };

static uint32_t load(const unsigned char *at)
{
	uint32_t raw;

	memcpy(&raw, at, sizeof(raw));
	return ntohl(raw);
}

static void store(unsigned char *at, uint32_t value)
{
	uint32_t raw = htonl(value);

	memcpy(at, &raw, sizeof(raw));
}

static enum rnl_verdict reply(
    struct rnl_conn *conn, const struct rnl_msg *msg, const struct shape *shape, uint32_t value)
{
	unsigned char bytes[MAX_LEN];

	memcpy(bytes, msg->payload, shape->len);
	store(bytes + shape->at, value);
	/* The peer counts on a reply to each request: it must not miss one and go on. */
	if (rnl_send(conn, msg->id, bytes, shape->len) == RNL_ENOMEM)
		return RNL_ABORT;
	return RNL_DONE;
}

/* Fields a, b, c: c becomes a + b, and wraps. */
static enum rnl_verdict add(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const struct shape *shape = arg;
	const unsigned char *payload = msg->payload;

	if (msg->len < shape->len)
		return rnl_malformed(conn, msg, "the payload is too short");
	return reply(conn, msg, shape, load(payload) + load(payload + 4));
}

static enum rnl_verdict increment(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const struct shape *shape = arg;
	const unsigned char *payload = msg->payload;

	if (msg->len < shape->len)
		return rnl_malformed(conn, msg, "the payload is too short");
	return reply(conn, msg, shape, load(payload + shape->at) + 1);
}

static const struct rnl_route routes[] = {
	{ 1001, 1001, add, &sum, RNL_HANDLE },
	{ 2001, 2001, increment, &id, RNL_HANDLE },
	{ 3001, 3001, increment, &seq, RNL_HANDLE },
	{ 4001, 4001, increment, &counter, RNL_HANDLE },
};

/* Nothing is kept from one message to the next. */
RNL_MODULE(.version = "1.0", .routes = routes, .n_routes = 4, .save = rnl_save_nothing,
    .restore = rnl_restore_nothing);
