/*
 * The small server is a process with blocking sockets and poll: its clients are few and their
 * requests short, so nothing it writes has to wait.
 */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/bench_server.h"

#define CONNECTIONS_MAX 64
#define FAULTY_REQUEST 4
#define DEADLY_REQUEST 10
#define SIP_MS 10

struct peer {
	int fd;
	unsigned int n_requests;
	size_t n_bytes; /* seen by FAULT_SATED */
	size_t len;     /* bytes of an incomplete frame, or of one that waits to be swapped */
	uint8_t frames[2 * BENCH_FRAME];
};

static enum fault fault;
static struct bench_server_counts *counts;

/* The sockets block, so a send is whole, or the peer is gone. */
static void send_bytes(const struct peer *peer, const uint8_t *bytes, size_t len)
{
	if (send(peer->fd, bytes, len, MSG_NOSIGNAL) < 0 && errno != EPIPE &&
	    errno != ECONNRESET)
		_exit(EXIT_FAILURE);
}

static void reset(struct peer *peer)
{
	const struct linger at_once = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
}

/* The reply that shows the fault. False: close the connection. */
static bool answer_faulty(struct peer *peer, uint8_t *frame)
{
	switch (fault) {
	case FAULT_WRONG_ID:
		frame[3] ^= 0x10;
		break;
	case FAULT_WRONG_LENGTH:
		frame[7] ^= 1;
		break;
	case FAULT_WRONG_BYTE:
		frame[BENCH_FRAME - 1] ^= 1;
		break;
	case FAULT_HALF:
		send_bytes(peer, frame, BENCH_FRAME / 2);
		return false;
	case FAULT_RESET:
		reset(peer);
		return false;
	case FAULT_CLOSE:
		return false;
	case FAULT_HANG:
	case FAULT_SILENT:
		return true;
	default:
		break;
	}
	send_bytes(peer, frame, BENCH_FRAME);
	return true;
}

static bool answer(struct peer *peer, uint8_t *frame)
{
	uint8_t twice[2 * BENCH_FRAME];
	size_t i;

	__atomic_add_fetch(&counts->requests, 1, __ATOMIC_RELAXED);
	if (fault == FAULT_DIE && counts->requests == DEADLY_REQUEST)
		_exit(EXIT_SUCCESS);
	if (++peer->n_requests == FAULTY_REQUEST)
		return answer_faulty(peer, frame);
	if (fault == FAULT_SILENT || (fault == FAULT_HANG && peer->n_requests > FAULTY_REQUEST))
		return true;
	if (fault == FAULT_TRICKLE) {
		for (i = 0; i < BENCH_FRAME; i++)
			send_bytes(peer, frame + i, 1);
		return true;
	}
	memcpy(twice, frame, BENCH_FRAME);
	memcpy(twice + BENCH_FRAME, frame, BENCH_FRAME);
	send_bytes(peer, twice, fault == FAULT_TWICE ? sizeof(twice) : BENCH_FRAME);
	return true;
}

/* Answer what is whole in peer->frames. */
static bool answer_all(struct peer *peer)
{
	if (fault == FAULT_SWAP) {
		if (peer->len < 2 * BENCH_FRAME)
			return true;
		send_bytes(peer, peer->frames + BENCH_FRAME, BENCH_FRAME);
		send_bytes(peer, peer->frames, BENCH_FRAME);
		peer->len = 0;
		return true;
	}
	while (peer->len >= BENCH_FRAME) {
		if (!answer(peer, peer->frames))
			return false;
		peer->len -= BENCH_FRAME;
		memmove(peer->frames, peer->frames + BENCH_FRAME, peer->len);
	}
	return true;
}

/* Echo or drop what comes, whatever it is. */
static bool serve_bytes(struct peer *peer)
{
	static uint8_t bytes[65536];
	ssize_t n = recv(peer->fd, bytes, sizeof(bytes), 0);

	if (n <= 0)
		return false;
	peer->n_bytes += (size_t)n;
	if (fault == FAULT_SATED)
		send_bytes(peer, bytes, (size_t)n);
	return true;
}

/* False: the connection is over. */
static bool serve(struct peer *peer)
{
	ssize_t n;

	if (fault == FAULT_SIP || fault == FAULT_SATED)
		return serve_bytes(peer);
	n = recv(peer->fd, peer->frames + peer->len, sizeof(peer->frames) - peer->len, 0);
	if (n <= 0)
		return false;
	peer->len += (size_t)n;
	return answer_all(peer);
}

