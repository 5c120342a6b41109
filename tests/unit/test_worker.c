/*
 * worker/channel: messages between master and worker, with and without a descriptor; and the
 * tests of the other files.
 */
#include "config.h"

#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/channel.h"

#include "test_worker.h"

#define N_FDS 64

static int ends[2]; /* the master's, the worker's */

static void open_channel(void)
{
	ck_assert_int_eq(channel_open(ends), STATUS_OK);
}

static void expect_same_file(int fd, int other)
{
	struct stat info, other_info;

	ck_assert_int_eq(fstat(fd, &info), 0);
	ck_assert_int_eq(fstat(other, &other_info), 0);
	ck_assert_uint_eq(info.st_ino, other_info.st_ino);
	ck_assert_uint_eq(info.st_dev, other_info.st_dev);
}

static void expect_message(const struct channel_message *message, uint32_t type, uint32_t arg)
{
	ck_assert_uint_eq(message->type, type);
	ck_assert_uint_eq(message->arg, arg);
}

/* With and without a descriptor, in the order sent. */
START_TEST(messages_arrive_in_order)
{
	struct channel_message message;
	int passed;

	ck_assert_int_eq(channel_receive(ends[1], &message, &passed), CHANNEL_NOTHING);
	ck_assert_int_eq(passed, -1);
	ck_assert(channel_send(ends[0], CHANNEL_STOP, 30000));
	ck_assert(channel_send_fd(ends[0], CHANNEL_LOG, 7, STDERR_FILENO));
	ck_assert(channel_send(ends[0], CHANNEL_RELEASE, 3));
	ck_assert_int_eq(channel_receive(ends[1], &message, &passed), CHANNEL_MESSAGE);
	expect_message(&message, CHANNEL_STOP, 30000);
	ck_assert_int_eq(passed, -1);
	ck_assert_int_eq(channel_receive(ends[1], &message, &passed), CHANNEL_MESSAGE);
	expect_message(&message, CHANNEL_LOG, 7);
	ck_assert_int_ge(passed, 0);
	expect_same_file(passed, STDERR_FILENO);
	ck_assert_int_eq(fcntl(passed, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(channel_receive(ends[1], &message, &passed), CHANNEL_MESSAGE);
	expect_message(&message, CHANNEL_RELEASE, 3);
	close(ends[0]);
	ck_assert_int_eq(channel_receive(ends[1], &message, &passed), CHANNEL_END);
	ck_assert_int_eq(passed, -1);
}
END_TEST

static void limit_fds(rlim_t n)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = n;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

/* Until there is no descriptor left. Returns the last. */
static int use_up_fds(void)
{
	int last = -1;

	limit_fds(N_FDS);
	for (int fd; (fd = dup(STDERR_FILENO)) >= 0;)
		last = fd;
	ck_assert_int_ge(last, 0);
	return last;
}

START_TEST(reserve_lets_descriptors_in_at_the_limit)
{
	struct channel_message message;
	int passed;

	channel_reserve(ends[1]);
	use_up_fds();
	for (uint32_t turn = 0; turn < 3; turn++) {
		ck_assert(channel_send_fd(ends[0], CHANNEL_LOG, turn, ends[0]));
		ck_assert_int_eq(channel_receive(ends[1], &message, &passed), CHANNEL_MESSAGE);
		expect_message(&message, CHANNEL_LOG, turn);
		ck_assert_int_ge(passed, 0);
		expect_same_file(passed, ends[0]);
		close(passed);
		channel_reserve(ends[1]);
		/* A message without one gives the place back, too. */
		ck_assert(channel_send(ends[0], CHANNEL_ADOPT, turn));
		ck_assert_int_eq(channel_receive(ends[1], &message, &passed), CHANNEL_MESSAGE);
		channel_reserve(ends[1]);
		ck_assert_int_lt(dup(STDERR_FILENO), 0);
	}
	limit_fds(2 * N_FDS);
}
END_TEST

START_TEST(without_place_the_message_comes_alone)
{
	struct channel_message message;
	int last = use_up_fds(), passed;

	ck_assert(channel_send_fd(ends[0], CHANNEL_LOG, 5, STDERR_FILENO));
	ck_assert_int_eq(channel_receive(ends[1], &message, &passed), CHANNEL_MESSAGE);
	expect_message(&message, CHANNEL_LOG, 5);
	ck_assert_int_eq(passed, -1);
	close(last);
	ck_assert(channel_send_fd(ends[0], CHANNEL_LOG, 6, STDERR_FILENO));
	ck_assert_int_eq(channel_receive(ends[1], &message, &passed), CHANNEL_MESSAGE);
	ck_assert_int_eq(passed, last);
	/* A sanitizer opens files at the end. */
	limit_fds(2 * N_FDS);
}
END_TEST

START_TEST(full_channel_refuses)
{
	unsigned int n_sent = 0, n_received = 0;
	struct channel_message message;
	int passed;

	while (channel_send(ends[0], CHANNEL_STOP, n_sent))
		n_sent++;
	ck_assert(!channel_send_fd(ends[0], CHANNEL_LOG, 0, STDERR_FILENO));
	while (channel_receive(ends[1], &message, &passed) == CHANNEL_MESSAGE) {
		expect_message(&message, CHANNEL_STOP, n_received++);
		ck_assert_int_eq(passed, -1);
	}
	ck_assert_uint_eq(n_received, n_sent);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("worker");
	TCase *channel = tcase_create("channel");
	SRunner *runner;
	int n_failed;

	suite_add_tcase(suite, channel);
	suite_add_tcase(suite, handover_tests());
	suite_add_tcase(suite, receiver_tests());
	tcase_add_checked_fixture(channel, open_channel, NULL);
	tcase_add_test(channel, messages_arrive_in_order);
	tcase_add_test(channel, reserve_lets_descriptors_in_at_the_limit);
	tcase_add_test(channel, without_place_the_message_comes_alone);
	tcase_add_test(channel, full_channel_refuses);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
