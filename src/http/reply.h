/*
 * A reply: what is sent for a request, with the header fields that every one of them has. One
 * reply may go to any number of clients.
 */
#ifndef RUNNEL_HTTP_REPLY_H
#define RUNNEL_HTTP_REPLY_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>

struct reply {
	unsigned int code;
	struct MHD_Response *response; /* owned; NULL: there is none */
};

#define REPLY_TEXT "text/plain; charset=utf-8"
#define REPLY_JSON "application/json"
#define REPLY_METRICS "text/plain; version=0.0.4; charset=utf-8"

/* Replace what it was; the body is copied. Out of memory: there is none after this. */
void reply_set(
    struct reply *reply, unsigned int code, const char *type, const void *body, size_t len);

/* The same with a line of text. */
void reply_set_text(struct reply *reply, unsigned int code, const char *text);

/* Of one that is there. */
void reply_add_field(struct reply *reply, const char *name, const char *value);

/* MHD_NO: the connection is to be closed. */
enum MHD_Result reply_send(const struct reply *reply, struct MHD_Connection *connection);

void reply_clear(struct reply *reply);

#endif
