/*
 * LD_PRELOAD: every libev loop checks its own data (ev_verify) each time it is
 * about to wait and each time it has waited, as a libev built with EV_VERIFY=2
 * does. A watcher that was moved, freed or changed while active ends the process
 * by an assertion of libev.
 */
#include "config.h"

#include <dlfcn.h>
#include <ev.h>
#include <stdlib.h>
#include <unistd.h>

/* One loop a thread is enough for all programs here. */
static __thread struct ev_prepare before;
static __thread struct ev_check after;
static __thread struct ev_loop *watched;
static __thread pid_t watched_pid;

static void verify_before(struct ev_loop *loop, struct ev_prepare *watcher, int events)
{
	(void)watcher;
	(void)events;
	ev_verify(loop);
}

static void verify_after(struct ev_loop *loop, struct ev_check *watcher, int events)
{
	(void)watcher;
	(void)events;
	ev_verify(loop);
}

/* A new loop may stand where one did that was destroyed after a fork: hence the pid. */
static void watch(struct ev_loop *loop)
{
	if (loop == watched && getpid() == watched_pid)
		return;
	watched = loop;
	watched_pid = getpid();
	ev_prepare_init(&before, verify_before);
	ev_prepare_start(loop, &before);
	ev_unref(loop);
	ev_check_init(&after, verify_after);
	ev_check_start(loop, &after);
	ev_unref(loop);
}

__attribute__((visibility("default"))) int ev_run(struct ev_loop *loop, int flags)
{
	int (*run)(struct ev_loop *, int) = NULL;

	*(void **)&run = dlsym(RTLD_NEXT, "ev_run");
	if (run == NULL)
		abort();
	watch(loop);
	return run(loop, flags);
}
