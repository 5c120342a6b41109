/*
 * Under faults of the kernel: tests/shim/fault.c makes the calls of the workers
 * fall short and fail, and the streams of bytes must be the same as ever. Each
 * test looks at the shim's report, so that none passes because nothing happened.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/backend.h"
#include "system/client.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/process.h"
#include "system/relay.h"
#include "system/run.h"

#define SOCKET_FAULTS "short=200,eagain=100,eintr=50,enobufs=20,accept=500"
#define MEMORY_FAULTS "short=200,eagain=50,eintr=50,enobufs=20,accept=100,emfile=50,malloc=60"

#define MAX_PAYLOAD 2000

/* One of each kind of talker in turn; see talker_begin(). */
#define N_TALKERS 12
/* Of each; those of all seeds are a million. How many calls they take depends on the machine. */
#define N_FRAMES 8500
#define N_SEEDS 10

#define N_FRAGILE_FRAMES 300
#define N_FRAGILE_ROUNDS 20

#define N_RELAY_ROUNDS 300

#define N_FLOODS 4
#define N_PUSHES 5000

/* A client whose frames all come back: what it sends and what it expects are the same bytes. */
struct talker {
	struct bytes stream;
	size_t n_sent, n_received;
	size_t turn_end; /* how much may be sent now: all, or the frames of a turn */
	uint32_t random;
	int fd;
	bool is_half_duplex; /* it sends some frames, then waits for their replies */
	bool is_slow;        /* it reads a little, and now and then */
	bool is_over;        /* all is received, or the connection ended */
};

static uint32_t draw(uint32_t *random)
{
	*random = *random * 1664525u + 1013904223u;
	return *random >> 8;
}

/* 0 to most, and rather little: each power of two is as likely. */
static size_t draw_size(uint32_t *random, size_t most)
{
	unsigned int n_bits = 0;
	size_t size;

	while (most >> n_bits != 0)
		n_bits++;
	size = draw(random) % (1u << draw(random) % (n_bits + 1));
	return size < most ? size : most;
}

static void set_faults(const struct daemon *daemon, unsigned int seed, const char *rates)
{
	const char *given = getenv("LD_PRELOAD");
	char text[512];

	snprintf(text, sizeof(text), "%s/fault.so%s%s", SHIMS, given != NULL ? ":" : "",
	    given != NULL ? given : "");
	setenv("LD_PRELOAD", text, 1);
	snprintf(text, sizeof(text), "%u", seed);
	setenv("RUNNEL_FAULT_SEED", text, 1);
	setenv("RUNNEL_FAULT_RATES", rates, 1);
	snprintf(text, sizeof(text), "%s/faults", daemon->folder);
	setenv("RUNNEL_FAULT_REPORT", text, 1);
}

static struct daemon *start_echo(unsigned int n_workers, unsigned int seed, const char *rates)
{
	struct daemon *daemon = daemon_new(n_workers,
	    "module echo { }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { echo } when-full = pause\n"
	    "max-message = %u send-queue-messages = 8 send-queue-bytes = 16k }\n",
	    MAX_PAYLOAD);

	set_faults(daemon, seed, rates);
	daemon_start(daemon);
	return daemon;
}

/* The sum over all processes of what the shim has counted as name. */
static uint64_t n_reported(struct daemon *daemon, const char *name)
{
	char path[128], field[32];
	const char *at;
	uint64_t sum = 0;

	snprintf(path, sizeof(path), "%s/faults", daemon->folder);
	snprintf(field, sizeof(field), "%s=", name);
	at = daemon_read(daemon, path);
	while ((at = strstr(at, field)) != NULL) {
		at += strlen(field);
		sum += strtoull(at, NULL, 10);
	}
	return sum;
}

static void expect_faults(struct daemon *daemon, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ck_assert_msg(n_reported(daemon, names[i]) > 0, "no %s has happened", names[i]);
}

static void expect_send_faults(struct daemon *daemon)
{
	static const char *const names[] = { "short_send", "eagain_send", "eintr_send",
		"enobufs_send" };

	expect_faults(daemon, names, sizeof(names) / sizeof(names[0]));
}

