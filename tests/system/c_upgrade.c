/*
 * Upgrade: another binary takes over, or nothing has happened.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/process.h"
#include "system/run.h"

#define N_CLIENTS 64

#define LISTEN "listen main { address = \"127.0.0.1:0\" modules = { probe } }\n"
#define STAYING PROBE_SECTION LISTEN
#define MOVING "module probe { path = \"" PROBE_PATH "\" moves = true }\n" LISTEN

/* The binary is a copy in the daemon's folder, which a test can replace. */
struct subject {
	struct daemon *daemon;
	char binary[160], pid_file[160];
};

static void copy_binary(const char *from, const char *to)
{
	char text[65536], fresh[192];
	FILE *in = fopen(from, "re"), *out;
	size_t n;

	ck_assert_ptr_nonnull(in);
	snprintf(fresh, sizeof(fresh), "%s.new", to);
	out = fopen(fresh, "we");
	ck_assert_ptr_nonnull(out);
	while ((n = fread(text, 1, sizeof(text), in)) > 0)
		ck_assert_uint_eq(fwrite(text, 1, n, out), n);
	fclose(in);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(chmod(fresh, 0755), 0);
	ck_assert_int_eq(rename(fresh, to), 0);
}

static const char *our_binary(void)
{
	const char *path = getenv("RUNNELD_ORIGINAL");

	return path != NULL ? path : BUILD_DIR "/runneld";
}

static void write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");

	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(text, file), 0);
	ck_assert_int_eq(fclose(file), 0);
}

static void prepare(struct subject *subject, unsigned n_workers, const char *conf)
{
	struct daemon *daemon = daemon_new(n_workers, "%s", conf);
	char text[4096];

	subject->daemon = daemon;
	snprintf(subject->binary, sizeof(subject->binary), "%s/runneld", daemon->folder);
	snprintf(subject->pid_file, sizeof(subject->pid_file), "%s/pid", daemon->folder);
	snprintf(text, sizeof(text), "pid-file = \"%s\"\n%s", subject->pid_file,
	    daemon_read(daemon, daemon->conf));
	daemon_set_conf(daemon, text);
	copy_binary(our_binary(), subject->binary);
	setenv("RUNNELD", subject->binary, 1);
}

static void start(struct subject *subject, unsigned n_workers)
{
	prepare(subject, n_workers, MOVING);
	daemon_start(subject->daemon);
}

static pid_t read_pid(struct subject *subject)
{
	return (pid_t)atoi(daemon_read(subject->daemon, subject->pid_file));
}

/* The old master ends well, and the new one is the daemon now. */
static void upgrade(struct subject *subject)
{
	struct daemon *daemon = subject->daemon;
	pid_t before = daemon->pid;

	ck_assert_int_eq(read_pid(subject), before);
	daemon_signal(daemon, SIGUSR2);
	WAIT_FOR(daemon_has_ended(daemon));
	ck_assert_int_eq(daemon->exit_status, 0);
	ck_assert_int_ne(read_pid(subject), before);
	daemon_attach(daemon, subject->pid_file);
}

static void fail_to_upgrade(struct subject *subject)
{
	struct daemon *daemon = subject->daemon;
	unsigned n_before = daemon_n_logged(daemon, "upgrade failed");

	daemon_signal(daemon, SIGUSR2);
	WAIT_FOR(daemon_n_logged(daemon, "upgrade failed") == n_before + 1);
	ck_assert_int_eq(read_pid(subject), daemon->pid);
}

