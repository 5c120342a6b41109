/*
 * What the master asks of a worker about its connections, over a SOCK_STREAM pair
 * made for it: a request goes in, records come out, the last one with id 0.
 *
 * Process: the worker, which writes a few records in a turn of its loop, as far as
 * the master takes them, so that connections are served meanwhile. Connections that
 * come or go while it lasts may be missing; one that is there all the time is not,
 * but may come twice.
 */
#ifndef RUNNEL_WORKER_SURVEY_H
#define RUNNEL_WORKER_SURVEY_H

#include <stdint.h>

#include "base/list.h"
#include "base/status.h"
#include "conn/table.h"
#include "io/endpoint.h"

struct survey_request {
	uint64_t kick; /* end this connection, and answer with its record; 0: answer with all */
};

#define SURVEY_LISTENER_SIZE 64

/* Both sides are of one binary: the master forks its workers. */
struct survey_record {
	uint64_t id; /* 0: the end */
	struct endpoint peer;
	char listener[SURVEY_LISTENER_SIZE];
	uint64_t age_ms;
	uint32_t idle_ms;
	uint32_t queue_messages, queue_bytes; /* of the send queue; bytes with bookkeeping */
};

/*
 * Answer what stands on fd, which is the survey's own from now on. It stands in list until it
 * is answered, or the other end is gone. STATUS_NOMEM, STATUS_ERRNO, STATUS_INVALID: fd is closed.
 */
enum status survey_new(struct link *list, struct conn_table *table, int fd) MUST_CHECK;

/* Answer no more. */
void surveys_close(struct link *list);

#endif
