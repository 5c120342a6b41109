/*
 * Everything at once, by a seed: connections that are sent to in every way, from
 * handlers and from outside, whose peers read and write as they like, and which
 * are closed and aborted on the way. What each peer reads must be what was
 * accepted for it, in order and in whole frames, and no limit may be exceeded at
 * any moment.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "conn/shared.h"

#include "test_conn.h"
#include "test_conn_rig.h"

#define N_SUBJECTS 12
#define N_STEPS 20000
#define MAX_LEN 3000
#define MAX_MESSAGES 30
#define MAX_BYTES 24000
#define POOL_BYTES 150000

/* A connection and what was accepted for it. */
struct subject {
	struct peer peer;
	uint8_t *expected; /* owned */
	size_t n_expected, expected_size, n_compared;
	uint64_t n_asked, n_taken, n_refused;
	bool is_closed;                  /* its close hook has run */
	bool is_cut;                     /* aborted: not all that was accepted arrives */
	uint8_t request[HEAD + MAX_LEN]; /* being written, as far as n_written */
	size_t request_len, n_written;
};

static struct subject subjects[N_SUBJECTS];
static uint64_t state, n_refused_before;

static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

static struct subject *subject_of(const struct rnl_conn *conn)
{
	for (int i = 0; i < N_SUBJECTS; i++) {
		if (subjects[i].peer.conn == conn && !subjects[i].is_closed)
			return &subjects[i];
	}
	ck_abort_msg("a connection that is not known");
}

/* Called so often that check's own bookkeeping of each assertion would take all the time. */
static void expect_limits(void)
{
	if (rig.table->pool.held_bytes > POOL_BYTES)
		ck_abort_msg("all queues hold %" PRIu64 " bytes", rig.table->pool.held_bytes);
	for (int i = 0; i < N_SUBJECTS; i++) {
		const struct rnl_conn *conn = subjects[i].peer.conn;

		if (subjects[i].is_closed)
			continue;
		if (conn->out.n_messages > MAX_MESSAGES || conn->out.held_bytes > MAX_BYTES)
			ck_abort_msg("a queue holds %" PRIu32 " messages, %" PRIu32 " bytes",
			    conn->out.n_messages, conn->out.held_bytes);
	}
}

static void expect_bytes(struct subject *subject, const uint8_t *bytes, size_t len)
{
	if (subject->n_expected + len > subject->expected_size) {
		subject->expected_size = 2 * (subject->n_expected + len);
		subject->expected = realloc(subject->expected, subject->expected_size);
		ck_assert_ptr_nonnull(subject->expected);
	}
	memcpy(subject->expected + subject->n_expected, bytes, len);
	subject->n_expected += len;
}

static void account(struct subject *subject, enum rnl_status status, uint32_t id,
    const uint8_t *payload, size_t len)
{
	const uint8_t head[HEAD] = { (uint8_t)(id >> 24), (uint8_t)(id >> 16),
		(uint8_t)(id >> 8), (uint8_t)id, 0, 0, (uint8_t)(len >> 8), (uint8_t)len };

	if (status != RNL_OK && status != RNL_EFULL && status != RNL_ECLOSED)
		ck_abort_msg("a send returned %d", status);
	subject->n_asked += status != RNL_ECLOSED;
	subject->n_taken += status == RNL_OK;
	subject->n_refused += status == RNL_EFULL;
	if (status == RNL_OK) {
		expect_bytes(subject, head, HEAD);
		expect_bytes(subject, payload, len);
	}
	expect_limits();
}

/* A reservation that is used up, or less, or given up. */
static void send_in_place(struct subject *subject, uint32_t id, uint8_t *payload, size_t len)
{
	struct rnl_conn *conn = subject->peer.conn;
	void *place;
	enum rnl_status status = conn_reserve(conn, len, &place);

	if (status == RNL_OK && draw(8) == 0)
		return;
	if (status == RNL_OK) {
		len = len > 0 && draw(2) == 0 ? draw((uint32_t)len) : len;
		memcpy(place, payload, len);
		status = conn_commit(conn, id, len);
	}
	account(subject, status, id, payload, len);
}

