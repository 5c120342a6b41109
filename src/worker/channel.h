/*
 * Between master and worker, and between two masters: one SOCK_SEQPACKET pair for
 * each worker, a struct for a message, which may carry a descriptor. The end of
 * it means that the other side is gone.
 */
#ifndef RUNNEL_WORKER_CHANNEL_H
#define RUNNEL_WORKER_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum channel_type {
	CHANNEL_READY =
	    1,           /* worker: all is started, upstreams were tried; it waits for SERVE */
	CHANNEL_LEAVING, /* worker: somebody told it to end; it accepts no more */
	CHANNEL_SERVE,   /* master: accept connections */
	CHANNEL_STOP, /* master: close gracefully and exit; arg: within so many ms, 0: no limit */
	CHANNEL_STOP_NOW, /* master: close at once and exit */
	CHANNEL_DRAIN,    /* master: another generation accepts: let connections go, spread over
			  arg ms, then exit */
	CHANNEL_HAND_OVER, /* master: hand over on the descriptor what can be; between masters:
			      what the old worker in slot arg gets */
	CHANNEL_RECEIVE,   /* master: take the connections that come on the descriptor */
	CHANNEL_ADOPT,     /* master: accept on the sockets of slot arg too: it has no worker */
	CHANNEL_RELEASE,   /* master: accept on them no more */
	CHANNEL_LOG,       /* master: log to the file on the descriptor */
	CHANNEL_JOURNAL,   /* master: the same of lines about connections */
	CHANNEL_SURVEY,    /* master: answer a survey on the descriptor */
	CHANNEL_LOG_LEVEL, /* master: log lines down to level arg */

	/* Between an old and a new master, in an upgrade. */
	CHANNEL_NEW_READY,  /* new: its workers are ready */
	CHANNEL_OLD_LEFT,   /* old: it has let go of what only one can have */
	CHANNEL_NEW_SERVES, /* new: the old one can go; it is told DRAIN, STOP, STOP_NOW then */
};

struct channel_message {
	uint32_t type;
	uint32_t arg;
};

enum channel_read { CHANNEL_MESSAGE, CHANNEL_NOTHING, CHANNEL_END };

/* Both ends non-blocking and close-on-exec: ends[0] is the master's, ends[1] the worker's. */
enum status channel_open(int ends[2]) MUST_CHECK;

/* False: the other side is gone, or does not read. */
bool channel_send(int fd, enum channel_type type, uint32_t arg);

/* The same with a descriptor, which stays the caller's too; -1: none. */
bool channel_send_fd(int fd, enum channel_type type, uint32_t arg, int passed);

/*
 * *passed is the descriptor that came with the message, the caller's now; -1: none, or there was
 * no place for it.
 */
enum channel_read channel_receive(int fd, struct channel_message *message, int *passed);

/*
 * In a worker, at its start and when it has dealt with a message: keep a place for the next
 * descriptor, so that it can arrive when connections have taken all others.
 */
void channel_reserve(int fd);

#endif
