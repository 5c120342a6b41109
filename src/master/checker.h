/*
 * The checker: a child process that reads the conf, loads the modules, configures
 * them and lays the routes, so that the master, which loads no module, knows that
 * it all fits together, and so that no fault of a module can hurt the master.
 */
#ifndef RUNNEL_MASTER_CHECKER_H
#define RUNNEL_MASTER_CHECKER_H

#include <ev.h>

#include "base/status.h"

struct checker;

struct checker_config {
	struct ev_loop *loop; /* the default loop; borrowed, as all here */
	const char *conf_path;
	/*
	 * The end of it: text is the normalised conf, with the routes in comments at its end,
	 * the callee's, or NULL, and *why says what is wrong, also when the checker crashed or
	 * did not end in time. The checker is gone.
	 */
	void (*done)(char *text, const struct reason *why, void *arg);
	void (*in_child)(void *arg); /* called in the child: forget all that is the master's */
	void *arg;
};

/* Start checking. NULL: *why says why it cannot. */
struct checker *checker_start(const struct checker_config *config, struct reason *why);

/* Never mind: done() is not called. */
void checker_cancel(struct checker **checker);

/* In another child of the master: stop its watchers, close its pipe. */
void checker_forget(struct checker *checker);

#endif
