/*
 * Starting: the command line, the pid file, the background, and the port that
 * somebody has already..
 */
#include "config.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/run.h"

#define PROBE "module probe { path = \"" TEST_MODULES "/probe.so\" %s }\n"
#define ECHO "module echo { }\n"
#define LISTEN "listen main { address = \"127.0.0.1:%u\" modules = { echo } }\n"

#define expect_said(daemon, text)                                                   \
	ck_assert_msg(strstr(daemon_read((daemon), (daemon)->err), (text)) != NULL, \
	    "no '%s' on stderr:\n%s", (text), daemon_read((daemon), (daemon)->err))

START_TEST(version_is_printed)
{
	struct daemon *daemon = daemon_new(1, "%s", "");

	ck_assert_int_eq(daemon_run(daemon, "-V", NULL), 0);
	ck_assert_ptr_nonnull(strstr(daemon_read(daemon, daemon->out), PACKAGE_VERSION));
	ck_assert_ptr_nonnull(strstr(daemon->text, "runneld"));
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(bad_command_line_is_refused)
{
	struct daemon *daemon = daemon_new(1, ECHO LISTEN, 0);

	ck_assert_int_gt(daemon_run(daemon, "-Z", NULL), 0);
	expect_said(daemon, "Z");
	unlink(daemon->err);
	ck_assert_int_gt(daemon_run(daemon, "-c", NULL), 0);
	expect_said(daemon, "c");
	unlink(daemon->err);
	ck_assert_int_gt(daemon_run(daemon, "-F", "-c", daemon->conf, "more", NULL), 0);
	expect_said(daemon, "more");
	ck_assert_str_eq(daemon_read(daemon, daemon->log), "");
	daemon_destroy(&daemon);
}
END_TEST

/* Another program that does not share the port. */
START_TEST(taken_port_is_refused)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct daemon *daemon;
	char text[32];

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(listen(fd, 8), 0);
	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	daemon = daemon_new(run_workers(_i), ECHO LISTEN, ntohs(address.sin_port));
	snprintf(text, sizeof(text), "127.0.0.1:%u", ntohs(address.sin_port));
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert(strstr(daemon_read(daemon, daemon->err), text) != NULL ||
		  daemon_has_logged(daemon, text));
	close(fd);
	daemon_destroy(&daemon);
}
END_TEST

/*
 * Another instance of the same user could join the SO_REUSEPORT group in silence
 * and take a share of the connections: the daemon has to find out by itself.
 */
START_TEST(port_of_another_instance_is_refused)
{
	struct daemon *first = daemon_new(run_workers(_i), ECHO LISTEN, 0), *second;
	uint16_t port;
	char text[32];

	daemon_start(first);
	port = daemon_port(first, "main");
	second = daemon_new(run_workers(_i), ECHO LISTEN, port);
	snprintf(text, sizeof(text), "127.0.0.1:%u", port);
	ck_assert_int_eq(daemon_run(second, "-F", "-c", second->conf, NULL), 1);
	ck_assert(strstr(daemon_read(second, second->err), text) != NULL ||
		  daemon_has_logged(second, text));
	for (int i = 0; i < 50; i++) {
		int fd = client_connect(port);

		client_ping(fd, "the first");
		close(fd);
	}
	daemon_destroy(&second);
	daemon_stop(&first);
}
END_TEST

static bool is_decided(struct daemon *daemon)
{
	return daemon_has_ended(daemon) || daemon_has_logged(daemon, "ready: ");
}

START_TEST(one_of_two_instances_started_together_wins)
{
	struct daemon *both[2];
	uint16_t port = client_free_port();
	int winner, fd;

	for (int i = 0; i < 2; i++)
		both[i] = daemon_new(4, ECHO LISTEN, port);
	daemon_launch(both[0]);
	daemon_launch(both[1]);
	WAIT_FOR(is_decided(both[0]) && is_decided(both[1]));
	winner = daemon_has_ended(both[0]);
	ck_assert_msg(daemon_has_ended(both[!winner]), "both instances serve");
	ck_assert_msg(!daemon_has_ended(both[winner]), "neither instance serves");
	ck_assert_int_eq(WEXITSTATUS(both[!winner]->exit_status), 1);
	fd = client_connect(port);
	client_ping(fd, "the winner");
	close(fd);
	daemon_destroy(&both[!winner]);
	daemon_stop(&both[winner]);
}
END_TEST

#define PID_FILE_SIZE 160

static const char *pid_file(const struct daemon *daemon, char path[PID_FILE_SIZE])
{
	snprintf(path, PID_FILE_SIZE, "%s/pid", daemon->folder);
	return path;
}

/* Append what a conf in the daemon's folder needs to name a file there. */
static void add_pid_file(struct daemon *daemon, const char *path)
{
	FILE *file = fopen(daemon->conf, "ae");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "pid-file = \"%s\"\n", path);
	fclose(file);
}

