/*
 * The process that serves HTTP: its rights, its death, and what becomes of it when the conf, the
 * binary or the master change. Clients of messages notice none of it.
 */
#include "config.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/client.h"
#include "system/ctl.h"
#include "system/daemon.h"
#include "system/http.h"
#include "system/process.h"
#include "system/run.h"

#define expect_said(daemon, text)                                                   \
	ck_assert_msg(strstr(daemon_read((daemon), (daemon)->err), (text)) != NULL, \
	    "no '%s' on stderr:\n%.2000s", (text), daemon_read((daemon), (daemon)->err))

static bool is_gone(pid_t pid)
{
	char state;

	/* Whose master has died is a child of the test. */
	waitpid(pid, NULL, WNOHANG);
	state = process_state(pid);
	return state == '\0' || state == 'Z';
}

/* --- rights --- */

static void expect_status(pid_t pid, const char *expected)
{
	char path[64], line[256];
	bool is_there = false;
	FILE *status;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	ck_assert_ptr_nonnull(status);
	while (fgets(line, sizeof(line), status) != NULL)
		is_there = is_there || strcmp(line, expected) == 0;
	fclose(status);
	ck_assert_msg(is_there, "%s lacks %s", path, expected);
}

/* Descriptors of a process whose target begins with text. */
static unsigned count_fds(pid_t pid, const char *text)
{
	char path[64], target[256];
	struct dirent *entry;
	unsigned n = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	ck_assert_ptr_nonnull(folder);
	while ((entry = readdir(folder)) != NULL) {
		ssize_t len =
		    readlinkat(dirfd(folder), entry->d_name, target, sizeof(target) - 1);

		target[len > 0 ? len : 0] = '\0';
		n += len > 0 && strncmp(target, text, strlen(text)) == 0;
	}
	closedir(folder);
	return n;
}

/* The socket that listens and the pair, pipes for its end and the log, and its epoll set. */
static void expect_few_fds(pid_t pid)
{
	ck_assert_uint_eq(count_fds(pid, "/dev/null"), 1);
	ck_assert_uint_eq(count_fds(pid, "socket:"), 2);
	ck_assert_uint_eq(count_fds(pid, "pipe:"), 2);
	ck_assert_uint_eq(count_fds(pid, "anon_inode:"), 1);
	ck_assert_uint_eq(count_fds(pid, ""), 6);
}

START_TEST(helper_has_its_descriptors_only)
{
	struct daemon *daemon = http_daemon(2, "%s", "");
	int clients[8], leaked = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* What a test keeps from the daemon is below that: the master has this one. */
	ck_assert_int_ge(fcntl(leaked, F_DUPFD, 1024), 1024);
	close(leaked);
	daemon_start(daemon);
	ck_assert_uint_eq(count_fds(daemon->pid, "/dev/null"), 2);
	for (size_t i = 0; i < 8; i++) {
		clients[i] = client_connect(daemon_port(daemon, "main"));
		client_ping(clients[i], "hello");
	}
	http_expect(http_port(daemon), "/metrics", 200, "runnel_");
	/* The connection that asked is closed a moment later. */
	WAIT_FOR(process_n_fds(http_pid(daemon)) == 6);
	expect_few_fds(http_pid(daemon));
	expect_status(http_pid(daemon), "NoNewPrivs:\t1\n");
	expect_status(http_pid(daemon), "Threads:\t1\n");
	for (size_t i = 0; i < 8; i++)
		close(clients[i]);
	http_stop(&daemon);
}
END_TEST

/* Where the other user can reach it: the tree that is tested may be private. */
static void copy_helper(const struct daemon *daemon, char path[CTL_PATH_SIZE])
{
	ck_assert_int_eq(chmod(run_folder(), 0711), 0);
	ck_assert_int_eq(chmod(daemon->folder, 0711), 0);
	ctl_path(daemon, "runnel-http", path);
	ck_assert_int_eq(
	    process_run("/bin/cp", "/dev/null", "cp", HTTP_PROGRAM, path, NULL), 0);
}

/* The modules of the build tree may be out of the other user's reach, too. */
static struct daemon *daemon_with_copies(const char *options)
{
	struct daemon *daemon = daemon_new(1, "%s", "");
	char text[1024], path[CTL_PATH_SIZE];

