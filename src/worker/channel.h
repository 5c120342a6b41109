/*
 * Between master and worker: one SOCK_SEQPACKET pair for each worker, a struct
 * for a message. The end of it means that the other side is gone.
 */
#ifndef RUNNEL_WORKER_CHANNEL_H
#define RUNNEL_WORKER_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum channel_type {
	CHANNEL_READY = 1, /* worker: it accepts connections */
	CHANNEL_STOP, /* master: close gracefully and exit; arg: within so many ms, 0: no limit */
	CHANNEL_STOP_NOW, /* master: close at once and exit */
	CHANNEL_ADOPT,    /* master: accept on the sockets of slot arg too: it has no worker */
	CHANNEL_RELEASE,  /* master: accept on them no more */
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

enum channel_read channel_receive(int fd, struct channel_message *message);

#endif
