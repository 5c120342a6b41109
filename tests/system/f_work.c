/*
 * Blocking work: rnl_work() and what becomes of jobs when connections and
 * workers end.
 */
#include "config.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/backend.h"
#include "system/client.h"
#include "system/daemon.h"
#include "system/modules/jobs.h"
#include "system/run.h"

/* A daemon with one worker, and the gate at which its jobs wait. */
struct site {
	struct daemon *daemon;
	char gate[192];
};

static struct site site_open_with(const char *options, const char *module_options)
{
	static unsigned n_sites;
	struct site site;

	snprintf(site.gate, sizeof(site.gate), "%s/gate-%d-%u", run_folder(), (int)getpid(),
	    n_sites++);
	site.daemon = daemon_new(1,
	    "%s\nmodule jobs { path = \"" TEST_MODULES "/jobs.so\" gate = \"%s\" %s }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { jobs } }\n",
	    options, site.gate, module_options);
	daemon_start(site.daemon);
	return site;
}

static struct site site_open(const char *options)
{
	return site_open_with(options, "");
}

static int site_connect(const struct site *site)
{
	return client_connect(daemon_port(site->daemon, "main"));
}

static void open_gate(const struct site *site)
{
	FILE *file = fopen(site->gate, "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_eq(fclose(file), 0);
}

static void ask(int fd, uint32_t id, uint32_t number, uint32_t key)
{
	struct bytes request = { 0 };

	bytes_add_be32(&request, id);
	bytes_add_be32(&request, 8);
	bytes_add_be32(&request, number);
	bytes_add_be32(&request, key);
	client_send(fd, request.data, request.len);
	bytes_free(&request);
}

/* One reply; the first number of it. */
static uint32_t receive(int fd, uint32_t expected_id)
{
	uint8_t payload[64];
	uint32_t id;

	ck_assert_uint_ge(client_receive_tlv(fd, &id, payload, sizeof(payload)), 4);
	ck_assert_uint_eq(id, expected_id);
	return (uint32_t)payload[0] << 24 | (uint32_t)payload[1] << 16 |
	       (uint32_t)payload[2] << 8 | payload[3];
}

/* The worker has taken what was sent before, and its loop turns. */
static void ping(int fd)
{
	ask(fd, JOBS_PING, 77, 0);
	ck_assert_uint_eq(receive(fd, JOBS_PING), 77);
}

/* Threads for jobs; a sanitizer may have one of its own. */
static unsigned n_threads(pid_t pid)
{
	char path[300], name[32];
	struct dirent *entry;
	unsigned n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	ck_assert_ptr_nonnull(dir);
	while ((entry = readdir(dir)) != NULL) {
		FILE *comm;

		snprintf(
		    path, sizeof(path), "/proc/%d/task/%.16s/comm", (int)pid, entry->d_name);
		comm = fopen(path, "re");
		if (comm == NULL)
			continue;
		n += fgets(name, sizeof(name), comm) != NULL &&
		     strcmp(name, "runneld job\n") == 0;
		fclose(comm);
	}
	closedir(dir);
	return n;
}

/* More of them than threads, and than the pool takes in a turn. */
START_TEST(jobs_are_done_for_their_connections)
{
	struct site site = site_open("");
	int fds[4];

	for (int i = 0; i < 4; i++)
		fds[i] = site_connect(&site);
	for (uint32_t i = 0; i < 800; i++)
		ask(fds[i % 4], JOBS_PLAIN, i, 0);
	for (int i = 0; i < 4; i++) {
		uint32_t sum = 0;

		for (int k = 0; k < 200; k++)
			sum += receive(fds[i], JOBS_PLAIN);
		/* i, i + 4, ... i + 796 */
		ck_assert_uint_eq(sum, 200 * (unsigned)i + 4 * (199 * 200 / 2));
		close(fds[i]);
	}
	daemon_end(site.daemon);
	daemon_expect_counter(site.daemon, "jobs", 800);
	daemon_expect_counter(site.daemon, "jobs_refused", 0);
	ck_assert(daemon_has_logged(site.daemon, "taken 800 done 800, now refused with -3"));
	daemon_destroy(&site.daemon);
}
END_TEST

START_TEST(loop_serves_while_jobs_block)
{
	struct site site = site_open("worker-threads = 2");
	int fd = site_connect(&site), other = site_connect(&site);
	pid_t worker = daemon_worker(site.daemon, 0);

	ck_assert_uint_eq(n_threads(worker), 0);
	for (uint32_t i = 0; i < 5; i++)
		ask(fd, JOBS_GATED, i, 0);
	ping(other);
	ping(fd);
	WAIT_FOR(n_threads(worker) == 2);
	open_gate(&site);
	for (uint32_t i = 0; i < 5; i++)
		receive(fd, JOBS_GATED);
	ck_assert_uint_eq(n_threads(worker), 2);
	close(fd);
	close(other);
	daemon_stop(&site.daemon);
}
END_TEST

/* With the connection's id as the key, and with one that connections share. */
START_TEST(jobs_of_a_key_keep_their_order)
{
	struct site site = site_open("worker-threads = 8");
	int one = site_connect(&site), two = site_connect(&site);

	for (uint32_t i = 0; i < 100; i++) {
		ask(one, JOBS_IN_ORDER, i, 0);
		ask(two, JOBS_PLAIN, i, 5);
	}
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_uint_eq(receive(two, JOBS_PLAIN), i);
	open_gate(&site);
	for (uint32_t i = 0; i < 100; i++)
		ck_assert_uint_eq(receive(one, JOBS_IN_ORDER), i);
	ask(one, JOBS_AGAIN, 50, 9);
	for (uint32_t i = 0; i <= 50; i++)
		ck_assert_uint_eq(receive(one, JOBS_AGAIN), 50 - i);
	close(one);
	close(two);
	daemon_stop(&site.daemon);
}
END_TEST

START_TEST(full_pool_is_an_error_at_once)
{
	struct site site = site_open("worker-threads = 1\nworker-jobs = 3");
	int fd = site_connect(&site);

	for (uint32_t i = 0; i < 3; i++)
		ask(fd, JOBS_GATED, i, 0);
	for (int i = 0; i < 50; i++) {
		ask(fd, JOBS_GATED, 3, 0);
		ck_assert_int_eq((int32_t)receive(fd, JOBS_REFUSED), -1);
	}
	ck_assert(daemon_has_logged(site.daemon, "job refused: 3 jobs run or wait"));
	open_gate(&site);
	for (uint32_t i = 0; i < 3; i++)
		ck_assert_uint_eq(receive(fd, JOBS_GATED), i);
	ask(fd, JOBS_GATED, 3, 0);
	ck_assert_uint_eq(receive(fd, JOBS_GATED), 3);
	close(fd);
	daemon_end(site.daemon);
	daemon_expect_counter(site.daemon, "jobs", 4);
	daemon_expect_counter(site.daemon, "jobs_refused", 50);
	daemon_destroy(&site.daemon);
}
END_TEST

/* Before there is a loop (the module tries it), and without functions. */
START_TEST(bad_job_is_refused)
{
	struct site site = site_open("");
	int fd = site_connect(&site);

	ck_assert(daemon_has_logged(site.daemon, "there are no threads before the start hook"));
	ask(fd, JOBS_NOTHING, 0, 0);
	ck_assert_int_eq((int32_t)receive(fd, JOBS_REFUSED), -5);
	ck_assert(daemon_has_logged(site.daemon, "job refused: it has no function"));
	close(fd);
	daemon_stop(&site.daemon);
}
END_TEST

/* Reset by the peer, or closed by the module: it is not waited for, and the job is done alone. */
START_TEST(connection_may_end_before_its_job)
{
	struct site site = site_open("");
	int fd = site_connect(&site);

	ask(fd, _i == 0 ? JOBS_GATED : JOBS_CLOSE, 12, 0);
	if (_i == 0) {
		ping(fd);
		client_reset(fd);
	} else {
		client_expect_eof(fd);
		close(fd);
	}
	WAIT_FOR(daemon_has_logged(site.daemon, "connection closed"));
	open_gate(&site);
	WAIT_FOR(daemon_has_logged(site.daemon, "job 12 ran, conn gone"));
	daemon_stop(&site.daemon);
}
END_TEST

START_TEST(job_without_connection_has_none)
{
	struct site site = site_open("");
	int fd = site_connect(&site);

	ask(fd, JOBS_LOOSE, 13, 0);
	open_gate(&site);
	WAIT_FOR(daemon_has_logged(site.daemon, "job 13 ran, conn gone"));
	close(fd);
	daemon_stop(&site.daemon);
}
END_TEST

/* A peer that ends its side still gets the reply to all that it has sent. */
START_TEST(half_close_gets_the_replies_of_jobs)
{
	struct site site = site_open("");
	int fd = site_connect(&site);

	for (uint32_t i = 0; i < 10; i++)
		ask(fd, JOBS_IN_ORDER, i, 0);
	shutdown(fd, SHUT_WR);
	client_await_read(fd);
	open_gate(&site);
	for (uint32_t i = 0; i < 10; i++)
		ck_assert_uint_eq(receive(fd, JOBS_IN_ORDER), i);
	client_expect_eof(fd);
	close(fd);
	daemon_end(site.daemon);
	daemon_expect_counter(site.daemon, "closed_peer", 1);
	daemon_destroy(&site.daemon);
}
END_TEST

/* The last job's end is the connection's, also when it has no reply. */
START_TEST(half_close_ends_without_a_reply)
{
	struct site site = site_open("");
	int fd = site_connect(&site);

	ask(fd, JOBS_SILENT, 15, 0);
	ask(fd, JOBS_SILENT, 16, 0);
	shutdown(fd, SHUT_WR);
	client_await_read(fd);
	open_gate(&site);
	client_expect_eof(fd);
	close(fd);
	ck_assert(daemon_has_logged(site.daemon, "job 15 ran, conn there"));
	ck_assert(daemon_has_logged(site.daemon, "job 16 ran, conn there"));
	daemon_stop(&site.daemon);
}
END_TEST

/* A graceful stop waits for jobs: of connections, which get their replies, and of none. */
START_TEST(stop_waits_for_jobs)
{
	struct site site = site_open("");
	int fd = site_connect(&site);

	if (_i == 0)
		ask(fd, JOBS_GATED, 21, 0);
	ask(fd, JOBS_LOOSE, 22, 0);
	ping(fd);
	daemon_signal(site.daemon, SIGTERM);
	WAIT_FOR(daemon_has_logged(site.daemon, "signal TERM"));
	if (_i == 1)
		client_expect_eof(fd);
	ck_assert(!daemon_has_ended(site.daemon));
	open_gate(&site);
	if (_i == 0) {
		ck_assert_uint_eq(receive(fd, JOBS_GATED), 21);
		client_expect_eof(fd);
	}
	close(fd);
	ck_assert_int_eq(daemon_await_end(site.daemon), 0);
	ck_assert(daemon_has_logged(site.daemon, "job 22 ran, conn gone"));
	ck_assert(
	    daemon_has_logged(site.daemon, _i == 0 ? "taken 2 done 2" : "taken 1 done 1"));
	daemon_destroy(&site.daemon);
}
END_TEST

static void reload(const struct site *site)
{
	daemon_signal(site->daemon, SIGHUP);
	WAIT_FOR(daemon_has_logged(site->daemon, "generation 2 serves with 1 worker"));
}

/* In a reload a connection with a job waits for it, and then moves. */
START_TEST(connection_moves_after_its_job)
{
	struct site site = site_open_with("drain-timeout = 5m", "moves = true");
	int fd = site_connect(&site), other = site_connect(&site);

	ask(fd, JOBS_GATED, 51, 5);
	ask(fd, JOBS_SILENT, 52, 5);
	ping(fd);
	reload(&site);
	/* The other one has gone over, the one with jobs is served where they are. */
	ping(other);
	ping(fd);
	open_gate(&site);
	ck_assert_uint_eq(receive(fd, JOBS_GATED), 51);
	WAIT_FOR(daemon_has_logged(site.daemon, "taken 2 done 2"));
	ck_assert(daemon_has_logged(site.daemon, "job 51 ran, conn there"));
	ck_assert(daemon_has_logged(site.daemon, "job 52 ran, conn there"));
	ping(fd);
	ping(other);
	close(fd);
	close(other);
	daemon_end(site.daemon);
	daemon_expect_counter(site.daemon, "moved_out", 2);
	daemon_destroy(&site.daemon);
}
END_TEST

/* One that does not move is told the end when its jobs are done. */
START_TEST(reload_waits_for_jobs)
{
	struct site site = site_open("drain-timeout = 1m");
	int fd = site_connect(&site);

	ask(fd, JOBS_GATED, 53, 0);
	ask(fd, JOBS_LOOSE, 54, 0);
	ping(fd);
	reload(&site);
	open_gate(&site);
	ck_assert_uint_eq(receive(fd, JOBS_GATED), 53);
	WAIT_FOR(daemon_has_logged(site.daemon, "job 54 ran, conn gone"));
	daemon_signal(site.daemon, SIGTERM);
	client_expect_eof(fd);
	close(fd);
	ck_assert_int_eq(daemon_await_end(site.daemon), 0);
	daemon_destroy(&site.daemon);
}
END_TEST

/*
 * Time is over and one job runs on: that which waits for a thread is done without having run,
 * that which waits for the one that runs is not, and nothing is freed under the thread.
 */
START_TEST(stop_does_not_wait_for_ever)
{
	struct site site = site_open("worker-threads = 1\ndrain-timeout = 100ms");
	int fd = site_connect(&site);
	char reached[256];

	ask(fd, JOBS_GATED, 31, 5);
	ask(fd, JOBS_GATED, 32, 5);
	ask(fd, JOBS_GATED, 33, 0);
	ping(fd);
	snprintf(reached, sizeof(reached), "%s-reached", site.gate);
	WAIT_FOR(access(reached, F_OK) == 0);
	daemon_signal(site.daemon, _i == 0 ? SIGTERM : SIGINT);
	client_expect_end(fd);
	close(fd);
	ck_assert_int_eq(daemon_await_end(site.daemon), 0);
	ck_assert(!daemon_has_logged(site.daemon, "job 31"));
	ck_assert(!daemon_has_logged(site.daemon, "job 32"));
	ck_assert(daemon_has_logged(site.daemon, "job 33 did not run, conn gone"));
	ck_assert(daemon_has_logged(site.daemon, "2 jobs are not done"));
	ck_assert(!daemon_has_logged(site.daemon, "now refused"));
	ck_assert(!daemon_has_logged(site.daemon, "killed"));
	daemon_destroy(&site.daemon);
}
END_TEST

/* A worker that is told to end at once makes no connection while a job keeps it. */
START_TEST(no_connection_is_made_while_a_job_ends)
{
	struct backend backend;
	char options[160], reached[256];
	struct site site;
	int server, fd;

	backend_open(&backend);
	snprintf(options, sizeof(options),
	    "connect back { address = \"127.0.0.1:%u\" modules = { jobs } "
	    "reconnect-min = 1ms reconnect-max = 1ms }",
	    backend.port);
	site = site_open(options);
	server = backend_accept(&backend);
	fd = site_connect(&site);
	ask(fd, JOBS_GATED, 34, 0);
	snprintf(reached, sizeof(reached), "%s-reached", site.gate);
	WAIT_FOR(access(reached, F_OK) == 0);
	daemon_signal(site.daemon, SIGINT);
	client_expect_end(server);
	client_expect_end(fd);
	close(server);
	close(fd);
	ck_assert_int_eq(daemon_await_end(site.daemon), 0);
	daemon_expect_counter(site.daemon, "connected", 1);
	ck_assert(!daemon_has_logged(site.daemon, "bug: "));
	ck_assert(!daemon_has_logged(site.daemon, "next attempt"));
	daemon_destroy(&site.daemon);
	backend_close(&backend);
}
END_TEST

START_TEST(crash_in_done_is_told)
{
	struct site site = site_open("");
	int fd = site_connect(&site);

	ask(fd, JOBS_CRASH, 42, 0);
	client_expect_end(fd);
	close(fd);
	WAIT_FOR(daemon_has_logged(
	    site.daemon, "it died with module 'jobs' in the done function of a job"));
	daemon_stop(&site.daemon);
}
END_TEST

/* Also while the loop is in a handler, which has nothing to do with it. _i: in which way. */
START_TEST(crash_in_a_job_is_told)
{
	struct site site = site_open("");
	int fd = site_connect(&site);

	ask(fd, JOBS_ABORT + (uint32_t)_i, 43, 0);
	ask(fd, JOBS_STALL, 0, 0);
	client_expect_end(fd);
	close(fd);
	WAIT_FOR(daemon_n_started(site.daemon, 0) == 2);
	ck_assert(daemon_has_logged(site.daemon, "it died in a job of module 'jobs'"));
	ck_assert(!daemon_has_logged(site.daemon, "it died with"));
	daemon_stop(&site.daemon);
}
END_TEST

START_TEST(call_from_a_thread_ends_the_worker)
{
	static const char *const calls[] = { "log", "conn_age_ms", "conn_idle_ms",
		"stop_timer" };
	char reason[100];
	struct site site = site_open("");
	int fd = site_connect(&site);

	ask(fd, JOBS_BAD, 41, JOBS_CALL_LOG + (uint32_t)_i);
	client_expect_end(fd);
	close(fd);
	WAIT_FOR(daemon_n_started(site.daemon, 0) == 2);
	snprintf(reason, sizeof(reason),
	    "a module calls rnl_%s() in a thread that is not the loop's", calls[_i]);
	ck_assert(daemon_has_logged(site.daemon, reason));
	WAIT_FOR(daemon_n_logged(site.daemon, "signal 6") == 1);
	fd = site_connect(&site);
	ping(fd);
	close(fd);
	daemon_stop(&site.daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("f_work");
	TCase *jobs = run_case(suite, "jobs");
	TCase *end = run_case(suite, "end");

	tcase_add_test(jobs, jobs_are_done_for_their_connections);
	tcase_add_test(jobs, loop_serves_while_jobs_block);
	tcase_add_test(jobs, jobs_of_a_key_keep_their_order);
	tcase_add_test(jobs, full_pool_is_an_error_at_once);
	tcase_add_test(jobs, bad_job_is_refused);
	tcase_add_test(jobs, job_without_connection_has_none);
	tcase_add_test(jobs, crash_in_done_is_told);
	/* A sanitizer ends a process that faults in its own way. */
	tcase_add_loop_test(jobs, crash_in_a_job_is_told, 0, RUN_IS_SANITIZED ? 1 : 3);
	tcase_add_loop_test(
	    jobs, call_from_a_thread_ends_the_worker, 0, JOBS_CALL_STOP_TIMER + 1);
	tcase_add_loop_test(end, connection_may_end_before_its_job, 0, 2);
	tcase_add_test(end, half_close_gets_the_replies_of_jobs);
	tcase_add_test(end, half_close_ends_without_a_reply);
	tcase_add_loop_test(end, stop_waits_for_jobs, 0, 2);
	tcase_add_test(end, connection_moves_after_its_job);
	tcase_add_test(end, reload_waits_for_jobs);
	tcase_add_loop_test(end, stop_does_not_wait_for_ever, 0, 2);
	tcase_add_test(end, no_connection_is_made_while_a_job_ends);
	return run_suite(suite);
}
