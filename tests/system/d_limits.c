/*
 * What there is only so much of: connections and descriptors.
 */
#include "config.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

#define CONF                \
	"module echo { }\n" \
	"listen main { address = \"127.0.0.1:0\" modules = { echo } max-connections = %s }\n"

/* Connect and see whether the connection is served, or closed at once. */
static int try_to_be_served(uint16_t port)
{
	int fd = client_try_connect(port);

	if (fd < 0 || client_try_ping(fd))
		return fd;
	close(fd);
	return -1;
}

/* The one over is closed at once, and a place that frees can be used; over all workers. */
START_TEST(max_connections_is_one_limit)
{
	struct daemon *daemon = daemon_new(run_workers(_i), CONF, "10");
	uint16_t port;
	int fds[10], fd;

	daemon_start(daemon);
	port = daemon_port(daemon, "main");
	for (int i = 0; i < 10; i++) {
		fds[i] = client_connect(port);
		client_ping(fds[i], "one of ten");
	}
	for (int i = 0; i < 20; i++)
		ck_assert_int_eq(try_to_be_served(port), -1);
	close(fds[3]);
	WAIT_FOR((fds[3] = try_to_be_served(port)) >= 0);
	ck_assert_int_eq(try_to_be_served(port), -1);
	for (int i = 0; i < 10; i++) {
		client_ping(fds[i], "still here");
		close(fds[i]);
	}
	WAIT_FOR((fd = try_to_be_served(port)) >= 0);
	close(fd);
	daemon_end(daemon);
	ck_assert_uint_ge(daemon_counter(daemon, "rejected"), 21);
	daemon_expect_counter(daemon, "accepted", 12);
	daemon_destroy(&daemon);
}
END_TEST

/* Places that a dead worker held are free again. */
START_TEST(max_connections_forgets_a_dead_workers_connections)
{
	struct daemon *daemon = daemon_new(1, CONF, "5");
	uint16_t port;
	int fds[5];

	daemon_start(daemon);
	port = daemon_port(daemon, "main");
	for (int i = 0; i < 5; i++) {
		fds[i] = client_connect(port);
		client_ping(fds[i], "one of five");
	}
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGKILL), 0);
	for (int i = 0; i < 5; i++) {
		client_expect_end(fds[i]);
		close(fds[i]);
	}
	for (int i = 0; i < 5; i++) {
		fds[i] = client_connect(port);
		client_ping(fds[i], "the next five");
	}
	ck_assert_int_eq(try_to_be_served(port), -1);
	for (int i = 0; i < 5; i++)
		close(fds[i]);
	daemon_stop(&daemon);
}
END_TEST

/* The message says which limit to raise. */
START_TEST(max_connections_beyond_the_descriptor_limit_is_refused)
{
	struct daemon *daemon = daemon_new(run_workers(_i), CONF, "5000");

	daemon->max_fds = 256;
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	if (!daemon_has_logged(daemon, "max-connections"))
		ck_assert_ptr_nonnull(
		    strstr(daemon_read(daemon, daemon->err), "max-connections"));
	ck_assert_ptr_nonnull(strstr(daemon->text, "5000"));
	ck_assert_ptr_nonnull(strstr(daemon->text, "256"));
	daemon_destroy(&daemon);
}
END_TEST

/* Two descriptors for each address of an upstream: 64 and 1 and 2 x 64 and 100. */
START_TEST(upstreams_need_descriptors)
{
	struct daemon *daemon = daemon_new(1, CONF, "100");
	char text[8192], *at = text;

	at = stpcpy(at, daemon_read(daemon, daemon->conf));
	at = stpcpy(at, "connect many { modules = { echo } address = { ");
	for (int i = 1; i <= 64; i++)
		at += sprintf(at, "127.0.0.1:%d,", i);
	strcpy(at, " } }\n");
	daemon_set_conf(daemon, text);
	daemon->max_fds = 256;
	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	ck_assert_ptr_nonnull(
	    strstr(daemon_read(daemon, daemon->err), "needs 293 descriptors"));
	daemon->max_fds = 293;
	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 0);
	daemon_destroy(&daemon);
}
END_TEST

/* auto is what the limit holds: all who are let in are served. */
START_TEST(automatic_max_connections_fits_the_descriptor_limit)
{
	struct daemon *daemon = daemon_new(1, CONF, "auto");
	unsigned n_free;
	int fds[128], n = 0;
	uint16_t port;

	daemon->max_fds = 128;
	daemon_start(daemon);
	port = daemon_port(daemon, "main");
	n_free = process_n_fds(daemon_worker(daemon, 0));
	while (n < 128 && (fds[n] = try_to_be_served(port)) >= 0)
		n++;
	ck_assert_int_ge(n, 32);
	ck_assert_int_lt(n, 128);
	for (int i = 0; i < n; i++) {
		client_ping(fds[i], "let in, so served");
		close(fds[i]);
	}
	WAIT_FOR(process_n_fds(daemon_worker(daemon, 0)) == n_free);
	fds[0] = client_connect(port);
	client_ping(fds[0], "there is room again");
	close(fds[0]);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "rejected", 1);
	daemon_destroy(&daemon);
}
END_TEST