static struct daemon *new_with_pid_file(char path[PID_FILE_SIZE])
{
	struct daemon *daemon = daemon_new(2, ECHO LISTEN, 0);

	add_pid_file(daemon, pid_file(daemon, path));
	return daemon;
}

static pid_t pid_in(struct daemon *daemon, const char *path)
{
	return (pid_t)atoi(daemon_read(daemon, path));
}

static pid_t lock_holder(const char *path)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR | O_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETLK, &lock), 0);
	close(fd);
	return lock.l_type == F_UNLCK ? 0 : lock.l_pid;
}

START_TEST(pid_file_is_written_locked_and_removed)
{
	char path[PID_FILE_SIZE];
	struct daemon *daemon = new_with_pid_file(path);

	daemon_start(daemon);
	ck_assert_int_eq(pid_in(daemon, path), daemon->pid);
	ck_assert_int_eq(lock_holder(path), daemon->pid);
	daemon_end(daemon);
	ck_assert_int_ne(access(path, F_OK), 0);
	daemon_destroy(&daemon);
}
END_TEST

/* Longer than the new one, to see that nothing of it is left; its process is not there. */
START_TEST(stale_pid_file_is_taken_over)
{
	char path[PID_FILE_SIZE];
	struct daemon *daemon = new_with_pid_file(path);
	FILE *file = fopen(path, "we");

	fputs("4194304 and more than this\n", file);
	fclose(file);
	daemon_start(daemon);
	ck_assert_int_eq(pid_in(daemon, path), daemon->pid);
	ck_assert_ptr_null(strstr(daemon_read(daemon, path), "more"));
	daemon_stop(&daemon);
}
END_TEST

/* A killed master leaves its file; orphans of it hold no lock. */
START_TEST(pid_file_of_a_killed_master_is_taken_over)
{
	char path[PID_FILE_SIZE];
	struct daemon *first = new_with_pid_file(path), *second;

	daemon_start(first);
	daemon_signal(first, SIGKILL);
	WAIT_FOR(daemon_has_ended(first));
	ck_assert_int_eq(access(path, F_OK), 0);
	second = daemon_new(2, ECHO LISTEN, 0);
	add_pid_file(second, path);
	daemon_start(second);
	ck_assert_int_eq(pid_in(second, path), second->pid);
	daemon_stop(&second);
	daemon_destroy(&first);
}
END_TEST

START_TEST(pid_file_of_another_instance_is_refused)
{
	char path[PID_FILE_SIZE];
	struct daemon *first = new_with_pid_file(path), *second;
	int fd;

	daemon_start(first);
	second = daemon_new(2, ECHO LISTEN, 0);
	add_pid_file(second, path);
	ck_assert_int_eq(daemon_run(second, "-F", "-c", second->conf, NULL), 1);
	ck_assert(strstr(daemon_read(second, second->err), path) != NULL ||
		  daemon_has_logged(second, path));
	ck_assert_int_eq(pid_in(first, path), first->pid);
	fd = client_connect(daemon_port(first, "main"));
	client_ping(fd, "the first");
	close(fd);
	daemon_destroy(&second);
	daemon_stop(&first);
}
END_TEST

START_TEST(pid_file_that_cannot_be_written_is_refused)
{
	struct daemon *daemon = daemon_new(1, ECHO LISTEN, 0);

	add_pid_file(daemon, "/nonexistent/runneld.pid");
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert(
	    strstr(daemon_read(daemon, daemon->err), "/nonexistent/runneld.pid") != NULL ||
	    daemon_has_logged(daemon, "/nonexistent/runneld.pid"));
	daemon_destroy(&daemon);
}
END_TEST

/* The parent has returned 0: so there is nothing left to wait for. */
START_TEST(background_start_returns_when_it_serves)
{
	char path[PID_FILE_SIZE];
	struct daemon *daemon = new_with_pid_file(path);
	int fd;

	ck_assert_int_eq(daemon_run(daemon, "-c", daemon->conf, NULL), 0);
	daemon_attach(daemon, path);
	ck_assert_int_eq(lock_holder(path), daemon->pid);
	ck_assert(daemon_has_logged(daemon, "ready: 2 workers"));
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "at once");
	close(fd);
	ck_assert_int_eq(getsid(daemon->pid) == getsid(0), 0);
	ck_assert_int_ne(getpgid(daemon->pid), getpgid(0));
	daemon_end(daemon);
	ck_assert_int_ne(access(path, F_OK), 0);
	daemon_destroy(&daemon);
}
END_TEST

static void expect_folder(pid_t pid, const char *folder)
{
	char path[64], target[256] = "";

	snprintf(path, sizeof(path), "/proc/%d/cwd", (int)pid);
	ck_assert_int_gt(readlink(path, target, sizeof(target) - 1), 0);
	ck_assert_str_eq(target, folder);
}

