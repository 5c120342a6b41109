/*
 * An HTTP client as tests need it: a request byte for byte, and what comes back until the end of
 * the connection. And the daemon that is asked.
 */
#ifndef TESTS_SYSTEM_HTTP_H
#define TESTS_SYSTEM_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "system/daemon.h"

#define HTTP_PROGRAM BUILD_DIR "/runnel-http"

struct http_reply {
	char *text; /* all of it; owned; "" when there was none */
	const char *body;
	size_t len; /* of the body */
	int code;   /* 0: there was none */
};

/* A daemon as of ctl_daemon() that serves metrics on a free port; options as by printf. */
struct daemon *http_daemon(unsigned n_workers, const char *options, ...)
    __attribute__((format(printf, 2, 3)));

/* The port of metrics-address, and the process that was started last for it, from the log. */
uint16_t http_port(struct daemon *daemon);
pid_t http_pid(struct daemon *daemon);

/* daemon_stop(), which also fails when such a process has complained. */
void http_stop(struct daemon **daemon);

/* How many processes were started for it. */
unsigned http_n_started(struct daemon *daemon);

/* Send a request, and read the reply: http_reply_free() after each of these. */
void http_ask(uint16_t port, const char *request, struct http_reply *reply);
void http_get(uint16_t port, const char *path, struct http_reply *reply);

/* The reply to what was sent on a connection, which is closed. */
void http_read(int fd, struct http_reply *reply);
void http_reply_free(struct http_reply *reply);

/* GET: the code; and whether it is this one with a text in the body. */
int http_code(uint16_t port, const char *path);
bool http_says(uint16_t port, const char *path, int code, const char *text);

#define http_expect(port, path, code, text)                                                   \
	ck_assert_msg(http_says((port), (path), (code), (text)), "%s: not %d and %s", (path), \
	    (code), (text))

#endif
