/*
 * bench/cpu: processor time of threads, of the machine, and of a server with children.
 */
#include "config.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/cpu.h"

#include "test_bench.h"

static struct cpu_server before, after;
static struct reason why;

static double process_seconds(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec + (double)used.tv_nsec / 1e9;
}

static void burn(double seconds)
{
	double end = process_seconds() + seconds;

	while (process_seconds() < end)
		;
}

START_TEST(thread_time_grows_with_work)
{
	uint64_t begin_ns = cpu_thread_ns();

	burn(0.02);
	ck_assert_uint_ge(cpu_thread_ns() - begin_ns, 15000000);
}
END_TEST

START_TEST(idle_share_is_of_the_time_between)
{
	const struct cpu_machine first = { .total = 1000, .idle = 400 };
	const struct cpu_machine second = { .total = 1400, .idle = 500 };
	struct cpu_machine now;

	ck_assert_double_eq_tol(cpu_idle_share(&first, &second), 0.25, 1e-9);
	ck_assert_double_eq(cpu_idle_share(&first, &first), 0);
	ck_assert(cpu_read_machine(&now));
	ck_assert_uint_gt(now.total, now.idle);
}
END_TEST

/*
 * A master with a worker: the worker burns, tells through the pipe, and waits to be killed.
 * Returns the master.
 */
static pid_t start_server(double seconds, int tell_fd)
{
	pid_t master = fork(), worker;

	if (master != 0)
		return master;
	worker = fork();
	if (worker == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		burn(seconds);
		if (write(tell_fd, "x", 1) != 1)
			_exit(1);
	}
	for (;;)
		pause();
}

static void end_server(pid_t master)
{
	kill(master, SIGKILL);
	waitpid(master, NULL, 0);
}

START_TEST(server_time_has_the_children_in_it)
{
	int pipe_fds[2];
	pid_t master;
	char byte;

	ck_assert_int_eq(pipe(pipe_fds), 0);
	master = start_server(0.15, pipe_fds[1]);
	ck_assert_int_gt(master, 0);
	ck_assert_int_eq(read(pipe_fds[0], &byte, 1), 1);
	ck_assert_int_eq(cpu_read_server(&after, &master, 1, &why), STATUS_OK);
	end_server(master);
	ck_assert_uint_eq(after.n_processes, 2);
	ck_assert_double_ge(after.seconds, 0.12);
	before = (struct cpu_server){ 0 };
	ck_assert_double_ge(cpu_busiest_seconds(&before, &after), 0.12);
	before = after;
	ck_assert_double_eq_tol(cpu_busiest_seconds(&before, &after), 0, 1e-9);
}
END_TEST

START_TEST(unknown_process_is_refused_by_its_number)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(cpu_read_server(&after, &pid, 1, &why), STATUS_INVALID);
	ck_assert_ptr_nonnull(strstr(why.text, "does not exist"));
}
END_TEST

TCase *cpu_tests(void)
{
	TCase *tests = tcase_create("cpu");

	tcase_add_test(tests, thread_time_grows_with_work);
	tcase_add_test(tests, idle_share_is_of_the_time_between);
	tcase_add_test(tests, server_time_has_the_children_in_it);
	tcase_add_test(tests, unknown_process_is_refused_by_its_number);
	return tests;
}
