/*
 * What a service manager and the daemon have to say to each other: the messages of sd_notify(3)
 * over a socket of the test's own, and the listening sockets of sd_listen_fds(3).
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/run.h"

#define RIGHTS                                                      \
	"module rights { path = \"" TEST_MODULES "/rights.so\" }\n" \
	"listen main { address = \"127.0.0.1:%u\" modules = { rights } }\n"
#define CONF PROBE_SECTION "listen main { address = \"127.0.0.1:%u\" modules = { probe } }\n"

#define expect_said(daemon, text)                                                     \
	ck_assert_msg(strstr(daemon_read((daemon), (daemon)->err), (text)) != NULL || \
			  daemon_has_logged((daemon), (text)),                        \
	    "no '%s' on stderr:\n%s", (text), daemon_read((daemon), (daemon)->err))

/* The manager's end; everything that was received is kept, each message between bars. */
struct manager {
	int fd;
	char text[65536];
};

/* With '@' an abstract name. */
static void manager_open(struct manager *manager, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t len = strlen(name);

	ck_assert_uint_lt(len, sizeof(address.sun_path));
	memcpy(address.sun_path, name, len);
	if (name[0] == '@')
		address.sun_path[0] = '\0';
	manager->text[0] = '\0';
	manager->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(manager->fd, 0);
	ck_assert_int_eq(bind(manager->fd, (struct sockaddr *)&address,
			     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
	    0);
	setenv("NOTIFY_SOCKET", name, 1);
}

/* How often a message was sent so far: all of it, or its beginning when it ends in "=". */
static unsigned manager_heard(struct manager *manager, const char *message)
{
	char wanted[256], datagram[1024];
	const char *at = manager->text;
	unsigned n = 0;
	ssize_t len;

	while ((len = recv(manager->fd, datagram, sizeof(datagram), MSG_DONTWAIT)) >= 0) {
		size_t used = strlen(manager->text);

		snprintf(manager->text + used, sizeof(manager->text) - used, "|%.*s|", (int)len,
		    datagram);
	}
	snprintf(wanted, sizeof(wanted), "|%s%s", message,
	    message[strlen(message) - 1] == '=' ? "" : "|");
	for (; (at = strstr(at, wanted)) != NULL; at++)
		n++;
	return n;
}

static void expect_life(struct daemon *daemon, struct manager *manager)
{
	char ready[64];

	daemon_start(daemon);
	snprintf(ready, sizeof(ready), "READY=1\nMAINPID=%d", (int)daemon->pid);
	WAIT_FOR(manager_heard(manager, ready) == 1);
	ck_assert_uint_eq(
	    manager_heard(manager, "STATUS=generation 1 serves with 2 workers"), 1);
	ck_assert_uint_eq(manager_heard(manager, "STOPPING=1"), 0);
	ck_assert_uint_eq(manager_heard(manager, "WATCHDOG=1"), 0);
	ck_assert(!daemon_has_logged(daemon, "inherited: "));
	daemon_end(daemon);
	ck_assert_uint_eq(manager_heard(manager, "STOPPING=1"), 1);
	ck_assert_uint_eq(manager_heard(manager, "READY="), 1);
	close(manager->fd);
}

START_TEST(manager_hears_of_start_and_stop)
{
	struct daemon *daemon = daemon_new(2, RIGHTS, 0);
	struct manager manager;
	char name[160];

	snprintf(name, sizeof(name), "%s/notify", daemon->folder);
	manager_open(&manager, name);
	expect_life(daemon, &manager);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(manager_has_an_abstract_name)
{
	struct daemon *daemon = daemon_new(2, RIGHTS, 0);
	struct manager manager;
	char name[64];

	snprintf(name, sizeof(name), "@runnel-test-%d", (int)getpid());
	manager_open(&manager, name);
	expect_life(daemon, &manager);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(manager_hears_why_a_start_failed)
{
	struct daemon *daemon = daemon_new(1, "nonsense = 1\n");
	struct manager manager;
	char name[160];

	snprintf(name, sizeof(name), "%s/notify", daemon->folder);
	manager_open(&manager, name);
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert_uint_eq(manager_heard(&manager, "READY="), 0);
	ck_assert_uint_eq(manager_heard(&manager, "STATUS="), 1);
	ck_assert_ptr_nonnull(strstr(manager.text, "nonsense: no such option"));
	close(manager.fd);
	daemon_destroy(&daemon);
}
END_TEST

/* READY follows also when nothing has come of it; systemd waits for it. */
START_TEST(manager_hears_of_reloads)
{
	struct daemon *daemon = daemon_new(2, RIGHTS, 0);
	struct manager manager;
	char name[160], ready[64];

	snprintf(name, sizeof(name), "%s/notify", daemon->folder);
	manager_open(&manager, name);
	daemon_start(daemon);
	snprintf(ready, sizeof(ready), "READY=1\nMAINPID=%d", (int)daemon->pid);
	WAIT_FOR(manager_heard(&manager, ready) == 1);
	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(manager_heard(&manager, ready) == 2);
	ck_assert_uint_eq(manager_heard(&manager, "RELOADING=1\nMONOTONIC_USEC="), 1);
	ck_assert_uint_eq(
	    manager_heard(&manager, "STATUS=generation 2 serves with 2 workers"), 1);
	daemon_set_conf(daemon, "nonsense = 1");
	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(manager_heard(&manager, ready) == 3);
	ck_assert_uint_eq(manager_heard(&manager, "RELOADING=1\nMONOTONIC_USEC="), 2);
	ck_assert_ptr_nonnull(
	    strstr(manager.text, "STATUS=reload failed, generation 2 goes on: "));
	daemon_end(daemon);
	close(manager.fd);
	daemon_destroy(&daemon);
}
END_TEST

/* The old master says who is the main process now; then the new one speaks, and feeds. */
START_TEST(manager_hears_of_upgrades)
{
	struct daemon *daemon;
	struct manager manager;
	char name[160], pid_file[160], text[96], *rest;
	pid_t old;

	daemon = daemon_new(2, RIGHTS "pid-file = \"/%s/pid\"\n", 0, run_folder());
	snprintf(pid_file, sizeof(pid_file), "/%s/pid", run_folder());
	snprintf(name, sizeof(name), "%s/notify", daemon->folder);
	manager_open(&manager, name);
	setenv("WATCHDOG_USEC", "20000", 1);
	/* The queue of the socket is short: who does not read it at all times loses messages. */
	daemon_launch(daemon);
	old = daemon->pid;
	snprintf(text, sizeof(text), "READY=1\nMAINPID=%d", (int)old);
	WAIT_FOR(manager_heard(&manager, text) == 1);
	daemon_await_ready(daemon);
	daemon_signal(daemon, SIGUSR2);
	WAIT_FOR(manager_heard(&manager, "READY=") > 0 && daemon_has_ended(daemon));
	ck_assert_int_eq(daemon->exit_status, 0);
	daemon_attach(daemon, pid_file);
	ck_assert_int_ne(daemon->pid, old);
	snprintf(text, sizeof(text), "READY=1\nMAINPID=%d", (int)daemon->pid);
	WAIT_FOR(manager_heard(&manager, text) == 1);
	snprintf(text, sizeof(text), "MAINPID=%d", (int)daemon->pid);
	WAIT_FOR(manager_heard(&manager, text) == 1);
	ck_assert_uint_eq(manager_heard(&manager, "STOPPING=1"), 0);
	rest = manager.text + strlen(manager.text);
	WAIT_FOR(
	    manager_heard(&manager, "WATCHDOG=1") > 0 && strstr(rest, "WATCHDOG=1") != NULL);
	ck_assert(!daemon_has_logged(daemon, "inherited: "));
	daemon_signal(daemon, SIGTERM);
	WAIT_FOR(manager_heard(&manager, "STOPPING=1") == 1);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	close(manager.fd);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(watchdog_is_fed)
{
	struct daemon *daemon = daemon_new(2, RIGHTS, 0);
	struct manager manager;
	char name[160];

	snprintf(name, sizeof(name), "%s/notify", daemon->folder);
	manager_open(&manager, name);
	setenv("WATCHDOG_USEC", "20000", 1);
	daemon_start(daemon);
	WAIT_FOR(manager_heard(&manager, "WATCHDOG=1") >= 3);
	ck_assert(!daemon_has_logged(daemon, "inherited: "));
	daemon_end(daemon);
	close(manager.fd);
	daemon_destroy(&daemon);
}
END_TEST

/* No timer of that period runs: the daemon ends without a message after many of its turns. */
START_TEST(watchdog_of_another_process_is_left_alone)
{
	struct daemon *daemon = daemon_new(2, RIGHTS, 0);
	struct manager manager;
	char name[160];

	snprintf(name, sizeof(name), "%s/notify", daemon->folder);
	manager_open(&manager, name);
	setenv("WATCHDOG_USEC", "1000", 1);
	setenv("WATCHDOG_PID", "1", 1);
	daemon_start(daemon);
	for (unsigned n = 0; n < 50; n++) {
		int fd = client_connect(daemon_port(daemon, "main"));

		client_ping(fd, "time goes by");
		close(fd);
	}
	daemon_end(daemon);
	ck_assert_uint_eq(manager_heard(&manager, "WATCHDOG=1"), 0);
	close(manager.fd);
	daemon_destroy(&daemon);
}
END_TEST

/* A manager that is gone, or that has no name that can be, is no reason not to serve. */
START_TEST(missing_manager_does_no_harm)
{
	static const char *const names[] = { "/nonexistent/notify", "notify", "@", "" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct daemon *daemon = daemon_new(2, RIGHTS, 0);

		setenv("NOTIFY_SOCKET", names[i], 1);
		daemon_start(daemon);
		ck_assert(!daemon_has_logged(daemon, "inherited: "));
		daemon_stop(&daemon);
	}
}
END_TEST

/* A socket as systemd has it, with SO_REUSEADDR. Returns its port. */
static uint16_t open_listener(int *fd)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);
	int on = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)), 0);
	ck_assert_int_eq(bind(*fd, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(listen(*fd, 128), 0);
	ck_assert_int_eq(getsockname(*fd, (struct sockaddr *)&address, &len), 0);
	return ntohs(address.sin_port);
}

/*
 * Who has connected before the daemon was there is served, and so is everybody else, by all
 * workers. The socket survives the daemon.
 */
START_TEST(inherited_socket_is_served)
{
	unsigned n_workers = run_workers(_i), n_served[4] = { 0 };
	struct daemon *daemon;
	int fds[101], socket;
	uint16_t port = open_listener(&socket);

	daemon = daemon_new(n_workers, CONF, port);
	daemon->sockets = &socket;
	daemon->n_sockets = 1;
	fds[0] = client_connect(port);
	daemon_start(daemon);
	ck_assert(daemon_has_logged(daemon, "by an inherited socket"));
	for (int i = 0; i < 101; i++) {
		if (i > 0)
			fds[i] = client_connect(port);
		n_served[probe_who(fds[i]).worker]++;
	}
	for (unsigned slot = 0; slot < n_workers; slot++)
		ck_assert_uint_gt(n_served[slot], 0);
	for (int i = 0; i < 101; i++)
		close(fds[i]);
	daemon_stop(&daemon);
	fds[0] = client_connect(port);
	close(fds[0]);
	close(socket);
}
END_TEST

/* Some of the addresses, in another order than in the conf. */
START_TEST(inherited_sockets_are_told_apart)
{
	struct daemon *daemon;
	uint16_t ports[3];
	int sockets[2];

	ports[2] = open_listener(&sockets[0]);
	ports[0] = open_listener(&sockets[1]);
	ports[1] = client_free_port();
	daemon = daemon_new(2,
	    PROBE_SECTION "listen a { address = \"127.0.0.1:%u\" modules = { probe } }\n"
			  "listen b { address = { \"127.0.0.1:%u\", \"127.0.0.1:%u\" } "
			  "modules = { probe } }\n",
	    ports[0], ports[1], ports[2]);
	daemon->sockets = sockets;
	daemon->n_sockets = 2;
	daemon_start(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon, "by an inherited socket"), 2);
	for (int i = 0; i < 3; i++) {
		int fd = client_connect(ports[i]);

		ck_assert_str_eq(probe_who(fd).listener, i == 0 ? "a" : "b");
		close(fd);
	}
	daemon_stop(&daemon);
	close(sockets[0]);
	close(sockets[1]);
}
END_TEST

