/*
 * The host that a request names, in its Host header: what it may be. A page of another site can make a browser send
 * requests here by a name of its own that it lets point here; then the name is in this header.
 */
#ifndef RUNNEL_HTTP_HOST_H
#define RUNNEL_HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is it an IPv4 or IPv6 address, localhost, or one of these names, with a port or without? Upper
 * and lower case are the same, and blanks at the end are none of it.
 */
bool host_is_accepted(const char *host, size_t len, const char *const *names, size_t n_names);

/*
 * Where the target is in absolute form (RFC 9112, 3.2.2), the host in it, which counts rather than
 * that of the header, and after it the path. NULL: it is a path.
 */
const char *host_of_target(const char *target, size_t *len);

#endif
