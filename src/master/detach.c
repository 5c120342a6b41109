#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/streams.h"
#include "master/detach.h"

static int ready_fd = -1; /* the child's end of the pipe to the waiting parent */

/* One byte means ready; the end without it, that the child is gone. */
static _Noreturn void wait_for(pid_t child, int fd)
{
	char byte;
	ssize_t n;
	int status;

	do
		n = read(fd, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		_exit(0);
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	_exit(1);
}

enum status detach(struct reason *why)
{
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return reason_set(why, "cannot detach: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		return reason_set(why, "cannot detach: fork: %s", strerror(errno));
	if (pid > 0) {
		close(ends[1]);
		wait_for(pid, ends[0]);
	}
	close(ends[0]);
	ready_fd = ends[1];
	setsid();
	/* Paths in settings are absolute. */
	if (chdir("/") < 0)
		return reason_set(why, "cannot detach: /: %s", strerror(errno));
	return STATUS_OK;
}

void detach_ready(void)
{
	if (ready_fd < 0)
		return;
	streams_to_null();
	if (write(ready_fd, "r", 1) < 0)
		log_debug("nobody waits for the daemon to be ready");
	detach_forget();
}

void detach_forget(void)
{
	if (ready_fd >= 0)
		close(ready_fd);
	ready_fd = -1;
}
