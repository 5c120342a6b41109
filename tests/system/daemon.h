/*
 * A runneld under test: its folder, its conf, its processes, its log.
 *
 * A test makes one, starts it, and ends with daemon_stop(), which fails the test
 * when the daemon does not end well or leaves a process behind. A test that
 * fails before that leaves the folder for run_suite to show.
 */
#ifndef TESTS_SYSTEM_DAEMON_H
#define TESTS_SYSTEM_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "system/wait.h"

#define DAEMON_MAX_ARGS 16

struct daemon {
	char folder[96];
	char conf[128];     /* the conf file's path */
	char log[128];      /* the log's path */
	char out[128];      /* what the process wrote to stdout, */
	char err[128];      /* and to stderr */
	char *text;         /* of the file that was last asked for; owned */
	unsigned n_workers; /* of the conf */
	unsigned n_ready;   /* how often the log had said so at the launch */
	unsigned max_fds;   /* RLIMIT_NOFILE to start it with; 0: what the test has */
	const int *sockets; /* to hand over as a service manager does; borrowed */
	unsigned n_sockets;
	bool has_group;  /* to be the leader of a process group of its own */
	pid_t pid;       /* of the master; 0: not running */
	int exit_status; /* as from waitpid(2), when pid is 0 again */
};

/*
 * A folder with a conf: the lines that every test needs (workers, module-dir,
 * log), then body, as by printf. Owned by the caller: daemon_stop() or
 * daemon_destroy(). Never NULL.
 */
struct daemon *daemon_new(unsigned n_workers, const char *body, ...)
    __attribute__((format(printf, 2, 3)));

/* Write the conf anew, with nothing but text in it. */
void daemon_set_conf(struct daemon *daemon, const char *text);

/* "runneld -F -c conf", without waiting; also again, when it has ended. */
void daemon_launch(struct daemon *daemon);

/* Wait until a launched daemon has said that all its workers are ready. */
void daemon_await_ready(struct daemon *daemon);

/* daemon_launch() and daemon_await_ready(). */
void daemon_start(struct daemon *daemon);

/*
 * Run runneld with these arguments (the last is NULL) until the process that was
 * started ends. Returns its exit status, or -1 when a signal ended it.
 */
int daemon_run(struct daemon *daemon, ...) __attribute__((sentinel));

/* For a daemon that put itself in the background: its pid, from the pid file at path. */
void daemon_attach(struct daemon *daemon, const char *pid_file);

/* The port of a listener, from the log. */
uint16_t daemon_port(struct daemon *daemon, const char *listener);

/* The process that was started last in a slot. */
pid_t daemon_worker(struct daemon *daemon, unsigned slot);

/* How many processes were started in a slot so far. */
unsigned daemon_n_started(struct daemon *daemon, unsigned slot);

/* The contents of a file of the daemon; "" when there is none. Borrowed until the next call. */
const char *daemon_read(struct daemon *daemon, const char *path);

/* How many lines of the log hold text. */
unsigned daemon_n_logged(struct daemon *daemon, const char *text);
#define daemon_has_logged(daemon, text) (daemon_n_logged((daemon), (text)) > 0)

void daemon_signal(struct daemon *daemon, int number);

/*
 * Wait for the end of the daemon, master and workers. Returns the exit status,
 * or -1 when a signal ended it.
 */
int daemon_await_end(struct daemon *daemon);

/* Whether the master has ended; does not wait. */
bool daemon_has_ended(struct daemon *daemon);

/* Stop it by SIGTERM, expect exit status 0, then wait for the end as above. */
void daemon_end(struct daemon *daemon);

/* daemon_end() and daemon_destroy(). */
void daemon_stop(struct daemon **daemon);

/* Removes the folder. The daemon is not running. */
void daemon_destroy(struct daemon **daemon);

/* The sum over all slots of a counter, as the master logged them at its end. */
uint64_t daemon_counter(struct daemon *daemon, const char *name);
#define daemon_expect_counter(daemon, name, value)                           \
	ck_assert_msg(daemon_counter((daemon), (name)) == (uint64_t)(value), \
	    "%s is %llu, not %llu", (name),                                  \
	    (unsigned long long)daemon_counter((daemon), (name)), (unsigned long long)(value))

#endif