START_TEST(another_binary_goes_on_with_the_connections)
{
	struct subject subject;
	struct identity before[N_CLIENTS], after;
	int fds[N_CLIENTS];
	uint16_t port;

	start(&subject, run_workers(_i));
	port = daemon_port(subject.daemon, "main");
	for (int i = 0; i < N_CLIENTS; i++) {
		fds[i] = client_connect(port);
		before[i] = probe_who(fds[i]);
	}
	for (int round = 0; round < 3; round++) {
		copy_binary(our_binary(), subject.binary);
		upgrade(&subject);
		for (int i = 0; i < N_CLIENTS; i++) {
			after = probe_who(fds[i]);
			ck_assert(after.id == before[i].id);
			ck_assert_uint_eq(after.worker, before[i].worker);
		}
	}
	for (int i = 0; i < N_CLIENTS; i++) {
		int fd = client_connect(port);

		ck_assert(probe_who(fd).id != before[i].id);
		close(fd);
		close(fds[i]);
	}
	daemon_end(subject.daemon);
	daemon_expect_counter(subject.daemon, "accepted", 2 * N_CLIENTS);
	daemon_expect_counter(subject.daemon, "frames_in", 5 * N_CLIENTS);
	daemon_expect_counter(subject.daemon, "moved_in", 3 * N_CLIENTS);
	daemon_expect_counter(subject.daemon, "closed_shutdown", 0);
	daemon_destroy(&subject.daemon);
}
END_TEST

enum breakage {
	NOT_THERE,
	NOT_EXECUTABLE,
	FALSE,
	SCRIPT,
	TRUNCATED,
	BAD_CONF,
	NO_SOCKETS, /* their list is cut off on the way */
	N_BREAKAGES
};

static void write_script(struct subject *subject, const char *text)
{
	ck_assert_int_eq(unlink(subject->binary), 0);
	write_file(subject->binary, text);
	ck_assert_int_eq(chmod(subject->binary, 0755), 0);
}

static void damage(struct subject *subject, enum breakage breakage)
{
	char text[512];

	switch (breakage) {
	case NOT_THERE:
		ck_assert_int_eq(unlink(subject->binary), 0);
		break;
	case NOT_EXECUTABLE:
		ck_assert_int_eq(chmod(subject->binary, 0644), 0);
		break;
	case FALSE:
		copy_binary("/bin/false", subject->binary);
		break;
	case SCRIPT:
		write_script(subject, "#!/bin/sh\nexit 3\n");
		break;
	case TRUNCATED:
		copy_binary(our_binary(), subject->binary);
		write_script(subject, "\177ELF");
		break;
	case NO_SOCKETS:
		snprintf(text, sizeof(text),
		    "#!/bin/sh\n: >/proc/self/fd/$RUNNEL_SOCKETS\nexec %s \"$@\"\n",
		    our_binary());
		write_script(subject, text);
		break;
	default:
		daemon_set_conf(subject->daemon, "no conf");
	}
}

START_TEST(a_broken_binary_or_conf_changes_nothing)
{
	struct subject subject;
	struct identity before, after;
	uint16_t port;
	char *conf;
	int fd;

	start(&subject, 2);
	port = daemon_port(subject.daemon, "main");
	conf = strdup(daemon_read(subject.daemon, subject.daemon->conf));
	fd = client_connect(port);
	before = probe_who(fd);
	damage(&subject, (enum breakage)_i);
	fail_to_upgrade(&subject);
	ck_assert_int_eq(strstr(daemon_read(subject.daemon, subject.daemon->err),
			     "RUNNEL_SOCKETS say is not left by a runneld") != NULL,
	    _i == NO_SOCKETS);
	after = probe_who(fd);
	ck_assert(after.id == before.id);
	daemon_set_conf(subject.daemon, conf);
	copy_binary(our_binary(), subject.binary);
	upgrade(&subject);
	after = probe_who(fd);
	ck_assert(after.id == before.id);
	close(fd);
	free(conf);
	daemon_stop(&subject.daemon);
}
END_TEST

/* In the background what the new binary says of the conf reaches the log. */
START_TEST(a_daemon_in_the_background_is_upgraded)
{
	struct subject subject;
	struct daemon *daemon;
	char *conf;
	int fd;

	prepare(&subject, 2, MOVING);
	daemon = subject.daemon;
	ck_assert_int_eq(daemon_run(daemon, "-c", daemon->conf, NULL), 0);
	daemon_attach(daemon, subject.pid_file);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "before");
	conf = strdup(daemon_read(daemon, daemon->conf));
	daemon_set_conf(daemon, "workers = many\n");
	fail_to_upgrade(&subject);
	ck_assert(daemon_has_logged(daemon, "goes on: the new runneld exited with status 1: "));
	ck_assert(daemon_has_logged(daemon, "workers"));
	daemon_set_conf(daemon, conf);
	upgrade(&subject);
	client_ping(fd, "after");
	close(fd);
	free(conf);
	daemon_stop(&daemon);
}
END_TEST

