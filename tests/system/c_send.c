/*
 * runneld -s: each verb with a daemon, with none, and with ones that are not what
 * they should be.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

#define ECHO "module echo { }\n"
#define LISTEN "listen main { address = \"127.0.0.1:%u\" modules = { echo } }\n"
#define PATH_SIZE 160

/* How a daemon can be reached. */
enum reach { BY_SOCKET, BY_PID_FILE, BY_BOTH, N_REACHES };

static const char *path_in(const struct daemon *daemon, const char *name, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/%s", daemon->folder, name);
	return path;
}

static void append(const struct daemon *daemon, const char *text)
{
	FILE *file = fopen(daemon->conf, "ae");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

static struct daemon *new_reachable(enum reach reach)
{
	struct daemon *daemon = daemon_new(2, ECHO LISTEN, 0);
	char text[256], path[PATH_SIZE];

	if (reach != BY_PID_FILE) {
		snprintf(text, sizeof(text), "control-socket = \"%s\"\n",
		    path_in(daemon, "sock", path));
		append(daemon, text);
	}
	if (reach != BY_SOCKET) {
		snprintf(
		    text, sizeof(text), "pid-file = \"%s\"\n", path_in(daemon, "pid", path));
		append(daemon, text);
	}
	return daemon;
}

/* runneld -s VERB OPTION VALUE; what it says is in the file said. */
static int send_verb(
    const struct daemon *daemon, const char *verb, const char *option, const char *value)
{
	const char *runneld = getenv("RUNNELD");
	char said[PATH_SIZE];

	path_in(daemon, "said", said);
	unlink(said);
	return process_run(runneld != NULL ? runneld : BUILD_DIR "/runneld", said, "runneld",
	    "-s", verb, option, value, NULL);
}

static void expect_said(struct daemon *daemon, const char *text)
{
	char said[PATH_SIZE];

	daemon_read(daemon, path_in(daemon, "said", said));
	ck_assert_msg(daemon->text != NULL && strstr(daemon->text, text) != NULL,
	    "no '%s' in: %s", text, daemon->text != NULL ? daemon->text : "");
}

#define expect_send(daemon, verb, status)                                            \
	ck_assert_msg(send_verb((daemon), (verb), "-c", (daemon)->conf) == (status), \
	    "-s %s: not %d", (verb), (status))

START_TEST(status_is_told)
{
	struct daemon *daemon = new_reachable((enum reach)_i);
	char text[64];

	expect_send(daemon, "status", 3);
	expect_said(daemon, "not running");
	daemon_start(daemon);
	expect_send(daemon, "status", 0);
	snprintf(text, sizeof(text), "pid %d", (int)daemon->pid);
	expect_said(daemon, text);
	if (_i != BY_PID_FILE) {
		expect_said(daemon, "runneld " PACKAGE_VERSION " is serving");
		snprintf(text, sizeof(text), "worker 1: ready, pid %d",
		    (int)daemon_worker(daemon, 1));
		expect_said(daemon, text);
	}
	daemon_end(daemon);
	expect_send(daemon, "status", 3);
	daemon_destroy(&daemon);
}
END_TEST

static bool has_ended(const struct daemon *daemon)
{
	char state = process_state(daemon->pid);

	return state == '\0' || state == 'Z';
}

/* It returns when the daemon has ended, and not before. */
static void end_by(const char *verb, enum reach reach)
{
	struct daemon *daemon = new_reachable(reach);
	char path[PATH_SIZE];
	int fd;

	daemon_start(daemon);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "hello");
	expect_send(daemon, verb, 0);
	ck_assert(has_ended(daemon));
	ck_assert_int_ne(access(path_in(daemon, "sock", path), F_OK), 0);
	ck_assert_int_ne(access(path_in(daemon, "pid", path), F_OK), 0);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	expect_send(daemon, verb, 3);
	expect_said(daemon, "not running");
	close(fd);
	daemon_destroy(&daemon);
}

START_TEST(stop_ends_it)
{
	end_by("stop", (enum reach)_i);
}
END_TEST

START_TEST(fast_stop_ends_it)
{
	end_by("fast-stop", (enum reach)_i);
}
END_TEST

START_TEST(quit_ends_it)
{
	end_by("quit", (enum reach)_i);
}
END_TEST

/* Killed, it leaves socket and file, which are of no use any more. */
START_TEST(killed_daemon_does_not_run)
{
	struct daemon *daemon = new_reachable((enum reach)_i);

	daemon_start(daemon);
	daemon_signal(daemon, SIGKILL);
	ck_assert_int_eq(daemon_await_end(daemon), -1);
	expect_send(daemon, "status", 3);
	expect_send(daemon, "stop", 3);
	daemon_destroy(&daemon);
}
END_TEST

