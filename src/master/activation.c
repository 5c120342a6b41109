#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/units.h"
#include "master/activation.h"
#include "settings/address.h"

#define FIRST_FD 3
#define MAX_FDS 1024

static struct {
	int *fds; /* -1: taken; owned */
	int n;
} inherited;

static int option(int fd, int level, int name)
{
	int value = 0;
	socklen_t len = sizeof(value);

	return getsockopt(fd, level, name, &value, &len) == 0 ? value : -1;
}

static enum status check_socket(int fd, struct reason *why)
{
	int domain = option(fd, SOL_SOCKET, SO_DOMAIN);

	if ((domain != AF_INET && domain != AF_INET6) ||
	    option(fd, SOL_SOCKET, SO_PROTOCOL) != IPPROTO_TCP ||
	    option(fd, SOL_SOCKET, SO_ACCEPTCONN) != 1)
		return reason_set(why,
		    "LISTEN_FDS: descriptor %d is no TCP socket that listens: use ListenStream "
		    "with an address, and Accept=no, in the socket unit",
		    fd);
	if (domain == AF_INET6 && option(fd, IPPROTO_IPV6, IPV6_V6ONLY) != 1)
		return reason_set(why,
		    "LISTEN_FDS: descriptor %d takes IPv4, too: set "
		    "BindIPv6Only=ipv6-only in the socket unit",
		    fd);
	if (fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 || fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		return reason_set(why, "LISTEN_FDS: descriptor %d: %s", fd, strerror(errno));
	return STATUS_OK;
}

static enum status take_all(const char *count, struct reason *why)
{
	int64_t n;

	if (units_parse_number(count, &n) != STATUS_OK || n < 0 || n > MAX_FDS)
		return reason_set(why, "LISTEN_FDS: '%s' is no number of descriptors", count);
	inherited.fds = must_alloc((size_t)n, sizeof(*inherited.fds));
	for (; inherited.n < n; inherited.n++) {
		int fd = FIRST_FD + inherited.n;

		inherited.fds[inherited.n] = fd;
		if (check_socket(fd, why) != STATUS_OK)
			return STATUS_INVALID;
	}
	return STATUS_OK;
}

enum status activation_init(struct reason *why)
{
	const char *pid = getenv("LISTEN_PID"), *count = getenv("LISTEN_FDS");
	enum status status = STATUS_OK;

	/* Another process may have left us its environment; then nothing is ours. */
	if (pid != NULL && count != NULL && strtol(pid, NULL, 10) == getpid())
		status = take_all(count, why);
	unsetenv("LISTEN_PID");
	unsetenv("LISTEN_FDS");
	unsetenv("LISTEN_FDNAMES");
	return status;
}

/* The address as the conf would have it. Returns text. */
static const char *address_of(int fd, char text[ADDRESS_TEXT_SIZE])
{
	struct sockaddr_storage bound = { 0 };
	socklen_t len = sizeof(bound);

	getsockname(fd, (struct sockaddr *)&bound, &len);
	return address_format(&bound, text);
}

int activation_take(const struct sockaddr_storage *addr)
{
	char wanted[ADDRESS_TEXT_SIZE], text[ADDRESS_TEXT_SIZE];

	address_format(addr, wanted);
	for (int i = 0; i < inherited.n; i++) {
		int fd = inherited.fds[i];

		if (fd >= 0 && strcmp(address_of(fd, text), wanted) == 0) {
			inherited.fds[i] = -1;
			return fd;
		}
	}
	return -1;
}

enum status activation_check(struct reason *why)
{
	char text[ADDRESS_TEXT_SIZE];

	for (int i = 0; i < inherited.n; i++) {
		if (inherited.fds[i] >= 0)
			return reason_set(why,
			    "an inherited socket listens on %s, but no listen section has this "
			    "address: add it, or remove ListenStream from the socket unit",
			    address_of(inherited.fds[i], text));
	}
	return STATUS_OK;
}

void activation_close(void)
{
	for (int i = 0; i < inherited.n; i++) {
		if (inherited.fds[i] >= 0)
			close(inherited.fds[i]);
	}
	free(inherited.fds);
	inherited.fds = NULL;
	inherited.n = 0;
}
