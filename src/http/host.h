/*
 * The Host header of a request: what it may say. A page of another site can make a browser send
 * requests here by a name of its own that it lets point here; then the name is in this header.
 */
#ifndef RUNNEL_HTTP_HOST_H
#define RUNNEL_HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Is it an IPv4 or IPv6 address, localhost, or one of these names, with a port or without? Upper
 * and lower case are the same.
 */
bool host_is_accepted(const char *host, const char *const *names, size_t n_names);

#endif
