/*
 * io: the send queue against a simple reference, unread input, listening sockets.
 */
#include "config.h"

#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/connect.h"
#include "io/endpoint.h"
#include "io/input.h"
#include "io/listen.h"
#include "io/sendq.h"

#define UNBOUNDED (1u << 30)

static const struct sendq_limits wide = { .max_messages = UNBOUNDED, .max_bytes = UNBOUNDED };

/* A stream that takes little before it says EAGAIN. */
static void make_pair(int ends[2])
{
	int size = 4096;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
	ck_assert_int_eq(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size)), 0);
}

static enum rnl_status push(struct sendq *q, struct chunk_pool *pool,
    const struct sendq_limits *limits, const void *bytes, size_t len)
{
	enum rnl_status status = sendq_reserve(q, pool, limits, len);

	if (status != RNL_OK)
		return status;
	memcpy(q->at, bytes, len);
	sendq_commit(q, len);
	return RNL_OK;
}

START_TEST(an_empty_queue_holds_no_memory)
{
	struct chunk_pool pool;
	struct sendq q;
	int ends[2];
	char got[8];
	size_t n;

	make_pair(ends);
	chunk_pool_init(&pool, UNBOUNDED);
	sendq_init(&q);
	ck_assert_int_eq(push(&q, &pool, &wide, "abc", 3), RNL_OK);
	ck_assert_int_eq(push(&q, &pool, &wide, "defg", 4), RNL_OK);
	ck_assert_uint_eq(q.n_messages, 2);
	ck_assert_uint_eq(pool.held_bytes, q.held_bytes);
	ck_assert_int_eq(sendq_drain(&q, &pool, ends[0], &n), DRAIN_EMPTY);
	ck_assert_uint_eq(n, 7);
	ck_assert(sendq_is_empty(&q));
	ck_assert_uint_eq(q.n_messages, 0);
	ck_assert_uint_eq(q.held_bytes, 0);
	ck_assert_uint_eq(pool.held_bytes, 0);
	ck_assert_int_eq(read(ends[1], got, sizeof(got)), 7);
	ck_assert_mem_eq(got, "abcdefg", 7);
	ck_assert_uint_eq(chunk_pool_destroy(&pool), 0);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(the_limit_of_messages_is_exact)
{
	const struct sendq_limits limits = { .max_messages = 3, .max_bytes = UNBOUNDED };
	struct chunk_pool pool;
	struct sendq q;

	chunk_pool_init(&pool, UNBOUNDED);
	sendq_init(&q);
	for (int i = 0; i < 3; i++) {
		ck_assert(sendq_has_room(&q, &limits, 1));
		ck_assert_int_eq(push(&q, &pool, &limits, "x", 1), RNL_OK);
	}
	ck_assert(!sendq_has_room(&q, &limits, 1));
	ck_assert_int_eq(push(&q, &pool, &limits, "x", 1), RNL_EFULL);
	ck_assert_uint_eq(q.n_messages, 3);
	sendq_clear(&q, &pool);
	ck_assert_uint_eq(chunk_pool_destroy(&pool), 0);
}
END_TEST

START_TEST(held_memory_never_exceeds_the_limit)
{
	static const char bytes[300];
	const struct sendq_limits limits = { .max_messages = UNBOUNDED, .max_bytes = 10000 };
	struct chunk_pool pool;
	struct sendq q;
	size_t n_taken = 0;

	chunk_pool_init(&pool, UNBOUNDED);
	sendq_init(&q);
	for (;;) {
		bool has_room = sendq_has_room(&q, &limits, sizeof(bytes));
		enum rnl_status status = push(&q, &pool, &limits, bytes, sizeof(bytes));

		ck_assert_int_eq(status == RNL_OK, has_room);
		ck_assert_uint_le(q.held_bytes, limits.max_bytes);
		if (status != RNL_OK) {
			ck_assert_int_eq(status, RNL_EFULL);
			break;
		}
		n_taken++;
	}
	/* Bookkeeping is small beside what it keeps. */
	ck_assert_uint_ge(n_taken * sizeof(bytes), limits.max_bytes * 8 / 10);
	sendq_clear(&q, &pool);
	ck_assert_uint_eq(chunk_pool_destroy(&pool), 0);
}
END_TEST

START_TEST(what_never_fits_is_too_big_and_not_full)
{
	static const char bytes[4096];
	const struct sendq_limits limits = { .max_messages = 2, .max_bytes = 4096 };
	struct chunk_pool pool;
	struct sendq q;

	chunk_pool_init(&pool, UNBOUNDED);
	sendq_init(&q);
	ck_assert_int_eq(push(&q, &pool, &limits, bytes, sizeof(bytes)), RNL_ETOOBIG);
	ck_assert_int_eq(push(&q, &pool, &limits, bytes, 2000), RNL_OK);
	ck_assert_int_eq(push(&q, &pool, &limits, bytes, 2000), RNL_OK);
	ck_assert_int_eq(push(&q, &pool, &limits, bytes, sizeof(bytes)), RNL_ETOOBIG);
	ck_assert_int_eq(sendq_reserve(&q, &pool, &limits, SIZE_MAX - 3), RNL_ETOOBIG);
	ck_assert_int_eq(push(&q, &pool, &limits, bytes, 1), RNL_EFULL);
	sendq_clear(&q, &pool);
	ck_assert_uint_eq(chunk_pool_destroy(&pool), 0);
}
END_TEST

START_TEST(the_pool_refuses_beyond_its_budget)
{
	static const char bytes[900];
	struct chunk_pool pool;
	struct sendq one, other;

	chunk_pool_init(&pool, 4096);
	sendq_init(&one);
	sendq_init(&other);
	while (push(&one, &pool, &wide, bytes, sizeof(bytes)) == RNL_OK)
		ck_assert_uint_le(pool.held_bytes, pool.max_bytes);
	ck_assert_int_eq(push(&other, &pool, &wide, bytes, sizeof(bytes)), RNL_EFULL);
	ck_assert(sendq_is_empty(&other));
	sendq_clear(&one, &pool);
	ck_assert_int_eq(push(&other, &pool, &wide, bytes, sizeof(bytes)), RNL_OK);
	sendq_clear(&other, &pool);
	ck_assert_uint_eq(chunk_pool_destroy(&pool), 0);
}
END_TEST

START_TEST(a_shared_frame_is_kept_once_and_sent_to_all)
{
	const struct sendq_limits limits = { .max_messages = 100, .max_bytes = 20000 };
	struct chunk_pool pool;
	struct sendq queues[2];
	struct shared_frame *frame;
	uint64_t held_by_frame;
	int ends[2][2];
	char got[4096];
	size_t n;

	chunk_pool_init(&pool, UNBOUNDED);
	ck_assert_int_eq(shared_frame_new(&pool, 1500, &frame), RNL_OK);
	memset(frame->bytes, 's', 1500);
	held_by_frame = pool.held_bytes;
	ck_assert_uint_ge(held_by_frame, 1500);
	for (int i = 0; i < 2; i++) {
		make_pair(ends[i]);
		sendq_init(&queues[i]);
		ck_assert_int_eq(sendq_push_shared(&queues[i], &pool, &limits, frame), RNL_OK);
	}
	/* What a receiver costs beyond the frame. */
	ck_assert_uint_le(pool.held_bytes - held_by_frame, 2 * 64);
	ck_assert_uint_ge(queues[0].held_bytes, 1500);
	ck_assert_int_eq(push(&queues[0], &pool, &limits, "own", 3), RNL_OK);
	ck_assert_int_eq(sendq_push_shared(&queues[0], &pool, &limits, frame), RNL_OK);
	ck_assert_uint_eq(queues[0].n_messages, 3);
	shared_frame_release(&frame);
	ck_assert_ptr_null(frame);
	ck_assert_int_eq(sendq_drain(&queues[0], &pool, ends[0][0], &n), DRAIN_EMPTY);
	ck_assert_uint_eq(n, 3003);
	ck_assert_int_eq(read(ends[0][1], got, sizeof(got)), 3003);
	ck_assert_int_eq(got[0], 's');
	ck_assert_mem_eq(got + 1499, "sowns", 5);
	ck_assert_int_eq(got[3002], 's');
	ck_assert_uint_ge(pool.held_bytes, held_by_frame);
	sendq_clear(&queues[1], &pool);
	ck_assert_uint_eq(chunk_pool_destroy(&pool), 0);
	for (int i = 0; i < 2; i++) {
		close(ends[i][0]);
		close(ends[i][1]);
	}
}
END_TEST

START_TEST(shared_frames_keep_to_the_limits)
{
	const struct sendq_limits limits = { .max_messages = 3, .max_bytes = 5000 };
	struct chunk_pool pool;
	struct shared_frame *frame, *large;
	struct sendq q;

	chunk_pool_init(&pool, 20000);
	sendq_init(&q);
	ck_assert_int_eq(shared_frame_new(&pool, 20000, &frame), RNL_ETOOBIG);
	ck_assert_int_eq(shared_frame_new(&pool, 2000, &frame), RNL_OK);
	ck_assert_int_eq(shared_frame_new(&pool, 6000, &large), RNL_OK);
	ck_assert_int_eq(sendq_push_shared(&q, &pool, &limits, large), RNL_ETOOBIG);
	ck_assert_int_eq(sendq_push_shared(&q, &pool, &limits, frame), RNL_OK);
	ck_assert_int_eq(sendq_push_shared(&q, &pool, &limits, frame), RNL_OK);
	ck_assert_int_eq(sendq_push_shared(&q, &pool, &limits, frame), RNL_EFULL);
	ck_assert_uint_le(q.held_bytes, limits.max_bytes);
	sendq_clear(&q, &pool);
	shared_frame_release(&frame);
	shared_frame_release(&large);
	ck_assert_uint_eq(chunk_pool_destroy(&pool), 0);
}
END_TEST

/* As in a chat: what is said to all, and what is said to one, in turn. */
START_TEST(frames_between_shared_ones_waste_little)
{
	static const char bytes[300];
	const struct sendq_limits limits = { .max_messages = UNBOUNDED, .max_bytes = 1 << 20 };
	struct chunk_pool pool;
	struct shared_frame *frame;
	struct sendq q;
	size_t n = 0;

	chunk_pool_init(&pool, UNBOUNDED);
	sendq_init(&q);
	ck_assert_int_eq(shared_frame_new(&pool, 300, &frame), RNL_OK);
	while (sendq_push_shared(&q, &pool, &limits, frame) == RNL_OK &&
	       push(&q, &pool, &limits, bytes, sizeof(bytes)) == RNL_OK)
		n++;
	ck_assert_uint_ge(n, 700);
	sendq_clear(&q, &pool);
	shared_frame_release(&frame);
	chunk_pool_destroy(&pool);
}
END_TEST

START_TEST(an_abandoned_reservation_is_forgotten)
{
	struct chunk_pool pool;
	struct sendq q;
	int ends[2];
	char got[16];
	size_t n;

	make_pair(ends);
	chunk_pool_init(&pool, UNBOUNDED);
	sendq_init(&q);
	ck_assert(!sendq_tail_has_room(&q, 0));
	ck_assert_int_eq(sendq_reserve(&q, &pool, &wide, 5000), RNL_OK);
	ck_assert(sendq_tail_has_room(&q, 5000));
	ck_assert_uint_eq(q.n_messages, 0);
	ck_assert_int_eq(sendq_drain(&q, &pool, ends[0], &n), DRAIN_EMPTY);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(sendq_reserve(&q, &pool, &wide, 5000), RNL_OK);
	ck_assert_int_eq(push(&q, &pool, &wide, "abc", 3), RNL_OK);
	ck_assert_int_eq(sendq_drain(&q, &pool, ends[0], &n), DRAIN_EMPTY);
	ck_assert_int_eq(read(ends[1], got, sizeof(got)), 3);
	ck_assert_mem_eq(got, "abc", 3);
	ck_assert_uint_eq(chunk_pool_destroy(&pool), 0);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(a_broken_socket_is_told_from_a_full_one)
{
	struct chunk_pool pool;
	struct sendq q;
	int ends[2];
	size_t n;

	make_pair(ends);
	close(ends[1]);
	chunk_pool_init(&pool, UNBOUNDED);
	sendq_init(&q);
	ck_assert_int_eq(push(&q, &pool, &wide, "x", 1), RNL_OK);
	ck_assert_int_eq(sendq_drain(&q, &pool, ends[0], &n), DRAIN_FAILED);
	ck_assert_int_eq(errno, EPIPE);
	sendq_clear(&q, &pool);
	ck_assert_uint_eq(chunk_pool_destroy(&pool), 0);
	close(ends[0]);
}
END_TEST

/*
 * The reference: all bytes that were accepted, in one array, with the end of each
 * frame; and how far the kernel has taken and the reader has read them.
 */
#define MODEL_BYTES (16u << 20)
#define MODEL_FRAMES 400000u

struct model {
	uint8_t *bytes;
	size_t *ends;
	size_t n_bytes, n_frames, n_sent, n_read, n_gone;
	uint64_t random;
};

static uint32_t draw(struct model *model, uint32_t below)
{
	model->random = model->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(model->random >> 33) % below;
}

static enum rnl_status push_shared(struct sendq *q, struct chunk_pool *pool,
    const struct sendq_limits *limits, const void *bytes, size_t len)
{
	struct shared_frame *frame;
	enum rnl_status status;

	ck_assert_int_eq(shared_frame_new(pool, len, &frame), RNL_OK);
	memcpy(frame->bytes, bytes, len);
	status = sendq_push_shared(q, pool, limits, frame);
	shared_frame_release(&frame);
	return status;
}

static void model_push(struct model *model, struct sendq *q, struct chunk_pool *pool,
    const struct sendq_limits *limits)
{
	static const uint32_t sizes[] = { 1, 20, 300, 5000, 70000 };
	size_t len = 1 + draw(model, sizes[draw(model, 5)]);
	uint8_t *at = model->bytes + model->n_bytes;
	enum rnl_status status;

	if (model->n_bytes + len > MODEL_BYTES || model->n_frames == MODEL_FRAMES)
		return;
	for (size_t i = 0; i < len; i++)
		at[i] = (uint8_t)draw(model, 256);
	status = draw(model, 4) == 0 ? push_shared(q, pool, limits, at, len)
				     : push(q, pool, limits, at, len);
	if (status == RNL_OK) {
		model->n_bytes += len;
		model->ends[model->n_frames++] = model->n_bytes;
	} else {
		ck_assert_int_eq(status, RNL_EFULL);
	}
}

static void model_drain(struct model *model, struct sendq *q, struct chunk_pool *pool, int fd)
{
	enum drain drain;
	size_t n;

	drain = sendq_drain(q, pool, fd, &n);
	ck_assert_int_ne(drain, DRAIN_FAILED);
	model->n_sent += n;
	ck_assert_int_eq(drain == DRAIN_EMPTY, model->n_sent == model->n_bytes);
	while (model->n_gone < model->n_frames && model->ends[model->n_gone] <= model->n_sent)
		model->n_gone++;
}

static void model_read(struct model *model, int fd)
{
	static uint8_t buf[20000];
	ssize_t n = read(fd, buf, 1 + draw(model, sizeof(buf)));

	if (n < 0)
		return;
	ck_assert_uint_le(model->n_read + (size_t)n, model->n_sent);
	ck_assert_mem_eq(buf, model->bytes + model->n_read, n);
	model->n_read += (size_t)n;
}

START_TEST(random_pushes_and_partial_writes_give_the_same_stream)
{
	const struct sendq_limits limits = { .max_messages = 50, .max_bytes = 200000 };
	struct model model = { .bytes = malloc(MODEL_BYTES),
		.ends = malloc(MODEL_FRAMES * sizeof(size_t)),
		.random = (uint64_t)_i + 1 };
	struct chunk_pool pool;
	struct sendq q;
	int ends[2];

	make_pair(ends);
	chunk_pool_init(&pool, UNBOUNDED);
	sendq_init(&q);
	for (int i = 0; i < 20000; i++) {
		switch (draw(&model, 4)) {
		case 0:
			model_drain(&model, &q, &pool, ends[0]);
			break;
		case 1:
			model_read(&model, ends[1]);
			break;
		default:
			model_push(&model, &q, &pool, &limits);
		}
		ck_assert_uint_eq(q.n_messages, model.n_frames - model.n_gone);
		ck_assert_uint_le(q.n_messages, limits.max_messages);
		ck_assert_uint_le(q.held_bytes, limits.max_bytes);
		ck_assert_uint_le(q.held_bytes, pool.held_bytes);
	}
	while (model.n_read < model.n_bytes) {
		model_drain(&model, &q, &pool, ends[0]);
		model_read(&model, ends[1]);
	}
	ck_assert_uint_gt(model.n_frames, 1000);
	ck_assert(sendq_is_empty(&q));
	ck_assert_uint_eq(chunk_pool_destroy(&pool), 0);
	free(model.bytes);
	free(model.ends);
	close(ends[0]);
	close(ends[1]);
}
END_TEST

static struct scratch scratch;

/* Send bytes in pieces, consume in other pieces, and compare. */
START_TEST(any_split_of_the_input_gives_the_same_bytes)
{
	static uint8_t bytes[300000], got[300000];
	struct model model = { .random = (uint64_t)_i + 1 };
	size_t n_sent = 0, n_got = 0;
	struct input input;
	struct view view;
	int ends[2];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)draw(&model, 256);
	make_pair(ends);
	input_init(&input);
	while (n_got < sizeof(bytes)) {
		size_t left = sizeof(bytes) - n_sent, n = 1 + draw(&model, 4000);
		ssize_t n_read;

		if (left > 0) {
			ssize_t n_written = write(ends[0], bytes + n_sent, n < left ? n : left);

			n_sent += n_written > 0 ? (size_t)n_written : 0;
		}
		n_read = input_read(&input, &scratch, ends[1], &view);
		if (n_read < 0) {
			ck_assert_int_eq(errno, EAGAIN);
			view = input_view(&input);
		}
		/*
		 * Mostly nothing is consumed for a while, so that leftovers of all sizes come
		 * up.
		 */
		n = draw(&model, 20) == 0 || n_sent == sizeof(bytes) ? view.len
								     : draw(&model, 2);
		n = n < view.len ? n : view.len;
		memcpy(got + n_got, view.bytes, n);
		n_got += n;
		if (view.len > 0)
			ck_assert_int_eq(input_keep(&input, &view, n), STATUS_OK);
	}
	ck_assert_mem_eq(got, bytes, sizeof(bytes));
	ck_assert(input_is_empty(&input));
	close(ends[0]);
	close(ends[1]);
}
END_TEST

START_TEST(the_end_of_input_leaves_unread_bytes_alone)
{
	struct input input;
	struct view view;
	int ends[2];

	make_pair(ends);
	input_init(&input);
	ck_assert_int_eq(write(ends[0], "abc", 3), 3);
	ck_assert_int_eq(input_read(&input, &scratch, ends[1], &view), 3);
	ck_assert_int_eq(input_keep(&input, &view, 1), STATUS_OK);
	close(ends[0]);
	ck_assert_int_eq(input_read(&input, &scratch, ends[1], &view), 0);
	view = input_view(&input);
	ck_assert_uint_eq(view.len, 2);
	ck_assert_mem_eq(view.bytes, "bc", 2);
	input_clear(&input);
	ck_assert(input_is_empty(&input));
	close(ends[1]);
}
END_TEST

static void loopback(struct sockaddr_storage *addr, uint16_t port)
{
	struct sockaddr_in *in = (struct sockaddr_in *)addr;

	memset(addr, 0, sizeof(*addr));
	in->sin_family = AF_INET;
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	in->sin_port = htons(port);
}

static uint16_t port_of(const struct sockaddr_storage *addr)
{
	return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

static int open_socket(struct sockaddr_storage *addr, const struct socket_options *options)
{
	int fd;

	ck_assert_int_eq(
	    listen_open(addr, sizeof(struct sockaddr_in), options, &fd), STATUS_OK);
	return fd;
}

static void expect_in_use(const struct sockaddr_storage *addr)
{
	struct sockaddr_storage same = *addr;
	const struct socket_options options = { 0 };
	int fd;

	ck_assert_int_eq(
	    listen_open(&same, sizeof(struct sockaddr_in), &options, &fd), STATUS_ERRNO);
	ck_assert_int_eq(errno, EADDRINUSE);
}

static void expect_option(int fd, int name, int value)
{
	socklen_t len = sizeof(value);
	int actual = -1;

	ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, name, &actual, &len), 0);
	ck_assert_int_eq(actual, value);
}