/* A binary that hangs is told to end with the old master. */
START_TEST(a_stop_ends_an_upgrade)
{
	struct subject subject;

	start(&subject, 2);
	write_script(&subject, "#!/bin/sh\nexec sleep 1000\n");
	daemon_signal(subject.daemon, SIGUSR2);
	WAIT_FOR(daemon_has_logged(subject.daemon, "upgrade: started"));
	/* Neither of these is done now. */
	daemon_signal(subject.daemon, SIGUSR2);
	WAIT_FOR(daemon_has_logged(subject.daemon, "no upgrade now"));
	daemon_signal(subject.daemon, SIGHUP);
	WAIT_FOR(daemon_has_logged(subject.daemon, "no reload now"));
	daemon_signal(subject.daemon, SIGTTIN);
	WAIT_FOR(daemon_has_logged(subject.daemon, "the number of workers stays"));
	daemon_stop(&subject.daemon);
}
END_TEST

/* The old master still has a client when the daemon is told to stop: that is its end, too. */
START_TEST(a_stop_ends_the_old_master_with_the_new_one)
{
	struct subject subject;
	pid_t old, new;
	int fd, status = -1;

	prepare(&subject, 1, "drain-timeout = 10m\n" STAYING);
	daemon_start(subject.daemon);
	old = subject.daemon->pid;
	fd = client_connect(daemon_port(subject.daemon, "main"));
	client_ping(fd, "before");
	daemon_signal(subject.daemon, SIGUSR2);
	WAIT_FOR(daemon_has_logged(subject.daemon, "upgrade: pid "));
	client_ping(fd, "it drains");
	new = read_pid(&subject);
	ck_assert_int_ne(new, old);
	ck_assert_int_eq(kill(new, SIGTERM), 0);
	client_expect_eof(fd);
	close(fd);
	WAIT_FOR(waitpid(new, &status, WNOHANG) == new);
	ck_assert_int_eq(status, 0);
	/* It was first. */
	ck_assert(daemon_has_ended(subject.daemon));
	ck_assert_int_eq(subject.daemon->exit_status, 0);
	daemon_destroy(&subject.daemon);
}
END_TEST

#define N_MANY 2000

/* While connections still come from the old master's workers the next change begins. */
START_TEST(change_that_follows_an_upgrade_at_once_loses_no_connection)
{
	static int fds[N_MANY];
	struct subject subject;
	struct daemon *daemon;
	uint16_t port;

	start(&subject, 2);
	daemon = subject.daemon;
	port = daemon_port(daemon, "main");
	for (int i = 0; i < N_MANY; i++) {
		fds[i] = client_connect(port);
		client_ping(fds[i], "before");
	}
	daemon_signal(daemon, SIGUSR2);
	WAIT_FOR(daemon_n_logged(daemon, "ready: 2 workers") == 2);
	ck_assert_int_eq(kill(read_pid(&subject), _i == 0 ? SIGHUP : SIGUSR2), 0);
	if (_i == 0)
		WAIT_FOR(daemon_has_logged(daemon, "serves with 2 workers"));
	else
		WAIT_FOR(daemon_n_logged(daemon, "ready: 2 workers") == 3);
	WAIT_FOR(daemon_has_ended(daemon));
	daemon_attach(daemon, subject.pid_file);
	for (int i = 0; i < N_MANY; i++) {
		client_ping(fds[i], "after");
		close(fds[i]);
	}
	daemon_end(daemon);
	daemon_expect_counter(daemon, "accepted", N_MANY);
	daemon_expect_counter(daemon, "closed_shutdown", 0);
	daemon_expect_counter(daemon, "closed_drain_timeout", 0);
	daemon_destroy(&daemon);
}
END_TEST