static void send_parts(struct subject *subject, uint32_t id, uint8_t *payload, size_t len)
{
	size_t cut = draw((uint32_t)len + 1);
	struct iovec parts[2] = { { .iov_base = payload, .iov_len = cut },
		{ .iov_base = payload + cut, .iov_len = len - cut } };

	account(subject, conn_sendv(subject->peer.conn, id, parts, 2), id, payload, len);
}

static void send_one(struct subject *subject)
{
	static uint8_t payload[MAX_LEN];
	size_t len = draw(draw(3) == 0 ? MAX_LEN : 100);
	uint32_t id = draw(1000);

	fill(payload, id, len);
	switch (draw(3)) {
	case 0:
		account(
		    subject, conn_send(subject->peer.conn, id, payload, len), id, payload, len);
		break;
	case 1:
		send_parts(subject, id, payload, len);
		break;
	default:
		send_in_place(subject, id, payload, len);
	}
}

static void broadcast(void)
{
	static uint8_t payload[MAX_LEN];
	size_t len = draw(MAX_LEN);
	struct rnl_shared *shared;

	fill(payload, 5, len);
	shared = shared_new(rig.table, 5, payload, len);
	if (shared == NULL)
		return;
	for (int i = 0; i < N_SUBJECTS; i++) {
		if (!subjects[i].is_closed)
			account(&subjects[i], conn_send_shared(subjects[i].peer.conn, shared),
			    5, payload, len);
	}
	shared_free(shared);
}

static struct subject *any_open(void)
{
	for (int i = 0; i < 4; i++) {
		struct subject *subject = &subjects[draw(N_SUBJECTS)];

		if (!subject->is_closed)
			return subject;
	}
	return NULL;
}

static enum rnl_verdict ignore(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	(void)conn;
	(void)msg;
	return RNL_DONE;
}

/* A request is answered by some sends to its connection, and to another. */
static enum rnl_verdict answer(struct rnl_conn *conn, const struct rnl_msg *msg)
{
	struct subject *other = any_open();

	(void)msg;
	for (uint32_t i = draw(4); i > 0; i--)
		send_one(subject_of(conn));
	if (other != NULL)
		send_one(other);
	return RNL_DONE;
}

static void note_close(struct rnl_conn *conn)
{
	struct subject *subject = subject_of(conn);

	subject->is_cut = conn->state == CONN_BROKEN;
	subject->is_closed = true;
}

static void note_writable(struct rnl_conn *conn)
{
	struct subject *subject = subject_of(conn);

	ck_assert_uint_le(conn->out.n_messages, MAX_MESSAGES / 2);
	ck_assert_uint_le(conn->out.held_bytes, MAX_BYTES / 2);
	while (draw(4) > 0)
		send_one(subject);
}

static void begin(struct subject *subject)
{
	*subject = (struct subject){ 0 };
	if (draw(2) == 0)
		peer_open(&subject->peer);
	else
		peer_open_tcp(&subject->peer);
}

/* What was read anew goes on with what was accepted. */
static void compare(struct subject *subject)
{
	size_t n = subject->peer.n_got - subject->n_compared;

	if (subject->peer.n_got > subject->n_expected)
		ck_abort_msg("more was read than was accepted");
	if (n > 0 && memcmp(subject->peer.got + subject->n_compared,
			 subject->expected + subject->n_compared, n) != 0)
		ck_abort_msg("other bytes were read than were accepted");
	subject->n_compared += n;
}

/* All read, for a queue that is full of what one of them leaves is a shortage for the others. */
static bool is_over(struct subject *subject)
{
	for (int i = 0; i < N_SUBJECTS; i++)
		peer_read(&subjects[i].peer);
	return subject->peer.is_over && subject->is_closed;
}

