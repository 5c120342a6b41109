/*
 * The control socket of the real daemon: who may do what, clients that mean ill,
 * and what stands at its path before and after. The protocol itself is tested in
 * tests/unit/test_master_control.c.
 */
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

/* Some user and some group that nobody here has. */
#define OTHER_ID 54321
#define GROUP_ID 54322

static const char *socket_of(const struct daemon *daemon, char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%s/sock", daemon->folder);
	return path;
}

static void append(struct daemon *daemon, const char *option, const char *value)
{
	FILE *file = fopen(daemon->conf, "ae");

	ck_assert_ptr_nonnull(file);
	fprintf(file, "%s = \"%s\"\n", option, value);
	fclose(file);
}

static struct daemon *new_with_socket(char path[PATH_SIZE])
{
	struct daemon *daemon = daemon_new(2, ECHO LISTEN, 0);

	append(daemon, "control-socket", socket_of(daemon, path));
	return daemon;
}

/* -1 with errno. */
static int try_dial(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

static int dial(const char *path)
{
	int fd = try_dial(path);

	ck_assert_int_ge(fd, 0);
	return fd;
}

/* The next line; what came of it at the end of the connection. */
static const char *hear(int fd)
{
	static char line[65536];
	size_t len = 0;

	while (len < sizeof(line) - 1 && recv(fd, line + len, 1, 0) == 1 && line[len] != '\n')
		len++;
	line[len] = '\0';
	return line;
}

static const char *ask(int fd, const char *verb)
{
	char text[80];
	int len = snprintf(text, sizeof(text), "{\"verb\":\"%s\"}\n", verb);

	/* Who is sent away already finds its answer there. */
	send(fd, text, (size_t)len, MSG_NOSIGNAL);
	return hear(fd);
}

static void expect_part(const char *line, const char *part)
{
	ck_assert_msg(strstr(line, part) != NULL, "no '%s' in: %s", part, line);
}

static void expect_served(const char *path)
{
	int fd = dial(path);

	expect_part(ask(fd, "version"), "{\"ok\":true,\"version\":\"" PACKAGE_VERSION "\"}");
	close(fd);
}

START_TEST(status_tells_of_daemon_and_workers)
{
	char path[PATH_SIZE], part[64];
	struct daemon *daemon = new_with_socket(path);
	const char *line;
	int fd, client;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "count me");
	fd = dial(path);
	line = ask(fd, "status");
	expect_part(line, "{\"ok\":true,\"version\":\"" PACKAGE_VERSION "\",");
	snprintf(part, sizeof(part), "\"pid\":%d,\"state\":\"serving\"", (int)daemon->pid);
	expect_part(line, part);
	expect_part(line, daemon->conf);
	for (unsigned slot = 0; slot < 2; slot++) {
		snprintf(part, sizeof(part), "{\"slot\":%u,\"state\":\"ready\",\"pid\":%d,",
		    slot, (int)daemon_worker(daemon, slot));
		expect_part(line, part);
	}
	expect_part(line, "\"connections\":1,");
	expect_part(line, "\"counters\":{\"accepted\":1,\"rejected\":0,");
	expect_part(line, "\"frames_in\":1,\"frames_out\":1,");
	expect_part(line, "\"closed_worker_died\":0");
	close(client);
	close(fd);
	daemon_stop(&daemon);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

START_TEST(status_tells_of_a_dead_worker)
{
	char path[PATH_SIZE];
	struct daemon *daemon = new_with_socket(path);
	int fd;

	daemon_start(daemon);
	fd = dial(path);
	/* The pause before the next grows, until it is long enough to be seen. */
	for (unsigned n = 1; n <= 7; n++) {
		ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGKILL), 0);
		WAIT_FOR(daemon_n_logged(daemon, "killed by signal 9") == n);
		if (strstr(ask(fd, "status"), "\"slot\":0,\"state\":\"waiting\",\"pid\":0"))
			break;
		WAIT_FOR(daemon_n_started(daemon, 0) == n + 1);
		ck_assert_uint_lt(n, 7);
	}
	WAIT_FOR(strstr(ask(fd, "status"), "\"slot\":0,\"state\":\"ready\""));
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

