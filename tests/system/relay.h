/*
 * A runneld with module relay, its clients, and what it tells them.
 */
#ifndef TESTS_SYSTEM_RELAY_H
#define TESTS_SYSTEM_RELAY_H

#include <stdint.h>

#include "system/backend.h"
#include "system/daemon.h"

/* Bytes before the payload when replies are matched by tag. */
#define RELAY_TAG 8

/* The id of what it tells with on-failure = tell, and why. */
#define RELAY_FAILURE UINT32_MAX
enum { RELAY_BUSY = 1, RELAY_DOWN, RELAY_LOST, RELAY_LATE, RELAY_TOO_BIG, RELAY_UNSAYABLE };

/* With these options in its sections, and one worker, so that a backend gets one connection. */
struct daemon *relay_start(const char *relay, const char *upstream, const char *listen);

/* The same with a backend of its own, to which it has connected: *server is the other end. */
struct daemon *relay_start_before(struct backend *backend, const char *relay, int *server);

/* A client of it. */
int relay_connect(struct daemon *daemon);

/* A client is told that a request has failed. */
void relay_expect_failure(int fd, uint32_t id, uint32_t cause);

/* What the relay has counted, by the line that it logs at its end. */
void relay_expect_count(struct daemon *daemon, const char *name, unsigned value);

/*
 * Ask until it is up again, with on-failure = tell. Returns the request that came to the
 * server.
 */
struct message relay_ask(int fd, int server, uint32_t id, const char *text);

#endif