/* See it to its end: all that was accepted has arrived, unless it was cut. */
static void finish(struct subject *subject)
{
	RIG_UNTIL(is_over(subject));
	compare(subject);
	if (!subject->is_cut) {
		ck_assert_int_eq(subject->peer.end, 0);
		ck_assert_uint_eq(subject->peer.n_got, subject->n_expected);
		ck_assert_uint_eq(peer_n_frames(&subject->peer), subject->n_taken);
	}
	ck_assert_uint_eq(subject->n_asked, subject->n_taken + subject->n_refused);
	n_refused_before += subject->n_refused;
	free(subject->expected);
	subject->expected = NULL;
	peer_end(&subject->peer);
}

/* Write some of a request: frames are split anywhere. */
static void ask(struct subject *subject)
{
	ssize_t n;

	if (subject->n_written == subject->request_len) {
		size_t len = draw(draw(3) == 0 ? MAX_LEN : 40);

		memset(subject->request, 0, HEAD);
		subject->request[6] = (uint8_t)(len >> 8);
		subject->request[7] = (uint8_t)len;
		subject->request_len = HEAD + len;
		subject->n_written = 0;
	}
	n = send(subject->peer.fd, subject->request + subject->n_written,
	    1 + draw((uint32_t)(subject->request_len - subject->n_written)), MSG_NOSIGNAL);
	subject->n_written += n > 0 ? (size_t)n : 0;
}

static void end_somehow(struct subject *subject)
{
	if (!subject->is_closed && draw(3) == 0)
		conn_close(subject->peer.conn, CLOSE_REASON_handler);
	else if (!subject->is_closed && draw(3) == 0)
		conn_abort(subject->peer.conn, CLOSE_REASON_handler);
	else
		shutdown(subject->peer.fd, SHUT_WR);
	finish(subject);
	begin(subject);
}

static void step(void)
{
	struct subject *subject = &subjects[draw(N_SUBJECTS)];
	uint32_t what = draw(100);

	if (what < 40)
		ask(subject);
	else if (what < 60)
		peer_read_some(&subject->peer, draw(6000));
	else if (what < 75)
		rig_turn();
	else if (what < 93 && !subject->is_closed)
		send_one(subject);
	else if (what < 99)
		broadcast();
	else
		end_somehow(subject);
	compare(subject);
	expect_limits();
}

/* _i: the seed; each mode of when-full in turn. */
START_TEST(any_mixture_gives_each_peer_what_was_accepted)
{
	state = (uint64_t)_i + 1;
	n_refused_before = 0;
	rig.settings.when_full = (enum when_full)(_i % 3);
	rig.settings.linger_timeout_ms = 100;
	rig_limit_queue(MAX_MESSAGES, MAX_BYTES);
	rig.table->pool.max_bytes = POOL_BYTES;
	rig.handle = answer;
	rig.writable = note_writable;
	rig.close = note_close;
	for (int i = 0; i < N_SUBJECTS; i++)
		begin(&subjects[i]);
	for (int i = 0; i < N_STEPS; i++)
		step();
	rig.handle = ignore;
	rig.writable = NULL;
	for (int i = 0; i < N_SUBJECTS; i++) {
		shutdown(subjects[i].peer.fd, SHUT_WR);
		finish(&subjects[i]);
	}
	ck_assert_uint_gt(rig_counter(frames_in), 300);
	ck_assert_uint_gt(rig_counter(drains_cut), 100);
	ck_assert_uint_gt(n_refused_before, 10);
	ck_assert_uint_eq(rig_counter(sends_refused), n_refused_before);
	rig.close = NULL;
}
END_TEST

TCase *mixture_tests(void)
{
	TCase *tcase = tcase_create("mixture");

	tcase_set_timeout(tcase, 120);
	tcase_add_checked_fixture(tcase, rig_set_up, rig_tear_down);
	tcase_add_loop_test(tcase, any_mixture_gives_each_peer_what_was_accepted, 0, 12);
	return tcase;
}
