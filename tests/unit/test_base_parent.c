#include "config.h"

#include <check.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/parent.h"
#include "test_base.h"

#define NOT_KILLED 3

/* What the child at the end of a line of three processes does; told and its peer are a pipe. */
typedef void child_f(pid_t parent, int told);

/* Fork a parent that forks a child and ends; how the child, which is ours then, ends. */
static int end_of_child(child_f *child)
{
	int pipe_fds[2], status;
	char octet;
	pid_t parent;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert_int_eq(pipe(pipe_fds), 0);
	parent = fork();
	ck_assert_int_ge(parent, 0);
	if (parent == 0) {
		parent = getpid();
		if (fork() == 0)
			child(parent, pipe_fds[1]);
		/* Until the child has said so, or is gone. */
		close(pipe_fds[1]);
		_exit(read(pipe_fds[0], &octet, 1) < 0);
	}
	close(pipe_fds[0]);
	close(pipe_fds[1]);
	ck_assert_int_eq(waitpid(parent, &status, 0), parent);
	ck_assert_int_gt(waitpid(-1, &status, 0), 0);
	return status;
}

static void let_parent_end(pid_t parent, int told)
{
	close(told);
	while (getppid() == parent)
		usleep(1000);
}

static void follow_late(pid_t parent, int told)
{
	let_parent_end(parent, told);
	parent_follow(parent);
	_exit(NOT_KILLED);
}

static void follow_in_time(pid_t parent, int told)
{
	parent_follow(parent);
	let_parent_end(parent, told);
	/* The signal comes with the end, if not before that is seen here. */
	alarm(10);
	pause();
	_exit(NOT_KILLED);
}

static void follow_no_more(pid_t parent, int told)
{
	parent_follow(parent);
	parent_outlive();
	let_parent_end(parent, told);
	_exit(NOT_KILLED);
}

static void expect_killed(int status)
{
	ck_assert(WIFSIGNALED(status));
	ck_assert_int_eq(WTERMSIG(status), SIGKILL);
}

START_TEST(child_ends_with_its_parent)
{
	expect_killed(end_of_child(follow_in_time));
}
END_TEST

START_TEST(child_whose_parent_has_ended_ends)
{
	expect_killed(end_of_child(follow_late));
}
END_TEST

START_TEST(child_may_outlive_its_parent_again)
{
	int status = end_of_child(follow_no_more);

	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), NOT_KILLED);
}
END_TEST

TCase *parent_tests(void)
{
	TCase *tcase = tcase_create("parent");

	tcase_add_test(tcase, child_ends_with_its_parent);
	tcase_add_test(tcase, child_whose_parent_has_ended_ends);
	tcase_add_test(tcase, child_may_outlive_its_parent_again);
	return tcase;
}