START_TEST(a_group_is_one_address_that_nobody_else_can_share)
{
	struct sockaddr_storage addr;
	const struct socket_options options = { .notsent_lowat = 65536 };
	int fds[4], on = 1, fd;

	loopback(&addr, 0);
	fds[0] = open_socket(&addr, &options);
	ck_assert_uint_ne(port_of(&addr), 0);
	for (int i = 1; i < 4; i++)
		ck_assert_int_eq(
		    listen_join(&addr, sizeof(struct sockaddr_in), &options, &fds[i]),
		    STATUS_OK);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(listen_start(fds[i]), STATUS_OK);
		expect_option(fds[i], TCP_NODELAY, 1);
		expect_option(fds[i], TCP_NOTSENT_LOWAT, 65536);
	}
	expect_in_use(&addr);
	for (int i = 0; i < 4; i++)
		close(fds[i]);

	/* A listener that would share the port with anybody is not joined. */
	fd = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)), 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, sizeof(struct sockaddr_in)), 0);
	ck_assert_int_eq(listen(fd, 1), 0);
	expect_in_use(&addr);
	close(fd);
}
END_TEST

static int dial(const struct sockaddr_storage *addr)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(
	    connect(fd, (const struct sockaddr *)addr, sizeof(struct sockaddr_in)), 0);
	return fd;
}