/* The number in a file that nobody holds may be anybody's by now: here the test's own. */
START_TEST(pid_in_a_stale_file_is_not_signalled)
{
	struct daemon *daemon = new_reachable(BY_PID_FILE);
	char path[PATH_SIZE];
	FILE *file = fopen(path_in(daemon, "pid", path), "we");

	fprintf(file, "%d\n", (int)getpid());
	fclose(file);
	expect_send(daemon, "stop", 3);
	expect_send(daemon, "status", 3);
	expect_said(daemon, "nobody holds pid file");
	daemon_destroy(&daemon);
}
END_TEST

/* It was started before its conf named a socket. */
START_TEST(pid_file_helps_out)
{
	struct daemon *daemon = new_reachable(BY_PID_FILE);
	char path[PATH_SIZE], text[256];

	daemon_start(daemon);
	snprintf(
	    text, sizeof(text), "control-socket = \"%s\"\n", path_in(daemon, "sock", path));
	append(daemon, text);
	expect_send(daemon, "status", 0);
	expect_send(daemon, "stop", 0);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(broken_conf_still_stops)
{
	struct daemon *daemon = new_reachable((enum reach)_i);

	daemon_start(daemon);
	append(daemon, "drain-timeout = soon\ncolour = red\nlisten { = ?\n");
	expect_send(daemon, "status", 0);
	expect_send(daemon, "stop", 0);
	expect_said(daemon, "going on with what else");
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(conf_that_does_not_help_needs_a_name)
{
	struct daemon *daemon = new_reachable(BY_BOTH);
	char path[PATH_SIZE];

	daemon_start(daemon);
	ck_assert_int_eq(send_verb(daemon, "stop", "-c", "/nonexistent/conf"), 1);
	expect_said(daemon, "cannot open /nonexistent/conf");
	expect_said(daemon, "-P");
	ck_assert_int_eq(send_verb(daemon, "status", "-c", "/nonexistent/conf"), 4);
	daemon_set_conf(daemon, ECHO);
	expect_send(daemon, "stop", 1);
	expect_said(daemon, "neither control-socket nor pid-file");
	daemon_set_conf(daemon, "= ?");
	expect_send(daemon, "stop", 1);
	expect_said(daemon, "conf:1: '?'");
	ck_assert_int_eq(send_verb(daemon, "status", "-P", path_in(daemon, "none", path)), 3);
	ck_assert_int_eq(send_verb(daemon, "status", "-P", path_in(daemon, "pid", path)), 0);
	expect_said(daemon, "runneld is running");
	ck_assert_int_eq(send_verb(daemon, "status", "-P", path_in(daemon, "sock", path)), 0);
	expect_said(daemon, "is serving");
	ck_assert_int_eq(
	    send_verb(daemon, "stop", "-P", path_in(daemon, _i == 0 ? "pid" : "sock", path)),
	    0);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(wrong_use_is_refused)
{
	static const char *const args[][5] = {
		{ "-s", "stopp" },
		{ "-s" },
		{ "-s", "stop", "-F" },
		{ "-s", "stop", "-t" },
		{ "-T", "-s", "status" },
		{ "-P", "/pid" },
		{ "-F", "-P", "/pid" },
		{ "-s", "stop", "now" },
	};
	const char *const *list = args[_i];
	struct daemon *daemon = new_reachable(BY_BOTH);

	ck_assert_int_eq(
	    daemon_run(daemon, list[0], list[1], list[2], list[3], list[4], NULL), 2);
	ck_assert_ptr_nonnull(strstr(daemon_read(daemon, daemon->err), "usage: runneld"));
	daemon_destroy(&daemon);
}
END_TEST

/* One that is stopped in another sense: it takes the request and does not answer. */
START_TEST(stuck_daemon_is_not_waited_for_forever)
{
	struct daemon *daemon = new_reachable(BY_SOCKET);

	daemon_start(daemon);
	process_stop(daemon->pid);
	expect_send(daemon, "status", 4);
	expect_said(daemon, "status: no answer in 10 s");
	daemon_signal(daemon, SIGCONT);
	daemon_stop(&daemon);
}
END_TEST

/*
 * A daemon of the test's own at the path: it reads one line, which has to be the
 * expected one, answers, and ends.
 */
static pid_t pretend(const char *path, const char *expected, const char *answer)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), fd;
	char line[256] = "";
	ssize_t len;
	pid_t pid;

	ck_assert_uint_lt(strlen(path), sizeof(address.sun_path));
	memcpy(address.sun_path, path, strlen(path) + 1);
	ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid > 0) {
		struct sockaddr_un peer = address;

		/* It listens itself, so that it is its process that is seen. */
		close(listener);
		for (;;) {
			fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
			if (connect(fd, (struct sockaddr *)&peer, sizeof(peer)) == 0)
				break;
			close(fd);
			wait_tick();
		}
		close(fd);
		return pid;
	}
	if (listen(listener, 4) != 0)
		_exit(2);
	/* The first one is the test, to see that it is there. */
	close(accept(listener, NULL, NULL));
	fd = accept(listener, NULL, NULL);
	len = recv(fd, line, sizeof(line) - 1, 0);
	if (len < 0 || strcmp(line, expected) != 0)
		_exit(3);
	if (send(fd, answer, strlen(answer), MSG_NOSIGNAL) < 0)
		_exit(4);
	_exit(0);
}

