/*
 * How much memory a process has. Process: the master.
 */
#ifndef RUNNEL_MASTER_RESIDENT_H
#define RUNNEL_MASTER_RESIDENT_H

#include <stdint.h>
#include <sys/types.h>

/* What is resident of it, in bytes; 0: there is no such process, or it cannot be found out. */
uint64_t resident_bytes(pid_t pid);

#endif