static int count_waiting(int fd)
{
	int n = 0, accepted;

	while ((accepted = accept(fd, NULL, NULL)) >= 0) {
		close(accepted);
		n++;
	}
	return n;
}

/* Whoever is not served by anybody yet gets no connection. */
START_TEST(a_socket_that_joined_gets_connections_when_it_is_started)
{
	struct sockaddr_storage addr;
	const struct socket_options options = { 0 };
	int first, second, fds[32];

	loopback(&addr, 0);
	first = open_socket(&addr, &options);
	ck_assert_int_eq(
	    listen_join(&addr, sizeof(struct sockaddr_in), &options, &second), STATUS_OK);
	for (int i = 0; i < 32; i++)
		fds[i] = dial(&addr);
	ck_assert_int_eq(count_waiting(first), 32);
	for (int i = 0; i < 32; i++)
		close(fds[i]);
	ck_assert_int_eq(listen_start(second), STATUS_OK);
	for (int i = 0; i < 32; i++)
		fds[i] = dial(&addr);
	ck_assert_int_gt(count_waiting(second), 0);
	for (int i = 0; i < 32; i++)
		close(fds[i]);
	close(first);
	close(second);
}
END_TEST

START_TEST(options_of_a_listening_socket_can_be_changed)
{
	struct sockaddr_storage addr;
	struct socket_options options = { .notsent_lowat = 65536, .user_timeout_ms = 5000 };
	int fd;

	loopback(&addr, 0);
	fd = open_socket(&addr, &options);
	expect_option(fd, TCP_USER_TIMEOUT, 5000);
	options = (struct socket_options){ .notsent_lowat = 1024 };
	ck_assert_int_eq(listen_adjust(fd, &options), STATUS_OK);
	expect_option(fd, TCP_NOTSENT_LOWAT, 1024);
	expect_option(fd, TCP_USER_TIMEOUT, 0);
	close(fd);
}
END_TEST