START_TEST(inherited_socket_of_no_listener_is_refused)
{
	struct daemon *daemon = daemon_new(2, CONF, 0);
	char text[96];
	int socket;

	snprintf(text, sizeof(text), "an inherited socket listens on 127.0.0.1:%u, but no ",
	    open_listener(&socket));
	daemon->sockets = &socket;
	daemon->n_sockets = 1;
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	expect_said(daemon, text);
	daemon_destroy(&daemon);
	close(socket);
}
END_TEST

START_TEST(inherited_descriptor_that_does_not_listen_is_refused)
{
	struct daemon *daemon = daemon_new(2, CONF, 0);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	daemon->sockets = &fd;
	daemon->n_sockets = 1;
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	expect_said(daemon, "LISTEN_FDS: descriptor 3 is no TCP socket that listens");
	close(fd);
	fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && listen(fd, 1) == 0) {
		ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
		expect_said(daemon, "LISTEN_FDS: descriptor 3 takes IPv4, too");
	}
	daemon_destroy(&daemon);
}
END_TEST

/* The variables have outlived the process that they were for. */
START_TEST(descriptors_of_another_process_are_left_alone)
{
	struct daemon *daemon = daemon_new(2, RIGHTS, 0);
	int socket;

	open_listener(&socket);
	daemon->sockets = &socket;
	daemon->n_sockets = 1;
	setenv("LISTEN_PID", "1", 1);
	daemon_start(daemon);
	ck_assert(!daemon_has_logged(daemon, "inherited"));
	daemon_stop(&daemon);
	close(socket);
}
END_TEST