/* A worker of the new master dies with ten, and more on the way to it: the next one gets those. */
START_TEST(only_what_a_new_worker_had_taken_dies_with_it)
{
	static int fds[N_MANY];
	struct subject subject;
	struct daemon *daemon;
	char text[4096];
	unsigned n_lost = 0;

	start(&subject, 1);
	daemon = subject.daemon;
	for (int i = 0; i < N_MANY; i++) {
		fds[i] = client_connect(daemon_port(daemon, "main"));
		client_ping(fds[i], "before");
	}
	snprintf(text, sizeof(text),
	    "workers = 1\nlog = \"%s\"\npid-file = \"%s\"\n"
	    "module probe { path = \"" PROBE_PATH "\" moves = true "
	    "crash-mark = \"%s/mark\" }\n" LISTEN,
	    daemon->log, subject.pid_file, daemon->folder);
	daemon_set_conf(daemon, text);
	upgrade(&subject);
	for (int i = 0; i < N_MANY; i++) {
		n_lost += !client_try_ping(fds[i]);
		close(fds[i]);
	}
	ck_assert_uint_eq(n_lost, 10);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_worker_died", n_lost);
	daemon_expect_counter(daemon, "moved_out", daemon_counter(daemon, "moved_in"));
	daemon_expect_counter(daemon, "closed_shutdown", 0);
	daemon_expect_counter(daemon, "closed_drain_timeout", 0);
	daemon_destroy(&daemon);
}
END_TEST

/* The number of workers is the new conf's. */
START_TEST(an_upgrade_reads_the_conf)
{
	struct subject subject;
	uint64_t ids[N_CLIENTS];
	int fds[N_CLIENTS];
	char text[4096];

	start(&subject, 4);
	for (int i = 0; i < N_CLIENTS; i++) {
		fds[i] = client_connect(daemon_port(subject.daemon, "main"));
		ids[i] = probe_who(fds[i]).id;
	}
	snprintf(text, sizeof(text), "workers = 2\nlog = \"%s\"\npid-file = \"%s\"\n%s",
	    subject.daemon->log, subject.pid_file, MOVING);
	daemon_set_conf(subject.daemon, text);
	upgrade(&subject);
	WAIT_FOR(daemon_has_logged(subject.daemon, "ready: 2 workers"));
	for (int i = 0; i < N_CLIENTS; i++) {
		int fd = client_connect(daemon_port(subject.daemon, "main"));

		ck_assert(probe_who(fds[i]).id == ids[i]);
		client_ping(fd, "served");
		close(fd);
		close(fds[i]);
	}
	daemon_stop(&subject.daemon);
}
END_TEST

/* The ports that the kernel chose for a listener, in the order of the log. */
static void read_ports(struct daemon *daemon, uint16_t ports[2])
{
	static const char text[] = "listen main: listening on 127.0.0.1:";
	const char *at = daemon_read(daemon, daemon->log);

	for (int i = 0; i < 2; i++) {
		at = strstr(at, text);
		ck_assert_ptr_nonnull(at);
		at += sizeof(text) - 1;
		ports[i] = (uint16_t)atoi(at);
	}
}

static void expect_both_served(const uint16_t ports[2])
{
	for (int i = 0; i < 2 * N_CLIENTS; i++) {
		int fd = client_connect(ports[i % 2]);

		client_ping(fd, "served");
		close(fd);
	}
}

/* The same address twice, with port 0, is two ports, which stay apart. */
START_TEST(ports_that_the_kernel_chose_stay)
{
	struct subject subject;
	struct daemon *daemon;
	uint16_t ports[2];

	prepare(&subject, 2,
	    "module probe { path = \"" PROBE_PATH "\" moves = true }\n"
	    "listen main { address = { \"127.0.0.1:0\", \"127.0.0.1:0\" } modules = { probe } "
	    "}\n");
	daemon = subject.daemon;
	daemon_start(daemon);
	read_ports(daemon, ports);
	ck_assert_uint_ne(ports[0], ports[1]);
	for (int round = 0; round < 3; round++) {
		upgrade(&subject);
		expect_both_served(ports);
	}
	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(daemon_has_logged(daemon, "serves with 2 workers"));
	WAIT_FOR(daemon_has_logged(daemon, "has ended"));
	expect_both_served(ports);
	/* No other was opened on the way. */
	ck_assert_uint_eq(daemon_n_logged(daemon, "listening on"), 2);
	daemon_stop(&daemon);
}
END_TEST