/* Wait until the outcome of a connect is known. */
static int await_outcome(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLOUT };

	ck_assert_int_eq(poll(&poll_fd, 1, 20000), 1);
	return connect_outcome(fd);
}

static int option_of(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int value;

	ck_assert_int_eq(getsockopt(fd, level, name, &value, &len), 0);
	return value;
}

START_TEST(a_connect_tells_its_outcome)
{
	const struct socket_options options = { .notsent_lowat = 65536, .keepalive_ms = 9001 };
	struct sockaddr_storage addr;
	socklen_t len = sizeof(struct sockaddr_in);
	int server = socket(AF_INET, SOCK_STREAM, 0), fd;

	loopback(&addr, 0);
	ck_assert_int_eq(bind(server, (struct sockaddr *)&addr, len), 0);
	ck_assert_int_eq(getsockname(server, (struct sockaddr *)&addr, &len), 0);
	ck_assert_int_eq(connect_begin(&addr, len, &options, &fd), STATUS_OK);
	ck_assert_int_eq(await_outcome(fd), ECONNREFUSED);
	close(fd);
	ck_assert_int_eq(listen(server, 1), 0);
	ck_assert_int_eq(connect_begin(&addr, len, &options, &fd), STATUS_OK);
	ck_assert_int_eq(await_outcome(fd), 0);
	ck_assert_int_ne(option_of(fd, IPPROTO_TCP, TCP_NODELAY), 0);
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT), 65536);
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 10);
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), 3);
	ck_assert_int_ne(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 0);
	close(fd);
	close(server);
}
END_TEST

