/*
 * What /proc says about a process.
 */
#ifndef TESTS_SYSTEM_PROCESS_H
#define TESTS_SYSTEM_PROCESS_H

#include <stdint.h>
#include <sys/types.h>

/* 'R', 'S', 'T' (stopped), 'Z' (dead, not yet reaped) ...; 0: there is no such process. */
char process_state(pid_t pid);

/* Have it stopped: when this returns it runs no more, as it may when kill(2) returns. */
void process_stop(pid_t pid);

/* CPU time so far, user and system. */
uint64_t process_cpu_ms(pid_t pid);

/* Resident memory that is its own: the heap and other anonymous pages. */
uint64_t process_memory_kb(pid_t pid);

/* By how much it has grown since it was before_kb; 0 where the kernel has taken pages away. */
uint64_t process_growth_kb(pid_t pid, uint64_t before_kb);

/*
 * Its open descriptors while it sleeps: it has dealt with all that has come to it, and has
 * nothing open for a moment only.
 */
unsigned process_n_fds(pid_t pid);

/* Of a process with one thread. */
unsigned process_n_children(pid_t pid);

/*
 * Run a program to its end, output appended to the file out. The arguments start
 * with argv[0] and end with NULL. Returns its exit status, or -1 when a signal
 * ended it.
 */
int process_run(const char *path, const char *out, ...) __attribute__((sentinel));

#endif
