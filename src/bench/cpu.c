#include "config.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/cpu.h"

uint64_t cpu_thread_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

bool cpu_read_machine(struct cpu_machine *machine)
{
	/* user nice system idle iowait irq softirq steal */
	uint64_t ticks[8] = { 0 };
	FILE *file = fopen("/proc/stat", "re");
	size_t i;
	int n;

	if (file == NULL)
		return false;
	n = fscanf(file,
	    "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
	    " %" SCNu64 " %" SCNu64,
	    &ticks[0], &ticks[1], &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6],
	    &ticks[7]);
	fclose(file);
	*machine = (struct cpu_machine){ .idle = ticks[3] + ticks[4] };
	for (i = 0; i < 8; i++)
		machine->total += ticks[i];
	return n == 8;
}

double cpu_idle_share(const struct cpu_machine *before, const struct cpu_machine *after)
{
	if (after->total <= before->total || after->idle < before->idle)
		return 0;
	return (double)(after->idle - before->idle) / (double)(after->total - before->total);
}

/* A line of /proc/PID/stat, as far as it is of interest here. */
struct stat_line {
	pid_t pid, parent;
	double seconds;
};

static bool read_stat(pid_t pid, struct stat_line *line)
{
	char path[64], text[1024];
	const char *rest;
	unsigned long utime, stime;
	long cutime, cstime;
	size_t len;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	file = fopen(path, "re");
	if (file == NULL)
		return false;
	len = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[len] = '\0';
	/* The name, in parentheses, may have any character in it. */
	rest = strrchr(text, ')');
	if (rest == NULL ||
	    sscanf(rest + 1, " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld",
		&line->parent, &utime, &stime, &cutime, &cstime) != 5)
		return false;
	line->pid = pid;
	line->seconds = ((double)utime + (double)stime + (double)cutime + (double)cstime) /
			(double)sysconf(_SC_CLK_TCK);
	return true;
}

/* All processes; *lines is owned by the caller. */
static size_t read_all(struct stat_line **lines)
{
	DIR *proc = opendir("/proc");
	struct stat_line line, *grown;
	struct dirent *entry;
	size_t n = 0, room = 0;

	*lines = NULL;
	while (proc != NULL && (entry = readdir(proc)) != NULL) {
		if (!isdigit((unsigned char)entry->d_name[0]) ||
		    !read_stat((pid_t)atoi(entry->d_name), &line))
			continue;
		if (n == room) {
			room = 2 * room + 256;
			grown = reallocarray(*lines, room, sizeof(**lines));
			if (grown == NULL)
				break;
			*lines = grown;
		}
		(*lines)[n++] = line;
	}
	if (proc != NULL)
		closedir(proc);
	return n;
}

static bool has_process(const struct cpu_server *server, pid_t pid)
{
	size_t i;

	for (i = 0; i < server->n_processes; i++) {
		if (server->processes[i].pid == pid)
			return true;
	}
	return false;
}

static void add_process(struct cpu_server *server, const struct stat_line *line)
{
	if (server->n_processes == CPU_SERVER_PROCESSES_MAX || has_process(server, line->pid))
		return;
	server->processes[server->n_processes].pid = line->pid;
	server->processes[server->n_processes].seconds = line->seconds;
	server->n_processes++;
	server->seconds += line->seconds;
}

enum status cpu_read_server(
    struct cpu_server *server, const pid_t *pids, size_t n_pids, struct reason *why)
{
	struct stat_line line, *lines;
	size_t n_lines, i, n_before;

	*server = (struct cpu_server){ 0 };
	for (i = 0; i < n_pids; i++) {
		if (!read_stat(pids[i], &line))
			return reason_set(why, "process %d does not exist", (int)pids[i]);
		add_process(server, &line);
	}
	n_lines = read_all(&lines);
	/* A child may be listed before its parent: look until a round finds no more. */
	do {
		n_before = server->n_processes;
		for (i = 0; i < n_lines; i++) {
			if (has_process(server, lines[i].parent))
				add_process(server, &lines[i]);
		}
	} while (server->n_processes > n_before);
	free(lines);
	return STATUS_OK;
}

double cpu_busiest_seconds(const struct cpu_server *before, const struct cpu_server *after)
{
	double most = 0, used;
	size_t i, k;

	for (i = 0; i < after->n_processes; i++) {
		used = after->processes[i].seconds;
		for (k = 0; k < before->n_processes; k++) {
			if (before->processes[k].pid == after->processes[i].pid)
				used -= before->processes[k].seconds;
		}
		if (used > most)
			most = used;
	}
	return most;
}