/* False: the connection is over already. */
static bool greet(struct peer *peer)
{
	static const int on = 1;

	setsockopt(peer->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	__atomic_add_fetch(&counts->accepted, 1, __ATOMIC_RELAXED);
	if (fault == FAULT_UNASKED)
		send_bytes(peer, (const uint8_t *)"hello", 5);
	return fault != FAULT_DROP;
}

static bool wants_to_read(const struct peer *peer)
{
	return fault != FAULT_DEAF && (fault != FAULT_SATED || peer->n_bytes < BENCH_SATED);
}

/* Time between sips is what makes this server slow. */
static void digest(void)
{
	if (fault == FAULT_SIP)
		poll(NULL, 0, SIP_MS);
}

static _Noreturn void serve_all(int listen_fd)
{
	static struct peer peers[CONNECTIONS_MAX];
	struct pollfd fds[CONNECTIONS_MAX + 1];
	nfds_t i, n = 0;

	for (;; digest()) {
		fds[0] = (struct pollfd){ .fd = listen_fd, .events = POLLIN };
		for (i = 0; i < n; i++)
			fds[i + 1] = (struct pollfd){ .fd = peers[i].fd,
				.events = wants_to_read(&peers[i]) ? POLLIN : 0 };
		if (poll(fds, n + 1, -1) < 0)
			_exit(EXIT_FAILURE);
		/* From the end: the last takes the place of one that is over. */
		for (i = n; i-- > 0;) {
			if (fds[i + 1].revents == 0 || serve(&peers[i]))
				continue;
			close(peers[i].fd);
			peers[i] = peers[--n];
		}
		if (fds[0].revents != 0 && n < CONNECTIONS_MAX) {
			peers[n] = (struct peer){ .fd = accept(listen_fd, NULL, NULL) };
			if (greet(&peers[n]))
				n++;
			else
				close(peers[n].fd);
		}
	}
}

/* Connections that fill the backlog of a socket that nobody accepts from. */
static _Noreturn void be_full(int listen_fd)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);
	int i, fd;

	getsockname(listen_fd, (struct sockaddr *)&address, &len);
	for (i = 0; i < 4; i++) {
		fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
		if (connect(fd, (struct sockaddr *)&address, len) < 0 && errno != EINPROGRESS)
			_exit(EXIT_FAILURE);
	}
	__atomic_add_fetch(&counts->accepted, 1, __ATOMIC_RELAXED);
	for (;;)
		pause();
}

int bench_server_hold_port(struct bench_server *server)
{
	struct sockaddr_in address = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	snprintf(server->address, sizeof(server->address), "127.0.0.1:%u",
	    (unsigned int)ntohs(address.sin_port));
	return fd;
}

static int listen_somewhere(struct bench_server *server, int backlog)
{
	static const int room = 65536;
	int fd = bench_server_hold_port(server);

	/* Little room, so that a request of 16M cannot hide in it. */
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room)), 0);
	ck_assert_int_eq(listen(fd, backlog), 0);
	return fd;
}

static pid_t fork_server(void)
{
	pid_t parent = getpid(), pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		/* Those of check would end the test. */
		signal(SIGTERM, SIG_DFL);
		signal(SIGINT, SIG_DFL);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(EXIT_FAILURE);
	}
	return pid;
}

void bench_server_start(struct bench_server *server, enum fault its_fault)
{
	int listen_fd = listen_somewhere(server, its_fault == FAULT_FULL ? 0 : 64);

	fault = its_fault;
	counts = mmap(
	    NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(counts != MAP_FAILED);
	server->counts = counts;
	server->pid = fork_server();
	if (server->pid == 0) {
		if (fault == FAULT_FULL)
			be_full(listen_fd);
		serve_all(listen_fd);
	}
	close(listen_fd);
	/* The backlog is filled from inside; anybody else listens since before the fork. */
	while (fault == FAULT_FULL && __atomic_load_n(&counts->accepted, __ATOMIC_RELAXED) == 0)
		sched_yield();
}

void bench_server_start_floor(struct bench_server *server)
{
	char line[64] = "";
	int fds[2];
	FILE *out;

	ck_assert_int_eq(pipe(fds), 0);
	server->counts = NULL;
	server->pid = fork_server();
	if (server->pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execl("contrib/bench/floor", "floor", "-w", "2", (char *)NULL);
		_exit(EXIT_FAILURE);
	}
	close(fds[1]);
	out = fdopen(fds[0], "r");
	ck_assert_ptr_nonnull(fgets(line, sizeof(line), out));
	ck_assert_int_eq(sscanf(line, "listening on %31s", server->address), 1);
	fclose(out);
}

void bench_server_end(struct bench_server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	if (server->counts != NULL)
		munmap(server->counts, sizeof(*server->counts));
}
