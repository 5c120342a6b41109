/*
 * LD_PRELOAD: calls of a process on its IPv4 stream sockets misbehave as a kernel
 * may, at random, and its allocations fail. From the environment:
 *
 *     RUNNEL_FAULT_SEED    a number; without it nothing is done
 *     RUNNEL_FAULT_RATES   "short=200,eagain=100", in per mille of the calls:
 *         short            less is sent or received than was asked for
 *         eagain, eintr    of send, sendmsg and recv
 *         enobufs          of send and sendmsg
 *         accept           EINTR of accept4
 *         emfile           of accept4: the daemon turns a connection away
 *         malloc           malloc, calloc and realloc return NULL
 *     RUNNEL_FAULT_REPORT  a file; each process that made such calls adds a line of
 *                          what was done to it when it exits
 *
 * The same calls in the same order meet the same faults. Allocations fail only
 * once the process has accepted a connection, and only those of the program itself:
 * libev ends the process when one of its own fails.
 *
 * Not for programs with a sanitizer, which has such functions of its own.
 */
#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* More parts than the daemon gives to one sendmsg(2). */
#define MAX_PARTS 64

/* A short call moves 1 to 2^MAX_SHORT_BITS bytes; each power of two is as likely. */
#define MAX_SHORT_BITS 11

/* FAULT(name, rate): the name in the report, the name of its rate. */
#define FAULTS(FAULT)                \
	FAULT(short_send, short)     \
	FAULT(short_recv, short)     \
	FAULT(eagain_send, eagain)   \
	FAULT(eagain_recv, eagain)   \
	FAULT(eintr_send, eintr)     \
	FAULT(eintr_recv, eintr)     \
	FAULT(enobufs_send, enobufs) \
	FAULT(eintr_accept, accept)  \
	FAULT(emfile_accept, emfile) \
	FAULT(no_memory, malloc)

enum fault {
#define FAULT_ENUM(name, rate) FAULT_##name,
	FAULTS(FAULT_ENUM)
#undef FAULT_ENUM
	    N_FAULTS
};

static const char *const names[] = {
#define FAULT_NAME(name, rate) #name,
	FAULTS(FAULT_NAME)
#undef FAULT_NAME
};

static const char *const rate_names[] = {
#define FAULT_RATE(name, rate) #rate "=",
	FAULTS(FAULT_RATE)
#undef FAULT_RATE
};

static unsigned int rates[N_FAULTS];
static uint64_t n_done[N_FAULTS], n_calls;
static uint64_t state;
static bool is_on, is_armed;
static const char *report;

/* Where the program itself is mapped. */
static uintptr_t program_start, program_end;

/*
 * The C library's own names of its allocator: dlsym(3), which may allocate, takes
 * no part.
 */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *memory, size_t size);

/* splitmix64 */
static uint64_t draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static bool happens(enum fault fault)
{
	return rates[fault] > 0 && draw() % 1000 < rates[fault];
}

static bool fails(enum fault fault, int error)
{
	if (!happens(fault))
		return false;
	n_done[fault]++;
	errno = error;
	return true;
}

/* How much of len a short call moves. */
static size_t shorten(size_t len)
{
	size_t n = 1 + draw() % ((uint64_t)1 << draw() % (MAX_SHORT_BITS + 1));

	return n < len ? n : len;
}

/* The first object is the program. */
static int find_program(struct dl_phdr_info *info, size_t size, void *arg)
{
	(void)size;
	(void)arg;
	program_start = UINTPTR_MAX;
	for (unsigned int i = 0; i < info->dlpi_phnum; i++) {
		uintptr_t start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

		if (info->dlpi_phdr[i].p_type != PT_LOAD)
			continue;
		if (start < program_start)
			program_start = start;
		if (start + info->dlpi_phdr[i].p_memsz > program_end)
			program_end = start + info->dlpi_phdr[i].p_memsz;
	}
	return 1;
}

__attribute__((constructor)) static void fault_begin(void)
{
	const char *seed = getenv("RUNNEL_FAULT_SEED");
	const char *text = getenv("RUNNEL_FAULT_RATES");

	if (seed == NULL || text == NULL)
		return;
	report = getenv("RUNNEL_FAULT_REPORT");
	state = strtoull(seed, NULL, 10);
	for (int i = 0; i < N_FAULTS; i++) {
		const char *found = strstr(text, rate_names[i]);

		if (found != NULL)
			rates[i] =
			    (unsigned int)strtoul(found + strlen(rate_names[i]), NULL, 10);
	}
	dl_iterate_phdr(find_program, NULL);
	is_on = true;
}