/* The answer comes at the end, when there is nothing left of the daemon to be in the way. */
START_TEST(ends_are_answered_at_the_end)
{
	static const char *const ends[] = { "stop", "quit", "fast-stop" };
	char path[PATH_SIZE];
	struct daemon *daemon = new_with_socket(path);
	int fd, client;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "hello");
	fd = dial(path);
	ck_assert_str_eq(ask(fd, ends[_i]), "{\"ok\":true}");
	ck_assert_str_eq(hear(fd), "");
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_int_eq(process_state(daemon_worker(daemon, 0)), '\0');
	client_expect_end(client);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	ck_assert(daemon_has_logged(daemon, "asked for by uid "));
	close(fd);
	close(client);
	daemon_destroy(&daemon);
}
END_TEST

static const struct {
	const char *request, *error, *logged;
} wrong_arguments[] = {
	{ "{\"verb\":\"kick\",\"id\":\"12\"}\n", "id: give the number of a connection",
	    "control: kick '12', asked for by uid " },
	{ "{\"verb\":\"log-level\",\"level\":\"loud\"}\n",
	    "level: there is no 'loud': give error, warn, info or debug",
	    "control: log-level 'loud', asked for by uid " },
	{ "{\"verb\":\"drain\",\"worker\":12}\n", "there is no worker 12",
	    "control: drain 12, asked for by uid " },
	{ "{\"verb\":\"conns\",\"sort\":\"colour\"}\n",
	    "sort: there is no 'colour': give id, age, idle or queue", NULL },
	{ "{\"verb\":\"conns\",\"limit\":10001}\n", "limit: give a number from 1 to 10000",
	    NULL },
};

