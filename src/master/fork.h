/*
 * A child of the master that is going to be another program.
 */
#ifndef RUNNEL_MASTER_FORK_H
#define RUNNEL_MASTER_FORK_H

#include <sys/types.h>

/*
 * As fork(2). The master's handlers would swallow a signal that comes to the child before it is
 * another program: there, signals do again what they do by default.
 */
pid_t fork_quietly(void);

#endif
