/*
 * An end of a connection: an IPv4 or IPv6 address and a port, in the space they
 * need; of a Unix socket only that it is one. The far one is kept: a socket forgets its peer when the peer resets it.
 */
#ifndef RUNNEL_IO_ENDPOINT_H
#define RUNNEL_IO_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "settings/address.h"

struct endpoint {
	uint8_t address[16]; /* network order; IPv4: the first four bytes */
	uint16_t port;       /* host order */
	bool is_ipv6;
	bool is_unix;
};

#define ENDPOINT_TEXT_SIZE ADDRESS_TEXT_SIZE

/* addr is of family AF_INET, AF_INET6 or AF_UNIX. */
void endpoint_set(struct endpoint *endpoint, const struct sockaddr_storage *addr);

/* The near end of a connected socket. STATUS_ERRNO. */
enum status endpoint_local(int fd, struct endpoint *endpoint) MUST_CHECK;

/* "192.0.2.1:40000", "[2001:db8::1]:40000" or "unix". Returns text. */
const char *endpoint_format(const struct endpoint *endpoint, char text[ENDPOINT_TEXT_SIZE]);

#endif
