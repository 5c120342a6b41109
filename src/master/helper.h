/*
 * One process of runnel-http: started with a socket that listens and one to ask the master,
 * with the rights of the workers and no descriptor beside these. What it says on standard error
 * is logged. Process: the master; nothing of the helper can hold it up.
 */
#ifndef RUNNEL_MASTER_HELPER_H
#define RUNNEL_MASTER_HELPER_H

#include <ev.h>
#include <stddef.h>

#include "base/list.h"
#include "master/control.h"
#include "master/privileges.h"

struct helper;

/* All borrowed until helper_start() returns, but for loop and arg. */
struct helper_config {
	struct ev_loop *loop;
	struct control *control; /* what it asks */
	const struct privileges *privileges;
	const char *program;
	char *const *hosts; /* its arguments */
	size_t n_hosts;
	int listener;
	/* Its process has ended, and so has this; not called after helper_end(), which has another. */
	void (*on_end)(void *arg);
	void *arg;
};

/* NULL after a line in the log. */
struct helper *helper_start(const struct helper_config *config) MUST_CHECK;

/*
 * Let it end: it takes no more connections, and has a moment for its last replies, for which it
 * may still ask. It is on the list, and takes itself off when it is gone, before on_end is called,
 * with the arg that it has; helpers_await() calls it not.
 */
void helper_end(struct helper *helper, struct link *endings, void (*on_end)(void *arg));

/* Wait until those of a list have ended, and answer none of them; who takes too long is killed. */
void helpers_await(struct link *endings);

/* In a child process: stop its watchers, close its pipe. */
void helper_forget(struct helper *helper);
void helpers_forget(struct link *endings);

#endif