#define LONG "a-name-that-makes-the-list-of-the-sockets-longer-than-it-"

/* The list of the sockets is longer than one variable of the environment may be. */
START_TEST(many_sockets_go_over_an_upgrade)
{
	static char conf[65536];
	struct subject subject;
	uint16_t port;
	size_t len;
	int fd;

	prepare(&subject, 1, MOVING);
	len = (size_t)snprintf(conf, sizeof(conf),
	    "workers = 1\nlog = \"%s\"\npid-file = \"%s\"\n"
	    "module probe { path = \"" PROBE_PATH "\" moves = true }\n",
	    subject.daemon->log, subject.pid_file);
	for (int i = 0; i < 60; i++) {
		len += (size_t)snprintf(
		    conf + len, sizeof(conf) - len, "listen " LONG "%d { address = { ", i);
		for (int j = 1; j <= 30; j++)
			len += (size_t)snprintf(conf + len, sizeof(conf) - len,
			    "%s\"127.0.0.%d:0\"", j > 1 ? ", " : "", j);
		len += (size_t)snprintf(
		    conf + len, sizeof(conf) - len, " } modules = { probe } }\n");
	}
	ck_assert_uint_lt(len, sizeof(conf));
	daemon_set_conf(subject.daemon, conf);
	daemon_start(subject.daemon);
	port = daemon_port(subject.daemon, LONG "0");
	fd = client_connect(port);
	client_ping(fd, "before");
	upgrade(&subject);
	client_ping(fd, "after");
	close(fd);
	fd = client_connect(port);
	client_ping(fd, "a new one");
	close(fd);
	daemon_stop(&subject.daemon);
}
END_TEST

/* Whoever sets the variables by hand is told. */
START_TEST(an_upgrade_that_is_none_is_refused)
{
	static const char *const lies[] = { "", "1 2 3", "0 1 2 3 4 5", "999 998 997 1 1 1 x",
		"999 998 997 1 1 1" };
	struct daemon *daemon = daemon_new(1, "%s", MOVING);

	setenv("RUNNEL_UPGRADE", lies[_i], 1);
	setenv("RUNNEL_SOCKETS", "997", 1);
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert(strstr(daemon_read(daemon, daemon->err), "not left by a runneld") != NULL);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_upgrade");
	TCase *tcase = run_case(suite, "upgrade");
	const char *path = getenv("RUNNELD");

	if (path != NULL)
		setenv("RUNNELD_ORIGINAL", path, 1);
	run_add_workers(tcase, another_binary_goes_on_with_the_connections);
	tcase_add_loop_test(tcase, a_broken_binary_or_conf_changes_nothing, 0, N_BREAKAGES);
	tcase_add_test(tcase, a_daemon_in_the_background_is_upgraded);
	tcase_add_test(tcase, a_stop_ends_an_upgrade);
	tcase_add_test(tcase, a_stop_ends_the_old_master_with_the_new_one);
	tcase_add_loop_test(
	    tcase, change_that_follows_an_upgrade_at_once_loses_no_connection, 0, 2);
	tcase_add_test(tcase, only_what_a_new_worker_had_taken_dies_with_it);
	tcase_add_test(tcase, an_upgrade_reads_the_conf);
	tcase_add_test(tcase, ports_that_the_kernel_chose_stay);
	tcase_add_test(tcase, many_sockets_go_over_an_upgrade);
	tcase_add_loop_test(tcase, an_upgrade_that_is_none_is_refused, 0, 5);
	return run_suite(suite);
}