static void expect_receive_faults(struct daemon *daemon)
{
	static const char *const names[] = { "short_recv", "eagain_recv", "eintr_recv",
		"eintr_accept" };

	expect_faults(daemon, names, sizeof(names) / sizeof(names[0]));
}

static unsigned int n_fds_of_workers(struct daemon *daemon)
{
	unsigned int n = 0;

	for (unsigned int slot = 0; slot < daemon->n_workers; slot++)
		n += process_n_fds(daemon_worker(daemon, slot));
	return n;
}

/* The daemon ends in order, with the workers that it began with. */
static void end_unharmed(struct daemon *daemon, unsigned int n_fds)
{
	WAIT_FOR(n_fds_of_workers(daemon) == n_fds);
	for (unsigned int slot = 0; slot < daemon->n_workers; slot++)
		ck_assert_uint_eq(daemon_n_started(daemon, slot), 1);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_worker_died", 0);
}

static void add_frames(struct talker *talker, unsigned int n)
{
	static uint8_t noise[2 * MAX_PAYLOAD];

	for (size_t i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)draw(&talker->random);
	for (unsigned int i = 0; i < n; i++) {
		uint32_t id = draw(&talker->random);
		size_t len = draw_size(&talker->random, MAX_PAYLOAD);

		bytes_add_tlv(
		    &talker->stream, id, noise + draw(&talker->random) % MAX_PAYLOAD, len);
	}
}

static void talker_begin(
    struct talker *talker, uint16_t port, uint32_t seed, unsigned int n_frames)
{
	*talker = (struct talker){ .random = seed * 2654435761u,
		.is_half_duplex = seed % 3 == 0,
		.is_slow = seed % 3 == 1 };
	add_frames(talker, n_frames);
	talker->turn_end = talker->is_half_duplex ? 0 : talker->stream.len;
	talker->fd = client_connect(port);
}

static void talker_end(struct talker *talker)
{
	close(talker->fd);
	bytes_free(&talker->stream);
}

/* All replies of a turn are there: the next one. */
static void take_turn(struct talker *talker)
{
	unsigned int n = 1 + draw(&talker->random) % 16;

	while (n-- > 0 && talker->turn_end < talker->stream.len) {
		const uint8_t *head = talker->stream.data + talker->turn_end;

		talker->turn_end += 8u + ((uint32_t)head[6] << 8 | head[7]);
	}
}

/* The end of a connection that may end; else it fails the test. */
static void end_early(struct talker *talker, bool may_end, const char *why)
{
	ck_assert_msg(may_end, "%zu of %zu bytes sent, %zu received, then %s", talker->n_sent,
	    talker->stream.len, talker->n_received, why);
	talker->is_over = true;
}

static void talker_send(struct talker *talker, bool may_end)
{
	size_t n = 1 + draw_size(&talker->random, talker->turn_end - talker->n_sent - 1);
	ssize_t n_taken = send(
	    talker->fd, talker->stream.data + talker->n_sent, n, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n_taken > 0)
		talker->n_sent += (size_t)n_taken;
	else if (errno != EAGAIN)
		end_early(talker, may_end, strerror(errno));
}

static void talker_receive(struct talker *talker, bool may_end)
{
	uint8_t buf[65536];
	size_t size = talker->is_slow ? 1 + draw_size(&talker->random, 16384) : sizeof(buf);
	ssize_t n = recv(talker->fd, buf, size, MSG_DONTWAIT);

	if (n <= 0) {
		end_early(talker, may_end, n == 0 ? "EOF" : strerror(errno));
		return;
	}
	ck_assert_msg(
	    (size_t)n <= talker->n_sent - talker->n_received, "more is received than was sent");
	ck_assert_msg(memcmp(buf, talker->stream.data + talker->n_received, (size_t)n) == 0,
	    "the reply is wrong within %zd bytes after %zu", n, talker->n_received);
	talker->n_received += (size_t)n;
	if (talker->n_received == talker->stream.len)
		talker->is_over = true;
}

/* What a talker waits for; a slow one does not always read what is there. */
static short wanted_events(struct talker *talker)
{
	short events = 0;

	if (talker->is_over)
		return 0;
	if (talker->is_half_duplex && talker->n_received == talker->turn_end)
		take_turn(talker);
	if (talker->n_sent < talker->turn_end)
		events |= POLLOUT;
	if (!talker->is_slow || draw(&talker->random) % 4 == 0)
		events |= POLLIN;
	return events;
}