START_TEST(wrong_arguments_are_named)
{
	char path[PATH_SIZE];
	struct daemon *daemon = new_with_socket(path);
	int fd;

	daemon_start(daemon);
	fd = dial(path);
	send(
	    fd, wrong_arguments[_i].request, strlen(wrong_arguments[_i].request), MSG_NOSIGNAL);
	expect_part(hear(fd), wrong_arguments[_i].error);
	if (wrong_arguments[_i].logged != NULL)
		ck_assert(daemon_has_logged(daemon, wrong_arguments[_i].logged));
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

/* A client that does not read holds up the graceful end, which others can watch and hurry. */
START_TEST(stop_goes_on_while_others_ask)
{
	char path[PATH_SIZE], text[4096];
	struct daemon *daemon = new_with_socket(path);
	int stop, other, client;

	append(daemon, "drain-timeout", "10m");
	daemon_start(daemon);
	client = client_connect_small(daemon_port(daemon, "main"));
	memset(text, 0, sizeof(text));
	text[6] = 15; /* the high byte of its length: 3840 bytes, echoed without end */
	for (int i = 0; i < 3000; i++) {
		if (send(client, text, 8 + 3840, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
			wait_tick();
	}
	stop = dial(path);
	ck_assert_int_gt(send(stop, "{\"verb\":\"quit\"}\n", 16, 0), 0);
	other = dial(path);
	WAIT_FOR(strstr(ask(other, "status"), "\"state\":\"stopping\""));
	ck_assert_str_eq(ask(other, "fast-stop"), "{\"ok\":true}");
	ck_assert_str_eq(hear(stop), "{\"ok\":true}");
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	close(stop);
	close(other);
	close(client);
	daemon_destroy(&daemon);
}
END_TEST

/* The answer comes when the new generation serves, or says why there is none. */
START_TEST(reload_says_how_it_went)
{
	char path[PATH_SIZE];
	struct daemon *daemon = new_with_socket(path);
	int fd;

	daemon_start(daemon);
	fd = dial(path);
	ck_assert_str_eq(ask(fd, "reload"), "{\"ok\":true,\"generation\":2}");
	expect_part(ask(fd, "status"), "\"generation\":2,");
	append(daemon, "colour", "red");
	expect_part(ask(fd, "reload"), "conf:7: colour: no such option\"}");
	expect_part(ask(fd, "status"), "\"generation\":2,");
	close(fd);
	daemon_stop(&daemon);
}
END_TEST

/* The socket is the new master's then, and the old one's again when there is none. */
START_TEST(upgrade_says_how_it_went)
{
	char path[PATH_SIZE], pid_file[PATH_SIZE], part[64];
	struct daemon *daemon = new_with_socket(path);
	int fd, late;

	snprintf(pid_file, sizeof(pid_file), "%s/pid", daemon->folder);
	append(daemon, "pid-file", pid_file);
	daemon_start(daemon);
	fd = dial(path);
	for (int round = 0; round < 2; round++) {
		ck_assert_str_eq(ask(fd, "upgrade"), "{\"ok\":true}");
		WAIT_FOR(daemon_has_ended(daemon));
		ck_assert_str_eq(hear(fd), "");
		close(fd);
		daemon_attach(daemon, pid_file);
		fd = dial(path);
		snprintf(
		    part, sizeof(part), "\"pid\":%d,\"state\":\"serving\"", (int)daemon->pid);
		expect_part(ask(fd, "status"), part);
	}
	append(daemon, "colour", "red");
	expect_part(ask(fd, "upgrade"), "{\"ok\":false,\"error\":\"");
	expect_part(ask(fd, "status"), part);
	late = dial(path);
	expect_part(ask(late, "status"), part);
	close(late);
	close(fd);
	daemon_stop(&daemon);
	ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

static void send_garbage(int fd, int kind)
{
	static char text[1024 * 1024];
	static const char *const short_ones[] = { "garbage\n", "{\"verb\":", "\n\n\n\r\n",
		"{\"verb\":\"stop\"}", "{\"verb\":\"\\u0000\"}\n", "[[[[[[[[[\n" };

	if (kind < 6) {
		send(fd, short_ones[kind], strlen(short_ones[kind]), MSG_NOSIGNAL);
		return;
	}
	memset(text, kind == 6 ? '\n' : kind == 7 ? '[' : '\0', sizeof(text));
	send(fd, text, sizeof(text), MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* Of all kinds, many at once, and none reads; then they leave, and nothing is left of them. */
START_TEST(hostile_clients_do_no_harm)
{
	char path[PATH_SIZE];
	struct daemon *daemon = new_with_socket(path);
	unsigned n_fds;
	int fds[100], client;

	daemon_start(daemon);
	n_fds = process_n_fds(daemon->pid);
	expect_served(path);
	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 100; i++) {
			fds[i] = try_dial(path);
			if (fds[i] >= 0)
				send_garbage(fds[i], i % 9);
		}
		client = client_connect(daemon_port(daemon, "main"));
		client_ping(client, "meanwhile");
		close(client);
		for (int i = 0; i < 100; i++) {
			if (fds[i] >= 0)
				close(fds[i]);
		}
		WAIT_FOR(process_n_fds(daemon->pid) == n_fds);
		expect_served(path);
	}
	for (int i = 0; i < 200; i++) {
		fds[0] = dial(path);
		send(fds[0], "{\"verb\":\"status\"}\n{\"verb\":\"help\"}\n", 34, MSG_NOSIGNAL);
		close(fds[0]);
	}
	WAIT_FOR(process_n_fds(daemon->pid) == n_fds);
	expect_served(path);
	ck_assert(!daemon_has_logged(daemon, "control: stop"));
	daemon_stop(&daemon);
}
END_TEST

START_TEST(clients_beyond_the_limit_are_told)
{
	char path[PATH_SIZE];
	struct daemon *daemon = new_with_socket(path);
	int fds[33];

	daemon_start(daemon);
	for (int i = 0; i < 32; i++) {
		fds[i] = dial(path);
		expect_part(ask(fds[i], "version"), "\"ok\":true");
	}
	fds[32] = dial(path);
	expect_part(ask(fds[32], "version"), "\"ok\":false,\"error\":\"too many clients");
	for (int i = 0; i < 33; i++)
		close(fds[i]);
	WAIT_FOR(strstr(ask(fds[0] = dial(path), "version"), "\"ok\":true") != NULL ||
		 close(fds[0]) < 0);
	close(fds[0]);
	daemon_stop(&daemon);
}
END_TEST

/* Programs send all before they read; neither error is lost for that. */
START_TEST(errors_come_before_the_end)
{
	char path[PATH_SIZE], *bytes = calloc(1, 300000);
	struct daemon *daemon = new_with_socket(path);
	int fds[32], fd;

	ck_assert_ptr_nonnull(bytes);
	daemon_start(daemon);
	for (int i = 0; i < 32; i++) {
		fds[i] = dial(path);
		expect_part(ask(fds[i], "version"), "\"ok\":true");
	}
	fd = dial(path);
	client_send(fd, bytes, 300000);
	expect_part(hear(fd), "\"ok\":false,\"error\":\"too many clients");
	client_expect_eof(fd);
	close(fd);
	client_send(fds[0], bytes, 300000);
	expect_part(hear(fds[0]), "\"ok\":false,\"error\":\"the request is longer than 65536");
	client_expect_eof(fds[0]);
	for (int i = 0; i < 32; i++)
		close(fds[i]);
	free(bytes);
	daemon_stop(&daemon);
}
END_TEST

/* A worker has nothing of it: neither the socket nor its clients, which would not see an end. */
START_TEST(workers_hold_nothing_of_it)
{
	char path[PATH_SIZE];
	struct daemon *daemon = new_with_socket(path);
	unsigned n_fds;
	int fd;

	daemon_start(daemon);
	n_fds = process_n_fds(daemon_worker(daemon, 0));
	fd = dial(path);
	expect_part(ask(fd, "version"), "\"ok\":true");
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGKILL), 0);
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	WAIT_FOR(strstr(ask(fd, "status"), "waiting") == NULL &&
		 strstr(ask(fd, "status"), "starting") == NULL);
	ck_assert_uint_eq(process_n_fds(daemon_worker(daemon, 0)), n_fds);
	/* It would be one of the workers that serves now, if it were there. */
	daemon_signal(daemon, SIGKILL);
	ck_assert_str_eq(hear(fd), "");
	close(fd);
	ck_assert_int_eq(daemon_await_end(daemon), -1);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(socket_of_a_killed_master_is_replaced)
{
	char path[PATH_SIZE];
	struct daemon *first = new_with_socket(path), *second;

	daemon_start(first);
	daemon_signal(first, SIGKILL);
	WAIT_FOR(daemon_has_ended(first));
	ck_assert_int_eq(access(path, F_OK), 0);
	second = daemon_new(2, ECHO LISTEN, 0);
	append(second, "control-socket", path);
	daemon_start(second);
	expect_served(path);
	daemon_stop(&second);
	ck_assert_int_ne(access(path, F_OK), 0);
	daemon_destroy(&first);
}
END_TEST

START_TEST(socket_of_another_instance_is_refused)
{
	char path[PATH_SIZE], text[64];
	struct daemon *first = new_with_socket(path), *second;

	daemon_start(first);
	second = daemon_new(2, ECHO LISTEN, 0);
	append(second, "control-socket", path);
	ck_assert_int_eq(daemon_run(second, "-F", "-c", second->conf, NULL), 1);
	snprintf(text, sizeof(text), "process %d listens there already", (int)first->pid);
	ck_assert(daemon_has_logged(second, text));
	ck_assert(daemon_has_logged(second, path));
	expect_served(path);
	daemon_destroy(&second);
	daemon_stop(&first);
}
END_TEST

/* By -t too, so that a reload or the next start is no surprise. */
START_TEST(bad_options_are_refused)
{
	struct daemon *daemon = daemon_new(1, ECHO LISTEN, 0);
	char path[PATH_SIZE];

	memset(path, 'x', sizeof(path));
	path[0] = '/';
	path[100] = '\0';
	append(daemon, "control-socket", path);
	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	expect_part(daemon_read(daemon, daemon->err), "control-socket: /xxx");
	daemon_destroy(&daemon);
	daemon = new_with_socket(path);
	append(daemon, "control-group", "no-such-group");
	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	expect_part(daemon_read(daemon, daemon->err), "no group 'no-such-group'");
	daemon_destroy(&daemon);
	daemon = daemon_new(1, ECHO LISTEN, 0);
	append(daemon, "control-socket", "/nonexistent/sock");
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert(daemon_has_logged(daemon, "control-socket: cannot make /nonexistent/sock"));
	daemon_destroy(&daemon);
}
END_TEST

/* As a child with other rights sees it. */
struct visitor {
	gid_t gid;
	gid_t more; /* a supplementary group; 0: none */
	const char *verb;
	const char *answer; /* a part of it; NULL: it cannot connect */
};

static _Noreturn void visit(const char *path, const struct visitor *visitor)
{
	const char *answer;
	int fd;

	if (setgroups(visitor->more != 0, &visitor->more) != 0 || setgid(visitor->gid) != 0 ||
	    setuid(OTHER_ID) != 0)
		_exit(2);
	fd = try_dial(path);
	if (fd < 0)
		_exit(visitor->answer == NULL && errno == EACCES ? 0 : 3);
	answer = ask(fd, visitor->verb);
	if (visitor->answer != NULL && strstr(answer, visitor->answer) != NULL)
		_exit(0);
	fprintf(stderr, "%s: %s\n", visitor->verb, answer);
	_exit(1);
}

static void expect_visit(const char *path, const struct visitor *visitor)
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (pid == 0)
		visit(path, visitor);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* Let anybody come to the socket. */
static void open_folders(const struct daemon *daemon)
{
	ck_assert_int_eq(chmod(run_folder(), 0711), 0);
	ck_assert_int_eq(chmod(daemon->folder, 0711), 0);
}

START_TEST(others_are_kept_out)
{
	static const struct visitor locked = { OTHER_ID, 0, "version", NULL };
	static const struct visitor refused = { OTHER_ID, 0, "version",
		"\"ok\":false,\"error\":\"permission denied\"" };
	char path[PATH_SIZE];
	struct daemon *daemon = new_with_socket(path);

	daemon_start(daemon);
	open_folders(daemon);
	expect_visit(path, &locked);
	/* Whatever somebody has made of its mode. */
	ck_assert_int_eq(chmod(path, 0666), 0);
	expect_visit(path, &refused);
	ck_assert(daemon_has_logged(daemon, "control: uid 54321, pid "));
	expect_served(path);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(members_of_the_group_may_look)
{
	static const struct visitor visitors[] = {
		{ GROUP_ID, 0, "status", "\"ok\":true,\"version\"" },
		{ OTHER_ID, GROUP_ID, "status", "\"ok\":true,\"version\"" },
		{ GROUP_ID, 0, "help", "\"ok\":true" },
		{ GROUP_ID, 0, "stop", "\"error\":\"permission denied: 'stop' is for root" },
		{ OTHER_ID, GROUP_ID, "fast-stop", "\"error\":\"permission denied" },
		{ OTHER_ID, 0, "status", NULL },
	};
	static const struct visitor refused = { OTHER_ID, 0, "status",
		"\"ok\":false,\"error\":\"permission denied\"" };
	char path[PATH_SIZE], group[16];
	struct daemon *daemon = new_with_socket(path);
	struct stat st;

	snprintf(group, sizeof(group), "%d", GROUP_ID);
	append(daemon, "control-group", group);
	daemon_start(daemon);
	open_folders(daemon);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, 0660);
	ck_assert_uint_eq(st.st_gid, GROUP_ID);
	for (size_t i = 0; i < sizeof(visitors) / sizeof(visitors[0]); i++)
		expect_visit(path, &visitors[i]);
	ck_assert_int_eq(chmod(path, 0666), 0);
	expect_visit(path, &refused);
	ck_assert(!daemon_has_logged(daemon, "control: stop"));
	expect_served(path);
	daemon_stop(&daemon);
}
END_TEST

/* Each verb of the list is for whom the list says; and who may read may do no more than this. */
START_TEST(each_verb_keeps_to_its_access)
{
	static const char readable[] = " status version metrics conns routes help ";
	char path[PATH_SIZE], group[16], list[4096], verb[32], access[8], word[40];
	struct daemon *daemon = new_with_socket(path);
	unsigned n = 0;
	int fd;

	snprintf(group, sizeof(group), "%d", GROUP_ID);
	append(daemon, "control-group", group);
	daemon_start(daemon);
	open_folders(daemon);
	fd = dial(path);
	snprintf(list, sizeof(list), "%s", ask(fd, "help"));
	close(fd);
	for (const char *at = list; (at = strstr(at, "{\"verb\":\"")) != NULL; at++) {
		struct visitor visitor = { GROUP_ID, 0, verb, "\"ok\":true" };

		ck_assert_int_eq(
		    sscanf(at, "{\"verb\":\"%31[^\"]\",\"access\":\"%7[^\"]\"", verb, access),
		    2);
		snprintf(word, sizeof(word), " %s ", verb);
		ck_assert_int_eq(strstr(readable, word) != NULL, strcmp(access, "read") == 0);
		if (strcmp(access, "read") != 0)
			visitor.answer = "\"ok\":false,\"error\":\"permission denied: '";
		expect_visit(path, &visitor);
		n++;
	}
	ck_assert_uint_ge(n, 15);
	expect_served(path);
	ck_assert_uint_eq(daemon_n_started(daemon, 0), 1);
	daemon_stop(&daemon);
}
END_TEST

/* Readers fill their own places only. */
START_TEST(readers_cannot_keep_the_operator_out)
{
	static const struct visitor more = { GROUP_ID, 0, "version", "too many clients" };
	char path[PATH_SIZE], group[16], octet = 0;
	struct daemon *daemon = new_with_socket(path);
	int ready[2], fds[24], status;
	pid_t pid;

	snprintf(group, sizeof(group), "%d", GROUP_ID);
	append(daemon, "control-group", group);
	daemon_start(daemon);
	open_folders(daemon);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ready), 0);
	pid = fork();
	if (pid == 0) {
		close(ready[0]);
		if (setgroups(0, NULL) != 0 || setgid(GROUP_ID) != 0 || setuid(OTHER_ID) != 0)
			_exit(2);
		for (int i = 0; i < 24; i++) {
			fds[i] = try_dial(path);
			if (fds[i] < 0 || strstr(ask(fds[i], "version"), "true") == NULL)
				_exit(1);
		}
		/* Hold them until the test has seen enough. */
		if (write(ready[1], &octet, 1) != 1)
			_exit(3);
		_exit(read(ready[1], &octet, 1) == 0 ? 0 : 4);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &octet, 1), 1);
	expect_visit(path, &more);
	expect_served(path);
	close(ready[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_control");
	TCase *verbs = run_case(suite, "verbs");
	TCase *hostile = run_case(suite, "hostile");
	TCase *path = run_case(suite, "path");
	TCase *peer = run_case(suite, "peer");

	tcase_add_test(verbs, status_tells_of_daemon_and_workers);
	tcase_add_test(verbs, status_tells_of_a_dead_worker);
	tcase_add_loop_test(verbs, ends_are_answered_at_the_end, 0, 3);
	tcase_add_loop_test(verbs, wrong_arguments_are_named, 0, 5);
	tcase_add_test(verbs, stop_goes_on_while_others_ask);
	tcase_add_test(verbs, reload_says_how_it_went);
	tcase_add_test(verbs, upgrade_says_how_it_went);
	tcase_add_test(hostile, hostile_clients_do_no_harm);
	tcase_add_test(hostile, clients_beyond_the_limit_are_told);
	tcase_add_test(hostile, errors_come_before_the_end);
	tcase_add_test(hostile, workers_hold_nothing_of_it);
	tcase_add_test(path, socket_of_a_killed_master_is_replaced);
	tcase_add_test(path, socket_of_another_instance_is_refused);
	tcase_add_test(path, bad_options_are_refused);
	/* Only root can be somebody else. */
	if (geteuid() == 0) {
		tcase_add_test(peer, others_are_kept_out);
		tcase_add_test(peer, members_of_the_group_may_look);
		tcase_add_test(peer, each_verb_keeps_to_its_access);
		tcase_add_test(peer, readers_cannot_keep_the_operator_out);
	}
	return run_suite(suite);
}
