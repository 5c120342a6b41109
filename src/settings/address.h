/*
 * A TCP address as an operator writes it: "127.0.0.1:8888", "[::1]:8888".
 * Numeric only: a name server has no say in where the daemon listens.
 */
#ifndef RUNNEL_SETTINGS_ADDRESS_H
#define RUNNEL_SETTINGS_ADDRESS_H

#include <sys/socket.h>

#include "base/status.h"

/* "[" 45 characters "]:65535" and the end. */
#define ADDRESS_TEXT_SIZE 56

/*
 * The port is 0 to 65535, in decimal; 0 lets the kernel choose. STATUS_INVALID: not an address.
 * The bytes of *address beyond *len, and its padding, are 0, so that equal addresses are equal
 * memory.
 */
enum status address_parse(
    const char *text, struct sockaddr_storage *address, socklen_t *len) MUST_CHECK;

/* The text that parses to the address; "unknown" of other families than IPv4 and IPv6. Returns
 * buf.
 */
const char *address_format(const struct sockaddr_storage *address, char buf[ADDRESS_TEXT_SIZE]);

#endif
