/*
 * An address as an operator writes it: "127.0.0.1:8888" and "[::1]:8888" for TCP,
 * "unix:/run/game.sock" for a Unix socket. Numeric only: a name server has no say in
 * where the daemon listens.
 */
#ifndef RUNNEL_SETTINGS_ADDRESS_H
#define RUNNEL_SETTINGS_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/status.h"

/* What stands before the path of a Unix socket. */
#define ADDRESS_UNIX "unix:"

/* That, 107 characters of a path, and the end. */
#define ADDRESS_TEXT_SIZE 113

/* Is it, written so, the path of a Unix socket? */
bool address_is_unix(const char *text);

/*
 * The port is 0 to 65535, in decimal; 0 lets the kernel choose. STATUS_INVALID: not an address.
 * The bytes of *address beyond *len, and its padding, are 0, so that equal addresses are equal
 * memory.
 */
enum status address_parse(
    const char *text, struct sockaddr_storage *address, socklen_t *len) MUST_CHECK;

/* The text that parses to the address; "unknown" of other families. Returns buf.
 */
const char *address_format(const struct sockaddr_storage *address, char buf[ADDRESS_TEXT_SIZE]);

#endif
