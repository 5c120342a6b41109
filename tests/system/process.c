#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/process.h"
#include "system/wait.h"

#define MAX_ARGS 16

/* Reads the state and the CPU time in ticks; false: it is gone. */
static int read_stat(pid_t pid, char *state, unsigned long *ticks)
{
	unsigned long user = 0, kernel = 0;
	char path[64];
	FILE *stat;
	int n;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	stat = fopen(path, "re");
	if (stat == NULL)
		return 0;
	n = fscanf(stat, "%*d (%*[^)]) %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu",
	    state, &user, &kernel);
	fclose(stat);
	*ticks = user + kernel;
	return n == 3;
}

char process_state(pid_t pid)
{
	unsigned long ticks;
	char state;

	return read_stat(pid, &state, &ticks) ? state : '\0';
}

void process_stop(pid_t pid)
{
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	WAIT_FOR(process_state(pid) == 'T');
}

uint64_t process_cpu_ms(pid_t pid)
{
	unsigned long ticks;
	char state;

	ck_assert_msg(read_stat(pid, &state, &ticks), "process %d is gone", (int)pid);
	return (uint64_t)ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

uint64_t process_memory_kb(pid_t pid)
{
	unsigned long long kb = 0;
	char path[64], line[128];
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	ck_assert_msg(status != NULL, "process %d is gone", (int)pid);
	while (fgets(line, sizeof(line), status) != NULL)
		sscanf(line, "RssAnon: %llu kB", &kb);
	fclose(status);
	return kb;
}

uint64_t process_growth_kb(pid_t pid, uint64_t before_kb)
{
	uint64_t now_kb = process_memory_kb(pid);

	return now_kb > before_kb ? now_kb - before_kb : 0;
}

static unsigned count_fds(pid_t pid)
{
	char path[64];
	unsigned n = 0;
	struct dirent *entry;
	DIR *fds;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	fds = opendir(path);
	ck_assert_msg(fds != NULL, "process %d is gone", (int)pid);
	while ((entry = readdir(fds)) != NULL)
		n += entry->d_name[0] != '.';
	closedir(fds);
	return n;
}

unsigned process_n_fds(pid_t pid)
{
	unsigned n;

	do {
		WAIT_FOR(process_state(pid) == 'S');
		n = count_fds(pid);
	} while (process_state(pid) != 'S');
	return n;
}

unsigned process_n_children(pid_t pid)
{
	char path[64];
	unsigned n = 0;
	FILE *list;
	int child;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	list = fopen(path, "re");
	ck_assert_msg(list != NULL, "process %d is gone", (int)pid);
	while (fscanf(list, "%d", &child) == 1)
		n++;
	fclose(list);
	return n;
}

static _Noreturn void exec_program(const char *path, const char *out, char *const *args)
{
	int fd = open(out, O_WRONLY | O_CREAT | O_APPEND, 0600);

	if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0)
		_exit(126);
	close(fd);
	execv(path, args);
	_exit(127);
}

int process_run(const char *path, const char *out, ...)
{
	char *args[MAX_ARGS];
	unsigned n_args = 0;
	va_list list;
	int status;
	pid_t pid;

	va_start(list, out);
	while ((args[n_args] = va_arg(list, char *)) != NULL)
		ck_assert_uint_lt(++n_args, MAX_ARGS);
	va_end(list);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		exec_program(path, out, args);
	/* The test's own time limit ends a program that hangs. */
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