	copy_helper(daemon, path);
	ck_assert_int_eq(process_run("/bin/cp", "/dev/null", "cp", OUR_MODULES "/echo.so",
			     daemon->folder, NULL),
	    0);
	snprintf(text, sizeof(text),
	    "workers = 1\nlog = \"%s\"\n%smodule echo { path = \"%s/echo.so\" }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { echo } }\n"
	    "metrics-address = \"127.0.0.1:0\"\nmetrics-program = \"%s\"\n",
	    daemon->log, options, daemon->folder, path);
	daemon_set_conf(daemon, text);
	return daemon;
}

START_TEST(helper_has_the_rights_of_user)
{
	const struct passwd *user = getpwnam("nobody");
	struct daemon *daemon = daemon_with_copies("user = nobody\n");
	char line[64];
	int uid, gid;

	ck_assert_ptr_nonnull(user);
	uid = (int)user->pw_uid;
	gid = (int)user->pw_gid;
	daemon_start(daemon);
	http_expect(http_port(daemon), "/healthz", 200, "ok\n");
	snprintf(line, sizeof(line), "Uid:\t%d\t%d\t%d\t%d\n", uid, uid, uid, uid);
	expect_status(http_pid(daemon), line);
	snprintf(line, sizeof(line), "Gid:\t%d\t%d\t%d\t%d\n", gid, gid, gid, gid);
	expect_status(http_pid(daemon), line);
	snprintf(line, sizeof(line), "Groups:\t%d \n", gid);
	expect_status(http_pid(daemon), line);
	expect_status(http_pid(daemon), "CapPrm:\t0000000000000000\n");
	expect_status(http_pid(daemon), "NoNewPrivs:\t1\n");
	http_stop(&daemon);
}
END_TEST

/* --- death --- */