/* It keeps no folder busy, and nothing of what it was started with, like a pipe to a script. */
START_TEST(background_daemon_lets_go_of_its_surroundings)
{
	char path[PID_FILE_SIZE], fifo[PID_FILE_SIZE], octet;
	struct daemon *daemon = new_with_pid_file(path);
	struct pollfd wait = { .events = POLLIN };

	snprintf(fifo, sizeof(fifo), "%s/fifo", daemon->folder);
	ck_assert_int_eq(mkfifo(fifo, 0600), 0);
	wait.fd = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	unlink(daemon->err);
	ck_assert_int_eq(symlink(fifo, daemon->err), 0);
	ck_assert_int_eq(daemon_run(daemon, "-c", daemon->conf, NULL), 0);
	daemon_attach(daemon, path);
	ck_assert_int_eq(poll(&wait, 1, DEADLINE_MS), 1);
	ck_assert_int_eq(read(wait.fd, &octet, 1), 0);
	expect_folder(daemon->pid, "/");
	expect_folder(daemon_worker(daemon, 0), "/");
	close(wait.fd);
	unlink(daemon->err);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(background_start_that_fails_says_so)
{
	char path[PID_FILE_SIZE];
	struct daemon *first = daemon_new(1, ECHO LISTEN, 0), *second;

	daemon_start(first);
	second = daemon_new(1, ECHO LISTEN, daemon_port(first, "main"));
	add_pid_file(second, pid_file(second, path));
	ck_assert_int_eq(daemon_run(second, "-c", second->conf, NULL), 1);
	expect_said(second, "127.0.0.1:");
	ck_assert_int_ne(access(path, F_OK), 0);
	daemon_destroy(&second);
	daemon_stop(&first);
}
END_TEST

START_TEST(background_start_without_a_worker_says_so)
{
	char path[PID_FILE_SIZE];
	struct daemon *daemon = daemon_new(2,
	    PROBE ECHO LISTEN
	    "listen other { address = \"127.0.0.1:0\" modules = { probe } }\n",
	    "on-start = fail", 0);

	add_pid_file(daemon, pid_file(daemon, path));
	ck_assert_int_eq(daemon_run(daemon, "-c", daemon->conf, NULL), 1);
	expect_said(daemon, "the start failed");
	ck_assert_int_ne(access(path, F_OK), 0);
	daemon_destroy(&daemon);
}
END_TEST

/* Fails by itself, or crashes: in no case does it go on trying for good. */
START_TEST(start_without_a_ready_worker_fails)
{
	static const char *const how[] = { "on-start = fail", "on-start = crash" };
	struct daemon *daemon = daemon_new(2,
	    PROBE "listen main { address = \"127.0.0.1:0\" modules = { probe } }\n", how[_i]);

	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert(daemon_has_logged(daemon, "the start failed"));
	ck_assert(!daemon_has_logged(daemon, "ready: "));
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(start_with_too_low_a_limit_of_file_sizes_says_so)
{
	struct daemon *daemon = daemon_new(1, ECHO LISTEN, 0);
	struct rlimit before, low;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	low = (struct rlimit){ .rlim_cur = 40 * 1024, .rlim_max = before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &low), 0);
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	expect_said(
	    daemon, "no shared memory for the counters: File too large; raise the limit");
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("b_start");
	TCase *line = run_case(suite, "command line");
	TCase *pid = run_case(suite, "pid file");
	TCase *port = run_case(suite, "port");
	TCase *background = run_case(suite, "background");

	tcase_add_test(line, version_is_printed);
	tcase_add_test(line, bad_command_line_is_refused);
	tcase_add_loop_test(line, start_without_a_ready_worker_fails, 0, 2);
	tcase_add_test(line, start_with_too_low_a_limit_of_file_sizes_says_so);
	tcase_add_test(pid, pid_file_is_written_locked_and_removed);
	tcase_add_test(pid, stale_pid_file_is_taken_over);
	tcase_add_test(pid, pid_file_of_a_killed_master_is_taken_over);
	tcase_add_test(pid, pid_file_of_another_instance_is_refused);
	tcase_add_test(pid, pid_file_that_cannot_be_written_is_refused);
	run_add_workers(port, taken_port_is_refused);
	run_add_workers(port, port_of_another_instance_is_refused);
	tcase_add_loop_test(port, one_of_two_instances_started_together_wins, 0, 5);
	tcase_add_test(background, background_start_returns_when_it_serves);
	tcase_add_test(background, background_daemon_lets_go_of_its_surroundings);
	tcase_add_test(background, background_start_that_fails_says_so);
	tcase_add_test(background, background_start_without_a_worker_says_so);
	return run_suite(suite);
}
