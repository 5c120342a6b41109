/*
 * The process of a daemon, which holds its pid file or control socket: to be
 * signalled, and to be waited for, without ever hitting another that got its
 * number. Process: the command that an operator runs.
 */
#ifndef RUNNEL_CALL_HOLDER_H
#define RUNNEL_CALL_HOLDER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct holder {
	pid_t pid;
	int fd; /* a pidfd; -1: the kernel has none, and the pid has to do */
};

/* False: there is no such process. */
bool holder_open(pid_t pid, struct holder *holder);

/* As by kill(2): 0, or -1 with errno. */
int holder_signal(const struct holder *holder, int number);

/* Wait until it has ended, up to deadline_ms of clock_ms(). False: it has not. */
bool holder_await_end(const struct holder *holder, uint64_t deadline_ms);

void holder_close(struct holder *holder);

#endif
