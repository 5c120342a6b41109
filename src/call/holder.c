#include "config.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"

#include "call/holder.h"

/* Between two looks at a process without pidfd. */
#define LOOK_MS 50

static bool is_there(pid_t pid)
{
	return kill(pid, 0) == 0 || errno == EPERM;
}

bool holder_open(pid_t pid, struct holder *holder)
{
	holder->pid = pid;
	holder->fd = (int)syscall(SYS_pidfd_open, pid, 0);
	return holder->fd >= 0 || (errno != ESRCH && is_there(pid));
}

int holder_signal(const struct holder *holder, int number)
{
	if (holder->fd < 0)
		return kill(holder->pid, number);
	return (int)syscall(SYS_pidfd_send_signal, holder->fd, number, NULL, 0);
}

bool holder_await_end(const struct holder *holder, uint64_t deadline_ms)
{
	struct pollfd poll_fd = { .fd = holder->fd, .events = POLLIN };

	for (;;) {
		uint64_t now_ms = clock_ms(), rest_ms;

		if (holder->fd < 0 && !is_there(holder->pid))
			return true;
		if (now_ms >= deadline_ms)
			return false;
		rest_ms = deadline_ms - now_ms;
		if (holder->fd < 0 && rest_ms > LOOK_MS)
			rest_ms = LOOK_MS;
		/* poll() passes over a descriptor that is negative. */
		if (poll(&poll_fd, 1, rest_ms < INT_MAX ? (int)rest_ms : INT_MAX) > 0)
			return true;
	}
}

void holder_close(struct holder *holder)
{
	if (holder->fd >= 0)
		close(holder->fd);
	holder->fd = -1;
}
