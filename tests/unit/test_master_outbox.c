/*
 * master: orders to a worker whose channel is full.
 */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "master/outbox.h"

#include "test_master.h"

static struct ev_loop *loop;
static struct outbox outbox;
static int ends[2];
static uint32_t n_sent; /* what the channel took, numbered from 0 */

static void set_up(void)
{
	loop = ev_loop_new(EVFLAG_AUTO);
	ck_assert_int_eq(channel_open(ends), STATUS_OK);
	outbox_init(&outbox, loop);
	outbox_open(&outbox, ends[0]);
	for (n_sent = 0; outbox_is_empty(&outbox); n_sent++)
		ck_assert(outbox_send(&outbox, CHANNEL_ADOPT, n_sent, -1));
}

static void tear_down(void)
{
	outbox_clear(&outbox);
	close(ends[0]);
	if (ends[1] >= 0)
		close(ends[1]);
	ev_loop_destroy(loop);
}

/* The next order; what waits is sent as soon as there is room. */
static int receive(struct channel_message *message)
{
	int passed = -1;

	for (;;) {
		switch (channel_receive(ends[1], message, &passed)) {
		case CHANNEL_MESSAGE:
			return passed;
		case CHANNEL_END:
			ck_abort_msg("the channel has ended");
		case CHANNEL_NOTHING:
			ck_assert(!outbox_is_empty(&outbox));
			ev_run(loop, EVRUN_ONCE);
			break;
		}
	}
}

static void expect(enum channel_type type, uint32_t arg)
{
	struct channel_message message;

	ck_assert_int_eq(receive(&message), -1);
	ck_assert_uint_eq(message.type, type);
	ck_assert_uint_eq(message.arg, arg);
}

static void expect_those_of_set_up(void)
{
	for (uint32_t i = 0; i < n_sent; i++)
		expect(CHANNEL_ADOPT, i);
}

START_TEST(orders_wait_in_their_order_until_there_is_room)
{
	struct channel_message message;
	char byte = 0;
	int pair[2], got;

	ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
	ck_assert(outbox_send(&outbox, CHANNEL_RECEIVE, 0, pair[1]));
	ck_assert(outbox_send(&outbox, CHANNEL_DRAIN, 5000, -1));
	close(pair[1]);
	expect_those_of_set_up();
	got = receive(&message);
	ck_assert_uint_eq(message.type, CHANNEL_RECEIVE);
	ck_assert_int_eq(write(got, "x", 1), 1);
	ck_assert_int_eq(read(pair[0], &byte, 1), 1);
	close(got);
	/* Nobody else has it. */
	ck_assert_int_eq(read(pair[0], &byte, 1), 0);
	close(pair[0]);
	expect(CHANNEL_DRAIN, 5000);
	ck_assert(outbox_is_empty(&outbox));
	ck_assert(outbox_send(&outbox, CHANNEL_RELEASE, 7, -1));
	expect(CHANNEL_RELEASE, 7);
}
END_TEST

/* The worker has made room, and the loop has not come round since. */
START_TEST(no_order_overtakes_those_that_wait)
{
	uint32_t n_read = n_sent / 2;

	for (uint32_t i = 0; i < n_read; i++)
		expect(CHANNEL_ADOPT, i);
	ck_assert(outbox_send(&outbox, CHANNEL_RELEASE, 7, -1));
	for (uint32_t i = n_read; i < n_sent; i++)
		expect(CHANNEL_ADOPT, i);
	expect(CHANNEL_RELEASE, 7);
}
END_TEST

/* However much waits, and however often they come. */
START_TEST(last_words_are_never_refused)
{
	while (outbox.n < OUTBOX_MAX_ORDERS)
		ck_assert(outbox_send(&outbox, CHANNEL_ADOPT, n_sent++, -1));
	ck_assert(!outbox_send(&outbox, CHANNEL_ADOPT, n_sent, -1));
	for (uint32_t i = 0; i < 100; i++) {
		ck_assert(outbox_send(&outbox, CHANNEL_LOG_LEVEL, i, -1));
		ck_assert(outbox_send(&outbox, CHANNEL_STOP, i, -1));
	}
	ck_assert_uint_eq(outbox.n, OUTBOX_MAX_ORDERS + 2);
	expect_those_of_set_up();
	expect(CHANNEL_LOG_LEVEL, 99);
	expect(CHANNEL_STOP, 99);
	ck_assert(outbox_is_empty(&outbox));
}
END_TEST

START_TEST(what_waits_for_one_that_is_gone_is_dropped)
{
	int pair[2];
	char byte;

	ck_assert_int_eq(pipe2(pair, O_CLOEXEC), 0);
	ck_assert(outbox_send(&outbox, CHANNEL_LOG, 0, pair[1]));
	close(pair[1]);
	close(ends[1]);
	ends[1] = -1;
	while (!outbox_is_empty(&outbox))
		ev_run(loop, EVRUN_ONCE);
	ck_assert_int_eq(read(pair[0], &byte, 1), 0);
	close(pair[0]);
	ck_assert(!outbox_send(&outbox, CHANNEL_STOP, 0, -1));
	ck_assert(!ev_is_active(&outbox.io));
}
END_TEST

TCase *outbox_tests(void)
{
	TCase *tcase = tcase_create("outbox");

	tcase_add_checked_fixture(tcase, set_up, tear_down);
	tcase_add_test(tcase, orders_wait_in_their_order_until_there_is_room);
	tcase_add_test(tcase, no_order_overtakes_those_that_wait);
	tcase_add_test(tcase, last_words_are_never_refused);
	tcase_add_test(tcase, what_waits_for_one_that_is_gone_is_dropped);
	return tcase;
}
