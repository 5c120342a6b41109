#include "client.h"
#include "conf.h"

static uintptr_t in_flight(const struct rnl_conn *client)
{
	return (uintptr_t)rnl_data(client);
}

static void set_in_flight(struct rnl_conn *client, uintptr_t n)
{
	rnl_set_data(client, (void *)n);
}

void client_hold(struct rnl_conn *client)
{
	uintptr_t n = in_flight(client) + 1;

	set_in_flight(client, n);
	rnl_hold(client);
	if (n == conf.max_per_client)
		rnl_pause(client);
}

void client_release(struct rnl_conn *client)
{
	uintptr_t n = in_flight(client);

	if (n == conf.max_per_client)
		rnl_resume(client);
	set_in_flight(client, n - 1);
	rnl_release(client);
}

static void put_be32(unsigned char *at, uint32_t value)
{
	at[0] = (unsigned char)(value >> 24);
	at[1] = (unsigned char)(value >> 16);
	at[2] = (unsigned char)(value >> 8);
	at[3] = (unsigned char)value;
}

void client_fail(struct rnl_conn *client, uint32_t id, enum cause cause)
{
	unsigned char payload[8];

	tally_failure(cause);
	put_be32(payload, id);
	put_be32(payload + 4, cause);
	if (!conf.is_telling ||
	    rnl_send(client, conf.failure_id, payload, sizeof(payload)) != RNL_OK)
		rnl_close(client);
}