/* Bound to its own target, as the kernel may have it by chance. */
START_TEST(a_connect_to_itself_is_refused)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(struct sockaddr_in);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	loopback(&addr, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&addr, len), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, len), 0);
	ck_assert_int_eq(connect_outcome(fd), ECONNREFUSED);
	close(fd);
}
END_TEST

START_TEST(an_endpoint_is_written_as_in_the_conf)
{
	struct sockaddr_storage addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr;
	struct endpoint endpoint;
	char text[ENDPOINT_TEXT_SIZE];

	loopback(&addr, 8888);
	endpoint_set(&endpoint, &addr);
	ck_assert_str_eq(endpoint_format(&endpoint, text), "127.0.0.1:8888");
	memset(&addr, 0, sizeof(addr));
	in6->sin6_family = AF_INET6;
	in6->sin6_addr = in6addr_loopback;
	in6->sin6_port = htons(1);
	endpoint_set(&endpoint, &addr);
	ck_assert_str_eq(endpoint_format(&endpoint, text), "[::1]:1");
	memset(&addr, 0, sizeof(addr));
	addr.ss_family = AF_UNIX;
	endpoint_set(&endpoint, &addr);
	ck_assert_str_eq(endpoint_format(&endpoint, text), "unix");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("io");
	TCase *sendq = tcase_create("sendq"), *input = tcase_create("input");
	TCase *listening = tcase_create("listen");
	SRunner *runner;
	int n_failed;

	tcase_set_timeout(sendq, 60);
	tcase_set_timeout(input, 60);
	tcase_add_test(sendq, an_empty_queue_holds_no_memory);
	tcase_add_test(sendq, the_limit_of_messages_is_exact);
	tcase_add_test(sendq, held_memory_never_exceeds_the_limit);
	tcase_add_test(sendq, what_never_fits_is_too_big_and_not_full);
	tcase_add_test(sendq, the_pool_refuses_beyond_its_budget);
	tcase_add_test(sendq, a_shared_frame_is_kept_once_and_sent_to_all);
	tcase_add_test(sendq, shared_frames_keep_to_the_limits);
	tcase_add_test(sendq, frames_between_shared_ones_waste_little);
	tcase_add_test(sendq, an_abandoned_reservation_is_forgotten);
	tcase_add_test(sendq, a_broken_socket_is_told_from_a_full_one);
	tcase_add_loop_test(sendq, random_pushes_and_partial_writes_give_the_same_stream, 0, 8);
	tcase_add_loop_test(input, any_split_of_the_input_gives_the_same_bytes, 0, 8);
	tcase_add_test(input, the_end_of_input_leaves_unread_bytes_alone);
	tcase_add_test(listening, a_group_is_one_address_that_nobody_else_can_share);
	tcase_add_test(listening, a_socket_that_joined_gets_connections_when_it_is_started);
	tcase_add_test(listening, options_of_a_listening_socket_can_be_changed);
	tcase_add_test(listening, a_connect_tells_its_outcome);
	tcase_add_test(listening, a_connect_to_itself_is_refused);
	tcase_add_test(listening, an_endpoint_is_written_as_in_the_conf);
	suite_add_tcase(suite, sendq);
	suite_add_tcase(suite, input);
	suite_add_tcase(suite, listening);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_NORMAL);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
