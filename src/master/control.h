/*
 * The control socket: operators' requests to the master of a daemon that runs.
 * runneld(8) describes the protocol. Process: the master, in its loop; nothing of
 * a client can hold it up.
 *
 * What can be asked for is a table of verbs. A verb is handed a request and
 * answers it at once or later, exactly once, with control_answer() or
 * control_fail(): an answer says that a thing is done, not that it is begun. A
 * request stays valid until then, whatever becomes of its client.
 */
#ifndef RUNNEL_MASTER_CONTROL_H
#define RUNNEL_MASTER_CONTROL_H

#include <ev.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "master/control_peer.h"
#include "settings/settings.h"

struct control;
struct control_session;
struct control_request;

struct control_verb {
	const char *name;
	const char *text; /* one line for people */
	enum control_access access;
	/* What a request may hold beside its verb, ends with NULL; NULL: nothing. */
	const char *const *keys;
	void (*act)(struct control_request *request, void *arg);
};

struct control_config {
	struct ev_loop *loop; /* borrowed, likewise below */
	const char *path;     /* of the socket; NULL: none, see control_admit() */
	const char *group;    /* whose members may read; empty: no group */
	bool is_taking_over;  /* from a master that still lives */
	double idle_s;        /* for a client to send a request and take its answer; 0:
				      30 s */
	const struct control_verb *verbs; /* in the order that help shows */
	size_t n_verbs;
	void *arg; /* of the verbs' act */
};

/* Can the conf's control socket be made? STATUS_INVALID: *why says why not. */
enum status control_check(const struct settings *settings, struct reason *why) MUST_CHECK;

/*
 * Listen. A verb `help` is there beside those of the table. STATUS_INVALID: *why says what is
 * wrong with path or group. A master that takes over opens it when nothing else can fail: from
 * then on the path is its own.
 */
enum status control_open(const struct control_config *config, struct control **control,
    struct reason *why) MUST_CHECK;

/*
 * The path is to be this master's again, after another had it that is gone, or somebody has
 * removed it. Clients stay. STATUS_INVALID: *why; what was there before goes on.
 */
enum status control_reclaim(struct control *control, struct reason *why) MUST_CHECK;

/*
 * A client that did not come over the socket: over fd, which is non-blocking and taken over. It
 * may read, and has to send something within idle_s of each answer. on_end: it has not, or it is
 * gone; the session is over then. NULL: out of memory.
 */
struct control_session *control_admit(
    struct control *control, int fd, double idle_s, void (*on_end)(void *arg), void *arg);

/* End it; on_end is not called. */
void control_dismiss(struct control_session *session);

/* The verb, for an act that serves several. Borrowed from the table. */
const char *control_request_verb(const struct control_request *request);

/* Is its client there to take the answer? */
bool control_request_is_awaited(const struct control_request *request);

/* The whole request, an object. Borrowed until it is answered. */
json_t *control_request_object(const struct control_request *request);

/*
 * Success, with the members of an object, which is taken over; NULL: none. An answer that is
 * too long becomes a failure. The request is gone after this.
 */
void control_answer(struct control_request *request, json_t *object);

/* The same, where an answer is too long beyond 16 MiB rather than 4. */
void control_answer_long(struct control_request *request, json_t *object);

/* Failure, with the reason. The request is gone after this. */
void control_fail(struct control_request *request, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* It is done when the daemon ends: control_close() answers it. */
void control_answer_at_end(struct control_request *request);

/* In a child process: close all that is the master's. NULL: there is none; likewise below. */
void control_forget(struct control *control);

/* The daemon ends: say so to all that wait, and remove the socket. */
void control_close(struct control **control);

#endif