START_TEST(killed_helper_is_replaced)
{
	struct daemon *daemon = http_daemon(2, "%s", "");
	uint16_t port;
	int client;

	daemon_start(daemon);
	port = http_port(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	for (unsigned n = 1; n <= 4; n++) {
		http_expect(port, "/healthz", 200, "ok\n");
		ck_assert_int_eq(kill(http_pid(daemon), SIGKILL), 0);
		client_ping(client, "unaffected");
		WAIT_FOR(http_n_started(daemon) == n + 1);
	}
	http_expect(port, "/healthz", 200, "ok\n");
	ck_assert_uint_eq(daemon_n_logged(daemon, "was killed by signal 9"), 4);
	client_ping(client, "unaffected");
	for (unsigned slot = 0; slot < 2; slot++)
		ck_assert_uint_eq(daemon_n_started(daemon, slot), 1);
	close(client);
	http_stop(&daemon);
}
END_TEST

START_TEST(helper_that_stands_still_is_replaced)
{
	struct daemon *daemon = http_daemon(1, "%s", "");
	pid_t pid;

	daemon_start(daemon);
	pid = http_pid(daemon);
	ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	WAIT_FOR_MS(http_n_started(daemon) == 2, 2 * DEADLINE_MS);
	ck_assert(daemon_has_logged(daemon, "is stuck: killed"));
	ck_assert(is_gone(pid));
	http_expect(http_port(daemon), "/healthz", 200, "ok\n");
	http_stop(&daemon);
}
END_TEST

/* A terminal and a service manager send them to all processes of the daemon. */
START_TEST(signals_do_not_end_it)
{
	static const int numbers[] = { SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2 };
	struct daemon *daemon = http_daemon(1, "%s", "");

	daemon_start(daemon);
	http_expect(http_port(daemon), "/healthz", 200, "ok\n");
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		ck_assert_int_eq(kill(http_pid(daemon), numbers[i]), 0);
	http_expect(http_port(daemon), "/healthz", 200, "ok\n");
	ck_assert_uint_eq(http_n_started(daemon), 1);
	http_stop(&daemon);
}
END_TEST

/* _i: the helper stands still, and could not end by itself. */
START_TEST(helper_does_not_outlive_the_master)
{
	struct daemon *daemon = http_daemon(1, "%s", "");
	pid_t pid;

	daemon_start(daemon);
	pid = http_pid(daemon);
	http_expect(http_port(daemon), "/healthz", 200, "ok\n");
	if (_i == 1)
		ck_assert_int_eq(kill(pid, SIGSTOP), 0);
	daemon_signal(daemon, SIGKILL);
	ck_assert_int_eq(daemon_await_end(daemon), -1);
	WAIT_FOR(is_gone(pid));
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(program_that_is_gone_harms_nobody)
{
	struct daemon *daemon = daemon_with_copies("");
	char path[CTL_PATH_SIZE];
	int client;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	http_expect(http_port(daemon), "/healthz", 200, "ok\n");
	ck_assert_int_eq(unlink(ctl_path(daemon, "runnel-http", path)), 0);
	ck_assert_int_eq(kill(http_pid(daemon), SIGKILL), 0);
	WAIT_FOR(daemon_n_logged(daemon, "runnel-http: No such file or directory") >= 3);
	ck_assert(daemon_has_logged(daemon, "says: cannot execute "));
	ck_assert(daemon_has_logged(daemon, "exited with status 127"));
	client_ping(client, "unaffected");
	copy_helper(daemon, path);
	WAIT_FOR(http_code(http_port(daemon), "/healthz") == 200);
	close(client);
	daemon_stop(&daemon);
}
END_TEST

/* --- the conf --- */

/* Have an option, and this value of it, in the last line of the conf. */
static void set_option(struct daemon *daemon, const char *name, const char *value)
{
	char conf[4096], text[256], *line;

	snprintf(conf, sizeof(conf), "%s", daemon_read(daemon, daemon->conf));
	snprintf(text, sizeof(text), "%s = ", name);
	line = strstr(conf, text);
	if (line != NULL)
		memset(line, ' ', strcspn(line, "\n"));
	daemon_set_conf(daemon, conf);
	snprintf(text, sizeof(text), "%s = %s\n", name, value);
	ctl_append(daemon, text);
}

static void set_address(struct daemon *daemon, uint16_t port)
{
	char value[32];

	snprintf(value, sizeof(value), "\"127.0.0.1:%u\"", port);
	set_option(daemon, "metrics-address", value);
}

/* The address is free at once when the daemon has ended. */
START_TEST(helper_has_ended_before_the_daemon)
{
	struct daemon *daemon = http_daemon(1, "%s", "");
	uint16_t port = client_free_port();

	set_address(daemon, port);
	for (int i = 0; i < 5; i++) {
		pid_t pid;

		daemon_start(daemon);
		http_expect(port, "/healthz", 200, "ok\n");
		pid = http_pid(daemon);
		daemon_signal(daemon, SIGTERM);
		WAIT_FOR(daemon_has_ended(daemon));
		ck_assert_int_eq(daemon->exit_status, 0);
		ck_assert_int_eq(process_state(pid), '\0');
		ck_assert_int_eq(unlink(daemon->log), 0);
	}
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(reload_that_changes_nothing_keeps_it)
{
	struct daemon *daemon = http_daemon(1, "%s", "");
	uint16_t port;

	daemon_start(daemon);
	port = http_port(daemon);
	ctl_expect(daemon, "reload", 0);
	WAIT_FOR(http_says(port, "/status.json", 200, "\"generation\":2,"));
	ck_assert_uint_eq(http_n_started(daemon), 1);
	http_stop(&daemon);
}
END_TEST

START_TEST(reload_changes_names)
{
	static const char request[] =
	    "GET /healthz HTTP/1.1\r\nHost: later.example\r\nConnection: close\r\n\r\n";
	struct daemon *daemon = http_daemon(1, "%s", "");
	struct http_reply reply;
	uint16_t port;
	pid_t before;

	daemon_start(daemon);
	port = http_port(daemon);
	before = http_pid(daemon);
	http_ask(port, request, &reply);
	ck_assert_int_eq(reply.code, 421);
	http_reply_free(&reply);
	set_option(daemon, "metrics-hosts", "later.example");
	ctl_expect(daemon, "reload", 0);
	ck_assert_uint_eq(http_n_started(daemon), 2);
	WAIT_FOR(is_gone(before));
	http_ask(port, request, &reply);
	ck_assert_int_eq(reply.code, 200);
	http_reply_free(&reply);
	http_stop(&daemon);
}
END_TEST

/* Another address; none; and the first again. */
START_TEST(reload_changes_the_address)
{
	uint16_t first = client_free_port(), second = client_free_port();
	struct daemon *daemon = http_daemon(1, "%s", "");
	pid_t before;

	set_address(daemon, first);
	daemon_start(daemon);
	http_expect(first, "/healthz", 200, "ok\n");
	before = http_pid(daemon);
	set_address(daemon, second);
	ctl_expect(daemon, "reload", 0);
	http_expect(second, "/healthz", 200, "ok\n");
	WAIT_FOR(is_gone(before));
	ck_assert_int_lt(client_try_connect(first), 0);
	before = http_pid(daemon);
	set_option(daemon, "metrics-address", "\"\"");
	ctl_expect(daemon, "reload", 0);
	WAIT_FOR(is_gone(before));
	ck_assert_int_lt(client_try_connect(second), 0);
	ck_assert_uint_eq(http_n_started(daemon), 2);
	set_address(daemon, first);
	ctl_expect(daemon, "reload", 0);
	http_expect(first, "/healthz", 200, "ok\n");
	http_stop(&daemon);
}
END_TEST

START_TEST(reload_to_a_busy_address_changes_nothing)
{
	struct daemon *daemon = http_daemon(1, "%s", "");
	struct daemon *other = http_daemon(1, "%s", "");
	uint16_t port;

	daemon_start(daemon);
	daemon_start(other);
	port = http_port(daemon);
	set_address(daemon, http_port(other));
	ctl_expect(daemon, "reload", 1);
	ctl_expect_said(daemon, "metrics-address: cannot listen on 127.0.0.1:");
	ctl_expect_said(daemon, "another process listens there");
	http_expect(port, "/status.json", 200, "\"generation\":1,");
	ck_assert_uint_eq(http_n_started(daemon), 1);
	http_stop(&daemon);
	http_stop(&other);
}
END_TEST

START_TEST(start_at_a_busy_address_fails)
{
	struct daemon *other = http_daemon(1, "%s", "");
	struct daemon *daemon = http_daemon(1, "%s", "");

	daemon_start(other);
	set_address(daemon, http_port(other));
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	expect_said(daemon, "metrics-address: cannot listen on 127.0.0.1:");
	expect_said(daemon, "another process listens there");
	daemon_destroy(&daemon);
	http_stop(&other);
}
END_TEST

static const struct {
	const char *name, *value, *said;
} mistakes[] = {
	{ "metrics-address", "\"localhost:9100\"",
	    "metrics-address: 'localhost:9100' is refused" },
	{ "metrics-address", "\"127.0.0.1\"", "metrics-address: '127.0.0.1' is refused" },
	{ "metrics-hosts", "{ a, \"\" }", "metrics-hosts: '' is refused; give names" },
	{ "metrics-hosts", "\"a:80\"", "metrics-hosts: 'a:80' is refused; give names" },
	{ "metrics-program", "\"/nowhere/runnel-http\"",
	    "metrics-program: /nowhere/runnel-http: No such file" },
	{ "metrics-program", "\"/etc/passwd\"", "metrics-program: /etc/passwd: Permission" },
	{ "metrics-program", "\"/\"", "metrics-program: / is no program" },
	{ "metrics-program", "runnel-http", "metrics-program: 'runnel-http' is refused" },
};

START_TEST(mistakes_are_told_with_their_line)
{
	struct daemon *daemon = http_daemon(1, "%s", "");
	char place[192];

	set_option(daemon, mistakes[_i].name, mistakes[_i].value);
	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	expect_said(daemon, mistakes[_i].said);
	snprintf(place, sizeof(place), "%s:9: ", daemon->conf);
	expect_said(daemon, place);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(address_of_a_listener_is_refused)
{
	struct daemon *daemon = daemon_new(1,
	    "module echo { }\nlisten main { address = \"127.0.0.1:9999\" modules = { echo } }\n"
	    "metrics-address = \"127.0.0.1:9999\"\nmetrics-program = \"%s\"\n",
	    HTTP_PROGRAM);

	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	expect_said(daemon,
	    "conf:6: metrics-address: '127.0.0.1:9999' is taken by listen 'main' in line 5");
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(address_that_others_reach_is_told)
{
	static const char *const addresses[] = { "0.0.0.0:0", "[::]:0", "127.0.0.1:0",
		"[::1]:0" };
	static const char told[] = "metrics-address: whoever can reach ";

	for (size_t i = 0; i < 4; i++) {
		struct daemon *daemon = http_daemon(1, "%s", "");
		char value[32];

		snprintf(value, sizeof(value), "\"%s\"", addresses[i]);
		set_option(daemon, "metrics-address", value);
		ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 0);
		ck_assert_int_eq(strstr(daemon_read(daemon, daemon->err), told) != NULL, i < 2);
		daemon_destroy(&daemon);
	}
}
END_TEST

/* --- upgrade --- */

/* Nobody who asks meanwhile is refused or reset, and the helper of the old master goes. */
START_TEST(upgrade_keeps_the_address)
{
	struct daemon *daemon = http_daemon(2, "%s", "");
	char value[192], pid_file[CTL_PATH_SIZE];
	pid_t before, old_master;
	uint16_t port;

	ctl_path(daemon, "pid", pid_file);
	snprintf(value, sizeof(value), "\"%s\"", pid_file);
	set_option(daemon, "pid-file", value);
	daemon_start(daemon);
	port = http_port(daemon);
	before = http_pid(daemon);
	old_master = daemon->pid;
	daemon_signal(daemon, SIGUSR2);
	while (!daemon_has_ended(daemon)) {
		ck_assert_int_eq(http_code(port, "/metrics"), 200);
		ck_assert_int_eq(http_code(port, "/healthz"), 200);
		wait_tick();
	}
	daemon_attach(daemon, pid_file);
	ck_assert_int_ne(daemon->pid, old_master);
	ck_assert(is_gone(before));
	ck_assert_uint_eq(http_n_started(daemon), 2);
	snprintf(value, sizeof(value), "\"pid\":%d,", (int)daemon->pid);
	http_expect(port, "/status.json", 200, value);
	http_expect(port, "/healthz", 200, "ok\n");
	http_stop(&daemon);
}
END_TEST

/* What the old helper has still to answer has its answer, also when the old workers are gone. */
START_TEST(upgrade_leaves_no_question_open)
{
	static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
	static const char ok[] = "\r\n\r\nok\n";
	struct daemon *daemon = http_daemon(1, "%s", "");
	char value[192], pid_file[CTL_PATH_SIZE], text[1024] = "";
	struct http_reply reply;
	size_t len = 0;
	pid_t helper;
	int client;

	ctl_path(daemon, "pid", pid_file);
	snprintf(value, sizeof(value), "\"%s\"", pid_file);
	set_option(daemon, "pid-file", value);
	daemon_start(daemon);
	helper = http_pid(daemon);
	client = client_connect(http_port(daemon));
	client_send(client, request, strlen(request));
	while (strstr(text, ok) == NULL) {
		ck_assert_uint_lt(len, sizeof(text) - 1);
		client_receive(client, &text[len++], 1);
	}
	process_stop(helper);
	client_send(client, request, strlen(request) - 2);
	client_send(client, "Connection: close\r\n\r\n", 21);
	daemon_signal(daemon, SIGUSR2);
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	ck_assert_int_eq(kill(helper, SIGCONT), 0);
	http_read(client, &reply);
	ck_assert_msg(reply.code == 200, "%s", reply.text);
	http_reply_free(&reply);
	WAIT_FOR(daemon_has_ended(daemon));
	daemon_attach(daemon, pid_file);
	http_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_http_helper");
	TCase *rights = run_case(suite, "rights");
	TCase *death = run_case(suite, "death");
	TCase *conf = run_case(suite, "conf");
	TCase *upgrade = run_case(suite, "upgrade");

	tcase_add_test(rights, helper_has_its_descriptors_only);
	if (geteuid() == 0)
		tcase_add_test(rights, helper_has_the_rights_of_user);
	tcase_add_test(death, killed_helper_is_replaced);
	tcase_add_test(death, helper_that_stands_still_is_replaced);
	tcase_add_test(death, signals_do_not_end_it);
	tcase_add_loop_test(death, helper_does_not_outlive_the_master, 0, 2);
	tcase_add_test(death, helper_has_ended_before_the_daemon);
	tcase_add_test(death, program_that_is_gone_harms_nobody);
	tcase_add_test(conf, reload_that_changes_nothing_keeps_it);
	tcase_add_test(conf, reload_changes_names);
	tcase_add_test(conf, reload_changes_the_address);
	tcase_add_test(conf, reload_to_a_busy_address_changes_nothing);
	tcase_add_test(conf, start_at_a_busy_address_fails);
	tcase_add_loop_test(conf, mistakes_are_told_with_their_line, 0,
	    (int)(sizeof(mistakes) / sizeof(mistakes[0])));
	tcase_add_test(conf, address_of_a_listener_is_refused);
	tcase_add_test(conf, address_that_others_reach_is_told);
	tcase_add_test(upgrade, upgrade_keeps_the_address);
	tcase_add_test(upgrade, upgrade_leaves_no_question_open);
	return run_suite(suite);
}
