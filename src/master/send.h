/*
 * runneld -s: tell the daemon that runs what to do, and see that it does. Over its
 * control socket, which answers; or by a signal to the holder of its pid file.
 */
#ifndef RUNNEL_MASTER_SEND_H
#define RUNNEL_MASTER_SEND_H

#include <stdbool.h>

/* It does not run. LSB has this number for it. */
#define SEND_EXIT_NOT_RUNNING 3

/* Whether it runs could not be found out, for status. LSB likewise. */
#define SEND_EXIT_UNKNOWN 4

struct send_options {
	const char *verb;
	const char *conf_path;
	const char *target; /* the pid file or control socket; NULL: the conf names it */
};

bool send_knows(const char *verb);

/* Returns the exit status; says on standard error what went wrong. */
int send_run(const struct send_options *options);

#endif
