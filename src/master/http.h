/*
 * What metrics-address asks for: that there is a helper (helper.h) on its socket, started again
 * with back-off when it dies, and another one when the conf has changed. Process: the master.
 */
#ifndef RUNNEL_MASTER_HTTP_H
#define RUNNEL_MASTER_HTTP_H

#include <ev.h>
#include <stdbool.h>

#include "master/control.h"
#include "master/privileges.h"
#include "settings/settings.h"

struct http;

/* on_over(arg) is called in the loop when the last of the helpers that were to end has. */
struct http *http_new(struct ev_loop *loop, void (*on_over)(void *arg), void *arg) MUST_CHECK;

/*
 * A conf is in force, and this the socket of its metrics-address; -1: it has none, and no helper
 * runs. All borrowed: the socket and the control as long as the conf is in force. A helper that
 * fits stays.
 */
void http_apply(struct http *http, struct control *control, int listener,
    const struct settings *settings, const struct privileges *privileges);

/* Another master serves: let the helper end; it asks until it has, which is 3 s at most. */
void http_stop(struct http *http);

/* No helper runs, and none is to. */
bool http_is_over(const struct http *http);

/* In a child process: close all that is the master's. */
void http_forget(struct http *http);

/* The helper has ended when this returns. NULL: there is nothing to do. */
void http_destroy(struct http **http);

#endif