/* One look at all of them; false: all are over. */
static bool talk_once(struct talker *talkers, int n, bool may_end)
{
	struct pollfd waits[N_TALKERS];
	bool is_any_left = false;

	for (int i = 0; i < n; i++) {
		waits[i] = (struct pollfd){ .fd = talkers[i].is_over ? -1 : talkers[i].fd,
			.events = wanted_events(&talkers[i]) };
		is_any_left |= !talkers[i].is_over;
	}
	if (!is_any_left)
		return false;
	/* Briefly, for the sake of the slow ones. */
	ck_assert_int_ge(poll(waits, (nfds_t)n, 1), 0);
	for (int i = 0; i < n; i++) {
		if (waits[i].revents & POLLOUT)
			talker_send(&talkers[i], may_end);
		if (!talkers[i].is_over && waits[i].revents & ~POLLOUT)
			talker_receive(&talkers[i], may_end);
	}
	return true;
}

/* Until all is received, or with may_end until connections have ended. */
static void talk(struct talker *talkers, int n, bool may_end)
{
	uint64_t end_ms = wait_now_ms() + DEADLINE_MS;

	while (talk_once(talkers, n, may_end))
		ck_assert_msg(wait_now_ms() < end_ms, "the replies do not come");
}

static void echo_under_faults(unsigned int n_workers, unsigned int seed)
{
	struct daemon *daemon = start_echo(n_workers, seed, SOCKET_FAULTS);
	unsigned int n_fds = n_fds_of_workers(daemon);
	struct talker talkers[N_TALKERS];

	for (unsigned int i = 0; i < N_TALKERS; i++)
		talker_begin(
		    &talkers[i], daemon_port(daemon, "main"), seed * N_TALKERS + i, N_FRAMES);
	talk(talkers, N_TALKERS, false);
	for (int i = 0; i < N_TALKERS; i++) {
		shutdown(talkers[i].fd, SHUT_WR);
		client_expect_eof(talkers[i].fd);
		talker_end(&talkers[i]);
	}
	end_unharmed(daemon, n_fds);
	expect_send_faults(daemon);
	expect_receive_faults(daemon);
	daemon_expect_counter(daemon, "frames_in", N_TALKERS * N_FRAMES);
	daemon_expect_counter(daemon, "frames_out", N_TALKERS * N_FRAMES);
	daemon_expect_counter(daemon, "sends_refused", 0);
	daemon_expect_counter(daemon, "closed_peer", N_TALKERS);
	ck_assert_uint_gt(daemon_counter(daemon, "drains_cut"), 0);
	daemon_destroy(&daemon);
}

START_TEST(every_stream_comes_back_byte_for_byte)
{
	echo_under_faults(1, (unsigned int)_i);
}
END_TEST

START_TEST(so_it_does_from_two_workers)
{
	echo_under_faults(2, N_SEEDS);
}
END_TEST

/* The pushes of a flood that come are in order. Returns how many frames came, and *result. */
static uint32_t count_flood(int fd, size_t size, uint32_t *result)
{
	uint8_t frame[MAX_PAYLOAD], head;
	uint32_t n_pushes = 0, next = 0, number, id;

	*result = UINT32_MAX;
	while (recv(fd, &head, 1, MSG_PEEK) == 1) {
		size_t len = client_receive_tlv(fd, &id, frame, sizeof(frame));

		number = (uint32_t)frame[0] << 24 | (uint32_t)frame[1] << 16 |
			 (uint32_t)frame[2] << 8 | frame[3];
		ck_assert_msg(*result == UINT32_MAX, "a frame behind the result");
		if (id == PROBE_RESULT) {
			*result = number;
			continue;
		}
		ck_assert_msg(id == PROBE_PUSH && len == size && number >= next,
		    "push %" PRIu32 " has id %" PRIu32 ", %zu bytes", number, id, len);
		next = number + 1;
		n_pushes++;
	}
	client_expect_eof(fd);
	return n_pushes;
}

