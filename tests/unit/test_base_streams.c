/*
 * base/streams: standard streams are there, and are let go.
 */
#include "config.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/streams.h"

#include "test_base.h"

static void expect_null(int fd)
{
	struct stat info, null;

	ck_assert_int_eq(stat("/dev/null", &null), 0);
	ck_assert_int_eq(fstat(fd, &info), 0);
	ck_assert(S_ISCHR(info.st_mode));
	ck_assert_uint_eq(info.st_rdev, null.st_rdev);
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

/* The number that the next descriptor gets. */
static int next_fd(void)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	close(fd);
	return fd;
}

START_TEST(closed_streams_are_opened)
{
	int before = next_fd();

	close(STDIN_FILENO);
	close(STDERR_FILENO);
	streams_ensure();
	expect_null(STDIN_FILENO);
	expect_null(STDERR_FILENO);
	ck_assert_int_eq(next_fd(), before);
}
END_TEST

START_TEST(open_streams_are_left_alone)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC), before = next_fd();
	char byte = 1;

	ck_assert_int_eq(dup2(zero, STDIN_FILENO), STDIN_FILENO);
	streams_ensure();
	ck_assert_int_eq(read(STDIN_FILENO, &byte, 1), 1);
	ck_assert_int_eq(byte, 0);
	ck_assert_int_eq(next_fd(), before);
	close(zero);
}
END_TEST

START_TEST(a_daemon_lets_all_three_go)
{
	int before = next_fd();

	streams_to_null();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		expect_null(fd);
	ck_assert_int_eq(next_fd(), before);
}
END_TEST

START_TEST(it_works_with_no_stream_open)
{
	int before = next_fd();

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	streams_to_null();
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		expect_null(fd);
	ck_assert_int_eq(next_fd(), before);
}
END_TEST

TCase *streams_tests(void)
{
	TCase *tests = tcase_create("streams");

	tcase_add_test(tests, closed_streams_are_opened);
	tcase_add_test(tests, open_streams_are_left_alone);
	tcase_add_test(tests, a_daemon_lets_all_three_go);
	tcase_add_test(tests, it_works_with_no_stream_open);
	return tests;
}
