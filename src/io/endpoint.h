/*
 * The far end of a connection: an IPv4 or IPv6 address and a port, in the space
 * they need. A socket forgets its peer when the peer resets it; this does not.
 */
#ifndef RUNNEL_IO_ENDPOINT_H
#define RUNNEL_IO_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "settings/address.h"

struct endpoint {
	uint8_t address[16]; /* network order; IPv4: the first four bytes */
	uint16_t port;       /* host order */
	bool is_ipv6;
};

#define ENDPOINT_TEXT_SIZE ADDRESS_TEXT_SIZE

/* addr is of family AF_INET or AF_INET6. */
void endpoint_set(struct endpoint *endpoint, const struct sockaddr_storage *addr);

/* "192.0.2.1:40000" or "[2001:db8::1]:40000". Returns text. */
const char *endpoint_format(const struct endpoint *endpoint, char text[ENDPOINT_TEXT_SIZE]);

#endif