/* asked = taken + refused, and what is taken is what is read, as whole frames in order. */
START_TEST(every_send_is_taken_or_refused_and_counted)
{
	struct daemon *daemon = daemon_new(1,
	    PROBE_SECTION "listen main { address = \"127.0.0.1:0\" modules = { probe }\n"
			  "when-full = refuse send-queue-messages = 50 }\n");
	static const size_t sizes[N_FLOODS] = { 4, 100, 1000, MAX_PAYLOAD };
	unsigned int n_fds, n_taken = 0;
	int fds[N_FLOODS];

	set_faults(daemon, (unsigned int)_i, SOCKET_FAULTS);
	daemon_start(daemon);
	n_fds = n_fds_of_workers(daemon);
	for (int i = 0; i < N_FLOODS; i++) {
		fds[i] = client_connect(daemon_port(daemon, "main"));
		probe_send(fds[i], PROBE_FLOOD, 2, N_PUSHES, (uint32_t)sizes[i]);
		shutdown(fds[i], SHUT_WR);
	}
	for (int i = 0; i < N_FLOODS; i++) {
		uint32_t result;
		uint32_t n_pushes = count_flood(fds[i], sizes[i], &result);

		/* The result itself may have been refused. */
		ck_assert(result == UINT32_MAX || result == n_pushes);
		n_taken += n_pushes + (result != UINT32_MAX);
		close(fds[i]);
	}
	end_unharmed(daemon, n_fds);
	expect_send_faults(daemon);
	daemon_expect_counter(daemon, "frames_out", n_taken);
	daemon_expect_counter(daemon, "sends_refused", N_FLOODS * (N_PUSHES + 1) - n_taken);
	ck_assert_uint_gt(daemon_counter(daemon, "sends_refused"), 0);
	daemon_destroy(&daemon);
}
END_TEST

/* A new connection is served, even if not the first. */
static bool is_served(uint16_t port)
{
	int fd = client_try_connect(port);
	bool is_answered = fd >= 0 && client_try_ping(fd);

	if (fd >= 0)
		close(fd);
	return is_answered;
}

/*
 * No memory, or no descriptor: that connection ends, and what it got until then is
 * right. The worker goes on, and so do others.
 */
START_TEST(failed_allocation_ends_a_connection_at_most)
{
	static const char *const names[] = { "no_memory", "emfile_accept" };
	struct daemon *daemon = start_echo(1, (unsigned int)_i, MEMORY_FAULTS);
	unsigned int n_fds = n_fds_of_workers(daemon), n_ended = 0, n_whole = 0;
	struct talker talkers[N_TALKERS];

	for (unsigned int round = 0; round < N_FRAGILE_ROUNDS; round++) {
		for (unsigned int i = 0; i < N_TALKERS; i++)
			talker_begin(&talkers[i], daemon_port(daemon, "main"),
			    ((unsigned int)_i * N_FRAGILE_ROUNDS + round) * N_TALKERS + i,
			    N_FRAGILE_FRAMES);
		talk(talkers, N_TALKERS, true);
		for (int i = 0; i < N_TALKERS; i++) {
			bool is_whole = talkers[i].n_received == talkers[i].stream.len;

			n_whole += is_whole;
			n_ended += !is_whole;
			talker_end(&talkers[i]);
		}
		WAIT_FOR(is_served(daemon_port(daemon, "main")));
	}
	ck_assert_uint_gt(n_ended, 0);
	ck_assert_uint_gt(n_whole, 0);
	end_unharmed(daemon, n_fds);
	expect_send_faults(daemon);
	expect_receive_faults(daemon);
	expect_faults(daemon, names, sizeof(names) / sizeof(names[0]));
	ck_assert_uint_gt(daemon_counter(daemon, "closed_error"), 0);
	ck_assert_uint_gt(daemon_counter(daemon, "rejected"), 0);
	daemon_destroy(&daemon);
}
END_TEST

/* The next frame; false: the connection has ended. */
static bool try_receive(int fd, struct message *message)
{
	uint8_t head[8];

	if (recv(fd, head, sizeof(head), MSG_WAITALL) != sizeof(head))
		return false;
	message->id = (uint32_t)head[0] << 24 | (uint32_t)head[1] << 16 |
		      (uint32_t)head[2] << 8 | head[3];
	message->len = (size_t)head[6] << 8 | head[7];
	ck_assert_uint_le(message->len, MESSAGE_SIZE);
	return recv(fd, message->payload, message->len, MSG_WAITALL) == (ssize_t)message->len;
}