static const struct {
	const char *verb, *answer;
	int status;
	const char *said;
} answers[] = {
	{ "reload", "{\"ok\":true}\n", 0, "" },
	{ "reload", "{\"ok\":false,\"error\":\"t.conf:3: no such option\"}\n", 1,
	    "runneld: reload: t.conf:3: no such option\n" },
	{ "upgrade", "{\"ok\": true, \"pid\": 7}\n", 0, "" },
	{ "reopen", "{\"ok\":false}\n", 1, "none of runneld's" },
	{ "reopen", "{\"ok\":\"true\"}\n", 1, "none of runneld's" },
	{ "reload", "garbage\n", 1, "none of runneld's" },
	{ "reload", "", 1, "ended without an answer" },
	{ "reload", "{\"ok\":true}", 1, "ended without an answer" },
	{ "status", "{\"ok\":false,\"error\":\"no\"}\n", 4, "status: no" },
	{ "status", "{\"ok\":true}\n", 0, "runneld ? is ?" },
	{ "stop", "{\"ok\":false,\"error\":\"permission denied\"}\n", 1, "permission denied" },
	/* It has ended, be it without a word. */
	{ "stop", "", 0, "" },
	{ "stop", "{\"ok\":true}\n", 0, "" },
};

START_TEST(answer_decides)
{
	struct daemon *daemon = new_reachable(BY_SOCKET);
	char path[PATH_SIZE], expected[64];
	int status;
	pid_t pid;

	snprintf(expected, sizeof(expected), "{\"verb\":\"%s\"}\n", answers[_i].verb);
	pid = pretend(path_in(daemon, "sock", path), expected, answers[_i].answer);
	expect_send(daemon, answers[_i].verb, answers[_i].status);
	expect_said(daemon, answers[_i].said);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	daemon_destroy(&daemon);
}
END_TEST

static volatile sig_atomic_t got;

static void take(int number)
{
	got = number;
}

/* Hold the pid file, and end with the number of the signal that comes. */
static pid_t hold(const char *path)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), ready[2];
	char octet = 0;
	pid_t pid;

	ck_assert_int_eq(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		static const int numbers[] = { SIGHUP, SIGUSR1, SIGUSR2, SIGTERM };

		for (size_t i = 0; i < 4; i++)
			signal(numbers[i], take);
		if (fcntl(fd, F_SETLK, &whole) != 0 || write(ready[1], &octet, 1) != 1)
			_exit(99);
		while (got == 0)
			wait_tick();
		_exit(got);
	}
	ck_assert_int_eq(read(ready[0], &octet, 1), 1);
	close(ready[0]);
	close(ready[1]);
	close(fd);
	return pid;
}

START_TEST(without_socket_a_signal_is_sent)
{
	static const struct {
		const char *verb;
		int number;
		const char *said;
	} verbs[] = {
		{ "reload", SIGHUP,
		    "its log says whether reload is done; with control-socket, " },
		{ "reopen", SIGUSR1, "USR1 sent to pid " },
		{ "upgrade", SIGUSR2, "its log says whether upgrade is done" },
		{ "stop", SIGTERM, "" },
	};
	struct daemon *daemon = new_reachable(BY_PID_FILE);
	char path[PATH_SIZE];
	int status;
	pid_t pid;

	pid = hold(path_in(daemon, "pid", path));
	expect_send(daemon, verbs[_i].verb, 0);
	expect_said(daemon, verbs[_i].said);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), verbs[_i].number);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_send");
	TCase *verbs = run_case(suite, "verbs");
	TCase *conf = run_case(suite, "conf");
	TCase *others = run_case(suite, "others");

	tcase_add_loop_test(verbs, status_is_told, 0, N_REACHES);
	tcase_add_loop_test(verbs, stop_ends_it, 0, N_REACHES);
	tcase_add_loop_test(verbs, fast_stop_ends_it, 0, N_REACHES);
	tcase_add_loop_test(verbs, quit_ends_it, 0, N_REACHES);
	tcase_add_loop_test(verbs, killed_daemon_does_not_run, 0, N_REACHES);
	tcase_add_test(conf, pid_in_a_stale_file_is_not_signalled);
	tcase_add_test(conf, pid_file_helps_out);
	tcase_add_loop_test(conf, broken_conf_still_stops, 0, N_REACHES);
	tcase_add_loop_test(conf, conf_that_does_not_help_needs_a_name, 0, 2);
	tcase_add_loop_test(conf, wrong_use_is_refused, 0, 8);
	tcase_add_test(others, stuck_daemon_is_not_waited_for_forever);
	tcase_add_loop_test(
	    others, answer_decides, 0, (int)(sizeof(answers) / sizeof(answers[0])));
	tcase_add_loop_test(others, without_socket_a_signal_is_sent, 0, 4);
	return run_suite(suite);
}
