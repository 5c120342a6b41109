#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "master/notify.h"

#define MAX_MESSAGE 512

static struct {
	struct sockaddr_un address;
	socklen_t len;        /* 0: nobody wants to hear */
	uint64_t watchdog_us; /* 0: no watchdog */
	ev_timer watchdog;
} manager;

/* A path, or an abstract name, whose "@" stands for a NUL. */
static void take_socket(const char *name)
{
	size_t len = strlen(name);

	if ((name[0] != '/' && name[0] != '@') || len < 2 ||
	    len >= sizeof(manager.address.sun_path)) {
		log_warn("NOTIFY_SOCKET is neither a path nor an abstract name: '%s'", name);
		return;
	}
	manager.address.sun_family = AF_UNIX;
	memcpy(manager.address.sun_path, name, len + 1);
	if (name[0] == '@')
		manager.address.sun_path[0] = '\0';
	manager.len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

/* The watchdog may be meant for another process, which has left us its environment. */
static void take_watchdog(const char *usec, const char *pid)
{
	char *end;

	if (pid != NULL && strtol(pid, NULL, 10) != getpid())
		return;
	errno = 0;
	manager.watchdog_us = strtoull(usec, &end, 10);
	if (errno != 0 || *end != '\0' || usec[0] < '0' || usec[0] > '9')
		manager.watchdog_us = 0;
}

void notify_init(void)
{
	const char *name = getenv("NOTIFY_SOCKET"), *usec = getenv("WATCHDOG_USEC");

	if (name != NULL)
		take_socket(name);
	if (usec != NULL && manager.len > 0)
		take_watchdog(usec, getenv("WATCHDOG_PID"));
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

/* A manager that does not read is waited for, but not for long, or with MSG_DONTWAIT not at all. */
static bool send_text(const char *text, int flags)
{
	static const struct timeval patience = { .tv_sec = 1 };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ssize_t n;
	int error;

	if (fd < 0)
		return false;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	do
		n = sendto(fd, text, strlen(text), MSG_NOSIGNAL | flags,
		    (const struct sockaddr *)&manager.address, manager.len);
	while (n < 0 && errno == EINTR);
	error = errno;
	close(fd);
	errno = error;
	return n >= 0;
}

PRINTF_LIKE(1, 2) static void tell(const char *fmt, ...)
{
	char text[MAX_MESSAGE];
	va_list args;

	if (manager.len == 0)
		return;
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	if (!send_text(text, 0))
		log_warn("cannot tell the service manager '%.*s': %s", (int)strcspn(text, "\n"),
		    text, strerror(errno));
}

void notify_ready(void)
{
	tell("READY=1\nMAINPID=%d", (int)getpid());
}

void notify_reloading(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	tell("RELOADING=1\nMONOTONIC_USEC=%" PRId64,
	    (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
}

void notify_stopping(void)
{
	tell("STOPPING=1");
}

void notify_status(const char *fmt, ...)
{
	char text[MAX_MESSAGE / 2];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	tell("STATUS=%s", text);
}

void notify_hand_over(pid_t pid)
{
	tell("MAINPID=%d", (int)pid);
	manager.len = 0;
}

static void on_watchdog(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)loop;
	(void)timer;
	(void)revents;
	/* One that is lost because the manager is busy is followed by another in time. */
	if (manager.len > 0)
		send_text("WATCHDOG=1", MSG_DONTWAIT);
}

void notify_watchdog_start(struct ev_loop *loop)
{
	/* Half of its patience, as sd_watchdog_enabled(3) recommends. */
	double period_s = (double)manager.watchdog_us / 2e6;

	if (manager.watchdog_us == 0)
		return;
	ev_timer_init(&manager.watchdog, on_watchdog, 0., period_s);
	ev_timer_start(loop, &manager.watchdog);
}

void notify_watchdog_stop(struct ev_loop *loop)
{
	ev_timer_stop(loop, &manager.watchdog);
}

void notify_export(void)
{
	char name[sizeof(manager.address.sun_path) + 1], number[32];
	size_t len = manager.len - offsetof(struct sockaddr_un, sun_path);

	if (manager.len == 0)
		return;
	memcpy(name, manager.address.sun_path, len);
	name[len] = '\0';
	if (name[0] == '\0')
		name[0] = '@';
	setenv("NOTIFY_SOCKET", name, 1);
	if (manager.watchdog_us == 0)
		return;
	snprintf(number, sizeof(number), "%" PRIu64, manager.watchdog_us);
	setenv("WATCHDOG_USEC", number, 1);
	snprintf(number, sizeof(number), "%d", (int)getpid());
	setenv("WATCHDOG_PID", number, 1);
}