/* What a client asks in a round, which is no other's. */
static void add_request(struct bytes *request, unsigned int client, unsigned int round)
{
	bytes_add_filled(request, 5, client << 16 | round, 8 + round % 300);
}

static void end_client(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void ask(int *fd, uint16_t port, unsigned int client, unsigned int round)
{
	struct bytes request = { 0 };

	add_request(&request, client, round);
	if (*fd < 0)
		*fd = client_try_connect(port);
	if (*fd >= 0 && !client_try_send(*fd, request.data, request.len))
		end_client(fd);
	bytes_free(&request);
}

/* True: the reply has come, and not a failure or the end. */
static bool take_reply(int *fd, unsigned int client, unsigned int round)
{
	struct bytes request = { 0 };
	struct message reply;

	if (*fd < 0 || !try_receive(*fd, &reply)) {
		end_client(fd);
		return false;
	}
	if (reply.id == RELAY_FAILURE)
		return false;
	add_request(&request, client, round);
	ck_assert_uint_eq(reply.len, request.len - 8);
	ck_assert_int_eq(memcmp(reply.payload, request.data + 8, reply.len), 0);
	bytes_free(&request);
	return true;
}

/* Whatever fails, in the relay or on its way to its backend, each reply is the asker's own. */
START_TEST(relayed_replies_are_the_clients_own)
{
	static const char *const matches[] = { "tag", "order" };
	struct daemon *backend = daemon_new(1,
	    "module echo { }\nlisten main { address = \"127.0.0.1:0\" modules = { echo } }\n");
	struct daemon *relay;
	int fds[N_TALKERS];
	unsigned int n_replies = 0;

	daemon_start(backend);
	relay = daemon_new(2,
	    "module relay { upstream = game match = %s on-failure = tell }\n"
	    "connect game { address = \"127.0.0.1:%u\" modules = { relay }\n"
	    "reconnect-min = 1ms reconnect-max = 5ms }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { relay } }\n",
	    matches[_i], daemon_port(backend, "main"));
	set_faults(relay, (unsigned int)_i, MEMORY_FAULTS);
	daemon_start(relay);
	memset(fds, -1, sizeof(fds));
	for (unsigned int round = 0; round < N_RELAY_ROUNDS; round++) {
		for (unsigned int i = 0; i < N_TALKERS; i++)
			ask(&fds[i], daemon_port(relay, "main"), i, round);
		for (unsigned int i = 0; i < N_TALKERS; i++)
			n_replies += take_reply(&fds[i], i, round);
	}
	for (int i = 0; i < N_TALKERS; i++)
		end_client(&fds[i]);
	ck_assert_uint_gt(n_replies, N_RELAY_ROUNDS);
	daemon_end(relay);
	expect_send_faults(relay);
	expect_receive_faults(relay);
	ck_assert_uint_gt(n_reported(relay, "no_memory"), 0);
	ck_assert_uint_eq(daemon_n_started(relay, 0) + daemon_n_started(relay, 1), 2);
	ck_assert_uint_gt(daemon_counter(relay, "connected"), 2);
	daemon_destroy(&relay);
	daemon_stop(&backend);
}
END_TEST

/* What automake takes for a test that was skipped. */
#define EXIT_SKIPPED 77

int main(void)
{
	Suite *suite = suite_create("g_faults");
	TCase *sockets = run_case(suite, "sockets");
	TCase *memory = run_case(suite, "memory");

	if (RUN_IS_SANITIZED) {
		puts("skipped: the shim and a sanitizer replace the same functions");
		return EXIT_SKIPPED;
	}
	tcase_add_loop_test(sockets, every_stream_comes_back_byte_for_byte, 0, N_SEEDS);
	tcase_add_test(sockets, so_it_does_from_two_workers);
	tcase_add_loop_test(sockets, every_send_is_taken_or_refused_and_counted, 0, 2);
	tcase_add_loop_test(memory, failed_allocation_ends_a_connection_at_most, 0, 2);
	tcase_add_loop_test(memory, relayed_replies_are_the_clients_own, 0, 2);
	return run_suite(suite);
}
