/*
 * Where the server is, and the addresses that connections to it come from.
 */
#ifndef RUNNEL_BENCH_ADDRESS_H
#define RUNNEL_BENCH_ADDRESS_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/status.h"

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in ipv4;
		struct sockaddr_in6 ipv6;
	} socket;
	socklen_t len;
	char text[64]; /* "127.0.0.1:8888", "[::1]:8888" */
	uint32_t
	    n_sources; /* addresses that connections may come from; 1: the kernel chooses */
	uint32_t n_per_source; /* connections that one of them can have */
};

/* Look the host up; the first address counts. STATUS_INVALID: *why says what is wrong. */
enum status address_resolve(struct address *address, const char *host, const char *service,
    struct reason *why) MUST_CHECK;

/*
 * Begin to connect a non-blocking socket to this address, from a source less than n_sources.
 * The port is chosen by connect(), where it need be unique for this server only. STATUS_OK: it
 * is connected or in progress. STATUS_ERRNO: EADDRNOTAVAIL means that the source is used up.
 */
enum status address_connect(const struct address *address, int fd, uint32_t source) MUST_CHECK;

#endif