__attribute__((destructor)) static void fault_end(void)
{
	char line[1024];
	int fd, len;

	is_armed = false;
	if (report == NULL || n_calls == 0)
		return;
	len = snprintf(line, sizeof(line), "calls=%llu", (unsigned long long)n_calls);
	for (int i = 0; i < N_FAULTS; i++)
		len += snprintf(line + len, sizeof(line) - (size_t)len, " %s=%llu", names[i],
		    (unsigned long long)n_done[i]);
	line[len++] = '\n';
	fd = open(report, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, line, (size_t)len) != len)
		perror(report);
	close(fd);
}

/*
 * An IPv4 stream? Channels between processes are not. Asked each time, as descriptors come and
 * go.
 */
static bool is_victim(int fd)
{
	int domain = 0, type = 0, error = errno;
	socklen_t len = sizeof(int);
	bool is_stream;

	if (!is_on)
		return false;
	is_stream = getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) == 0 &&
		    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
		    domain == AF_INET && type == SOCK_STREAM;
	errno = error;
	n_calls += is_stream;
	return is_stream;
}

static bool send_fails(void)
{
	return fails(FAULT_eagain_send, EAGAIN) || fails(FAULT_eintr_send, EINTR) ||
	       fails(FAULT_enobufs_send, ENOBUFS);
}

static void *next(const char *name)
{
	void *function = dlsym(RTLD_NEXT, name);

	if (function == NULL)
		abort();
	return function;
}

EXPORT ssize_t send(int fd, const void *data, size_t len, int flags)
{
	static ssize_t (*real)(int, const void *, size_t, int);
	size_t n;

	if (real == NULL)
		*(void **)&real = next("send");
	if (!is_victim(fd))
		return real(fd, data, len, flags);
	if (send_fails())
		return -1;
	if (len == 0 || !happens(FAULT_short_send))
		return real(fd, data, len, flags);
	n = shorten(len);
	n_done[FAULT_short_send] += n < len;
	return real(fd, data, n, flags);
}

/* Keep the first n bytes of the parts; returns how many parts those are. */
static size_t cut_parts(struct iovec *parts, size_t n_parts, size_t n)
{
	for (size_t i = 0; i < n_parts; i++) {
		if (n <= parts[i].iov_len) {
			parts[i].iov_len = n;
			return i + 1;
		}
		n -= parts[i].iov_len;
	}
	return n_parts;
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *msg, int flags)
{
	static ssize_t (*real)(int, const struct msghdr *, int);
	struct iovec parts[MAX_PARTS];
	struct msghdr cut = *msg;
	size_t len = 0, n;

	if (real == NULL)
		*(void **)&real = next("sendmsg");
	if (!is_victim(fd))
		return real(fd, msg, flags);
	if (send_fails())
		return -1;
	for (size_t i = 0; i < msg->msg_iovlen; i++)
		len += msg->msg_iov[i].iov_len;
	if (len == 0 || msg->msg_iovlen > MAX_PARTS || !happens(FAULT_short_send))
		return real(fd, msg, flags);
	n = shorten(len);
	n_done[FAULT_short_send] += n < len;
	memcpy(parts, msg->msg_iov, msg->msg_iovlen * sizeof(*parts));
	cut.msg_iov = parts;
	cut.msg_iovlen = cut_parts(parts, msg->msg_iovlen, n);
	return real(fd, &cut, flags);
}

EXPORT ssize_t recv(int fd, void *buf, size_t size, int flags)
{
	static ssize_t (*real)(int, void *, size_t, int);
	size_t most;
	ssize_t n;

	if (real == NULL)
		*(void **)&real = next("recv");
	if (!is_victim(fd))
		return real(fd, buf, size, flags);
	if (fails(FAULT_eagain_recv, EAGAIN) || fails(FAULT_eintr_recv, EINTR))
		return -1;
	if (size == 0 || !happens(FAULT_short_recv))
		return real(fd, buf, size, flags);
	most = shorten(size);
	n = real(fd, buf, most, flags);
	n_done[FAULT_short_recv] += most < size && n == (ssize_t)most;
	return n;
}

/* A connection that is not accepted stays in the backlog: nothing is lost here. */
EXPORT int accept4(
    int fd, struct sockaddr *restrict address, socklen_t *restrict len, int flags)
{
	static int (*real)(int, struct sockaddr *, socklen_t *, int);
	int accepted;

	if (real == NULL)
		*(void **)&real = next("accept4");
	if (!is_victim(fd))
		return real(fd, address, len, flags);
	if (fails(FAULT_eintr_accept, EINTR) || fails(FAULT_emfile_accept, EMFILE))
		return -1;
	accepted = real(fd, address, len, flags);
	is_armed |= accepted >= 0;
	return accepted;
}

static bool has_no_memory(const void *caller)
{
	if (!is_armed || (uintptr_t)caller < program_start || (uintptr_t)caller >= program_end)
		return false;
	return fails(FAULT_no_memory, ENOMEM);
}

EXPORT void *malloc(size_t size)
{
	return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *memory, size_t size)
{
	return has_no_memory(__builtin_return_address(0)) ? NULL : __libc_realloc(memory, size);
}