/* The kernel keeps groups of SO_REUSEPORT to one user. */
START_TEST(socket_of_another_user_serves_one_worker)
{
	uid_t other = getpwnam("nobody")->pw_uid;
	struct daemon *daemon;
	uint16_t port;
	int socket, fd;

	ck_assert_int_eq(seteuid(other), 0);
	port = open_listener(&socket);
	ck_assert_int_eq(seteuid(0), 0);
	for (unsigned n_workers = 1; n_workers <= 2; n_workers++) {
		daemon = daemon_new(n_workers, CONF, port);
		daemon->sockets = &socket;
		daemon->n_sockets = 1;
		if (n_workers == 1) {
			daemon_start(daemon);
			fd = client_connect(port);
			client_ping(fd, "the only one");
			close(fd);
			daemon_stop(&daemon);
			continue;
		}
		ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
		expect_said(daemon, "can be shared only by the user that opened it");
		daemon_destroy(&daemon);
	}
	close(socket);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_service");
	TCase *notify = run_case(suite, "notify");
	TCase *activation = run_case(suite, "activation");

	tcase_add_test(notify, manager_hears_of_start_and_stop);
	tcase_add_test(notify, manager_has_an_abstract_name);
	tcase_add_test(notify, manager_hears_why_a_start_failed);
	tcase_add_test(notify, manager_hears_of_reloads);
	tcase_add_test(notify, manager_hears_of_upgrades);
	tcase_add_test(notify, watchdog_is_fed);
	tcase_add_test(notify, watchdog_of_another_process_is_left_alone);
	tcase_add_test(notify, missing_manager_does_no_harm);
	run_add_workers(activation, inherited_socket_is_served);
	tcase_add_test(activation, inherited_sockets_are_told_apart);
	tcase_add_test(activation, inherited_socket_of_no_listener_is_refused);
	tcase_add_test(activation, inherited_descriptor_that_does_not_listen_is_refused);
	tcase_add_test(activation, descriptors_of_another_process_are_left_alone);
	if (geteuid() == 0)
		tcase_add_test(activation, socket_of_another_user_serves_one_worker);
	else
		puts("skipped: the test with a socket of another user needs root");
	return run_suite(suite);
}
