/*
 * Who used how much processor time: this thread, the machine, the server.
 */
#ifndef RUNNEL_BENCH_CPU_H
#define RUNNEL_BENCH_CPU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/* Of the calling thread. */
uint64_t cpu_thread_ns(void);

/* Time of all processors together, in clock ticks since the machine started. */
struct cpu_machine {
	uint64_t total, idle;
};

/* False: /proc/stat cannot be read. */
bool cpu_read_machine(struct cpu_machine *machine) MUST_CHECK;

/* The share of its time that the machine was idle between two readings, 0 to 1. */
double cpu_idle_share(const struct cpu_machine *before, const struct cpu_machine *after);

#define CPU_SERVER_PROCESSES_MAX 1024

/* A server: the processes named and all their descendants. */
struct cpu_server {
	double seconds; /* user and system, those that ended and were waited for included */
	size_t n_processes;
	struct {
		pid_t pid;
		double seconds;
	} processes[CPU_SERVER_PROCESSES_MAX];
};

/* STATUS_INVALID: one of the named processes does not exist; *why says which. */
enum status cpu_read_server(
    struct cpu_server *server, const pid_t *pids, size_t n_pids, struct reason *why) MUST_CHECK;

/* The most that one process used between two readings, in seconds. */
double cpu_busiest_seconds(const struct cpu_server *before, const struct cpu_server *after);

#endif
