/*
 * One client of the control socket: its connection, the bytes of it that are not
 * handled yet, and the answer that it has not taken yet. Process: the master.
 *
 * A line is handed out only when the one before it is answered and that answer is
 * taken, so both buffers are bounded, and a client that sends without reading
 * holds up nobody but itself. It has some time for all of that; what it waits for
 * does not count.
 */
#ifndef RUNNEL_MASTER_CONTROL_CLIENT_H
#define RUNNEL_MASTER_CONTROL_CLIENT_H

#include <ev.h>
#include <stddef.h>

#include "base/status.h"

struct control_client;

struct control_client_config {
	struct ev_loop *loop; /* borrowed */
	size_t max_line;      /* bytes, its newline included */
	double idle_s;        /* to take an answer and to send the next line in full */

	/*
	 * A line, without its newline, borrowed until it is answered; NULL: one that is longer
	 * than max_line, after which nothing more is heard, as by
	 * control_client_dismiss(). Each is answered, now or later, by
	 * control_client_answer().
	 */
	void (*on_line)(struct control_client *client, const char *line, size_t len, void *arg);

	/* It has gone, or failed, or run out of time: destroy it. */
	void (*on_end)(struct control_client *client, void *arg);
	void *arg;
};

/* fd is non-blocking, and the client's then, also on failure. NULL: out of memory. */
struct control_client *control_client_new(
    int fd, const struct control_client_config *config) MUST_CHECK;

/*
 * The answer, with its newline, is the client's; free(). NULL: there was no memory for it. The
 * client may have ended when this returns.
 */
void control_client_answer(struct control_client *client, char *text, size_t len);

/*
 * Nothing that it asks is heard: it gets this text, as above, then the end, and what it sends is
 * dropped for a while, so that it is not cut off before it has read. on_end comes in the end, or
 * before this returns.
 */
void control_client_dismiss(struct control_client *client, char *text, size_t len);

void control_client_destroy(struct control_client **client);

#endif
