/*
 * The HTTP server: routes, and who waits for which answer of the master. Everything happens in
 * server_turn(), in one thread; nothing waits.
 */
#ifndef RUNNEL_HTTP_SERVER_H
#define RUNNEL_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct server;

struct server_config {
	int listener;             /* a socket that listens; the server's from now on */
	int master;               /* a socket to the master, see inquiry.h; borrowed */
	int life;                 /* a pipe, whose end is that of the server; borrowed */
	const char *const *hosts; /* names that requests may use; borrowed */
	size_t n_hosts;
};

/* STATUS_INVALID: *why says why there is none. Out of memory ends the process. */
enum status server_new(
    const struct server_config *config, struct server **server, struct reason *why) MUST_CHECK;

/*
 * Wait for something to happen, and act. False: it is over, and those who had asked have their
 * replies.
 */
bool server_turn(struct server *server);

void server_destroy(struct server **server);

#endif