static void limit_fds(pid_t pid, rlim_t max)
{
	struct rlimit limit;

	ck_assert_int_eq(prlimit(pid, RLIMIT_NOFILE, NULL, &limit), 0);
	limit.rlim_cur = max;
	ck_assert_int_eq(prlimit(pid, RLIMIT_NOFILE, &limit, NULL), 0);
}

/* The lowest limit at which the process has no descriptor left. */
static rlim_t fds_in_use(pid_t pid)
{
	char path[64];
	int fd = -1;

	do
		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, ++fd);
	while (access(path, F_OK) == 0);
	return (rlim_t)fd;
}

/* CPU time of a process over a second of our time, in which 50 clients a second knock. */
static uint64_t busy_ms_while_knocking(pid_t pid, uint16_t port)
{
	uint64_t start_ms = process_cpu_ms(pid), end_ms = wait_now_ms() + 1000;

	while (wait_now_ms() < end_ms) {
		struct pollfd wait = { .fd = client_try_connect(port), .events = POLLIN };

		if (wait.fd >= 0) {
			poll(&wait, 1, 200);
			close(wait.fd);
		}
		poll(NULL, 0, 20);
	}
	return process_cpu_ms(pid) - start_ms;
}

/*
 * Somebody else has used up the descriptors (here: the limit is lowered while it
 * runs). Those who are in are served, the worker does not spin, and when there
 * are descriptors again all is as before.
 */
START_TEST(exhausted_descriptors_do_not_spin_and_pass)
{
	struct daemon *daemon = daemon_new(1, CONF, "1000");
	uint16_t port;
	pid_t worker;
	int fd, next;

	daemon_start(daemon);
	port = daemon_port(daemon, "main");
	worker = daemon_worker(daemon, 0);
	fd = client_connect(port);
	client_ping(fd, "before");
	WAIT_FOR(process_state(worker) == 'S');
	limit_fds(worker, fds_in_use(worker));
	ck_assert_uint_lt(busy_ms_while_knocking(worker, port), 300);
	client_ping(fd, "meanwhile");
	/* Nobody waits in vain: there is a descriptor to turn people away with. */
	next = client_connect(port);
	client_expect_end(next);
	close(next);
	limit_fds(worker, 2000);
	WAIT_FOR((next = try_to_be_served(port)) >= 0);
	client_ping(fd, "after");
	close(fd);
	close(next);
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 1);
	daemon_stop(&daemon);
}
END_TEST

/* Clients come and go, in order and by reset: nothing stays behind. */
START_TEST(descriptors_are_given_back)
{
	struct daemon *daemon = daemon_new(1, CONF, "auto");
	unsigned n_before;
	uint16_t port;
	pid_t worker;
	int last;

	daemon_start(daemon);
	port = daemon_port(daemon, "main");
	worker = daemon_worker(daemon, 0);
	n_before = process_n_fds(worker);
	for (int i = 0; i < 3000; i++) {
		int fd = client_connect(port);

		if (i % 3 != 0)
			client_send(fd, "\0\0\0\1\0\0\0\2", i % 3 == 1 ? 8 : 3);
		if (i % 2 == 0)
			client_reset(fd);
		else
			close(fd);
	}
	/* It is the last to be accepted. */
	last = client_connect(port);
	client_ping(last, "all others have come");
	close(last);
	WAIT_FOR(process_n_fds(worker) == n_before);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "accepted", 3001);
	ck_assert_uint_eq(
	    daemon_counter(daemon, "closed_peer") + daemon_counter(daemon, "closed_error"),
	    3001);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("d_limits");
	TCase *connections = run_case(suite, "connections");
	TCase *descriptors = run_case(suite, "descriptors");

	run_add_workers(connections, max_connections_is_one_limit);
	tcase_add_test(connections, max_connections_forgets_a_dead_workers_connections);
	run_add_workers(connections, max_connections_beyond_the_descriptor_limit_is_refused);
	tcase_add_test(connections, automatic_max_connections_fits_the_descriptor_limit);
	tcase_add_test(descriptors, upstreams_need_descriptors);
	tcase_add_test(descriptors, exhausted_descriptors_do_not_spin_and_pass);
	tcase_add_test(descriptors, descriptors_are_given_back);
	return run_suite(suite);
}
