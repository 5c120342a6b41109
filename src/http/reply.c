#include "config.h"

#include <stdio.h>
#include <string.h>

#include "http/reply.h"

/*
 * A page runs no script but our own, asks nobody else for anything, and is in no other page; what
 * is sent is taken for what it says it is, and is not kept.
 */
static const char *const fields[][2] = {
	{ "Cache-Control", "no-store" },
	{ "Content-Security-Policy",
	    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
	    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
	{ "Referrer-Policy", "no-referrer" },
	{ "X-Content-Type-Options", "nosniff" },
};

void reply_add_field(struct reply *reply, const char *name, const char *value)
{
	if (reply->response != NULL &&
	    MHD_add_response_header(reply->response, name, value) != MHD_YES)
		reply_clear(reply);
}

void reply_set(
    struct reply *reply, unsigned int code, const char *type, const void *body, size_t len)
{
	/* With this mode it is only read, and copied. */
	union {
		const void *to_read;
		void *to_copy;
	} bytes = { .to_read = body };

	reply_clear(reply);
	reply->code = code;
	reply->response =
	    MHD_create_response_from_buffer(len, bytes.to_copy, MHD_RESPMEM_MUST_COPY);
	reply_add_field(reply, "Content-Type", type);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		reply_add_field(reply, fields[i][0], fields[i][1]);
}

void reply_set_text(struct reply *reply, unsigned int code, const char *text)
{
	char line[1024];
	int len = snprintf(line, sizeof(line), "%s\n", text);

	if (len >= (int)sizeof(line))
		len = (int)sizeof(line) - 1;
	reply_set(reply, code, REPLY_TEXT, line, (size_t)len);
}

enum MHD_Result reply_send(const struct reply *reply, struct MHD_Connection *connection)
{
	if (reply->response == NULL)
		return MHD_NO;
	return MHD_queue_response(connection, reply->code, reply->response);
}

void reply_clear(struct reply *reply)
{
	if (reply->response != NULL)
		MHD_destroy_response(reply->response);
	reply->response = NULL;
}
