/*
 * churn (contrib/bench/lifecycle): it sees nothing where nothing is wrong, and each
 * kind of failure where there is one. A connection is stopped, killed or answered
 * wrongly on purpose; what churn has to say of it is read from its JSON.
 */
#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

#define SERVER_SIZE 32
#define N_BUSY 10 /* clients where a test does not say otherwise */

#define CHURN BUILD_DIR "/contrib/bench/lifecycle/churn"
#define CONF              \
	"module %s { }\n" \
	"listen main { address = \"127.0.0.1:0\" modules = { %s } }\n"

static struct daemon *start(unsigned n_workers, const char *module)
{
	struct daemon *daemon = daemon_new(n_workers, CONF, module, module);

	daemon_start(daemon);
	return daemon;
}

static const char *server_of(struct daemon *daemon, char server[SERVER_SIZE])
{
	snprintf(server, SERVER_SIZE, "127.0.0.1:%u", daemon_port(daemon, "main"));
	return server;
}

/* How many requests lie unread at the server's end of a connection. */
static unsigned n_outstanding(uint16_t port)
{
	FILE *table = fopen("/proc/net/tcp", "re");
	unsigned local, state, unread, n = 0;
	char line[256];

	ck_assert_ptr_nonnull(table);
	/* State 1 is ESTABLISHED. */
	while (fgets(line, sizeof(line), table) != NULL) {
		if (sscanf(line, " %*d: %*x:%x %*x:%*x %x %*x:%x", &local, &state, &unread) ==
		    3)
			n += local == port && state == 1 && unread > 0;
	}
	fclose(table);
	return n;
}

/* Start churn with N_BUSY busy clients and this limit in ms, and wait until all are served. */
static pid_t launch(struct daemon *daemon, const char *limit, const char *server)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		if (freopen(daemon->out, "w", stdout) != NULL)
			execl(CHURN, "churn", "-b", "10", "-r", "5", "-l", limit, server, NULL);
		_exit(127);
	}
	WAIT_FOR(strncmp(daemon_read(daemon, daemon->out), "ready\n", 6) == 0);
	return pid;
}

static void end(pid_t pid, int expected)
{
	int status;

	ck_assert_int_eq(kill(pid, SIGTERM), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(WEXITSTATUS(status), expected);
}

/* A figure of the JSON, by its key. */
static uint64_t figure(struct daemon *daemon, const char *key)
{
	const char *json = strchr(daemon_read(daemon, daemon->out), '{'), *at;
	char name[64];

	ck_assert_ptr_nonnull(json);
	snprintf(name, sizeof(name), "\"%s\": ", key);
	at = strstr(json, name);
	ck_assert_msg(at != NULL, "no %s in %s", key, json);
	return strtoull(at + strlen(name), NULL, 10);
}

static uint64_t n_lost(struct daemon *daemon)
{
	return figure(daemon, "lost_end") + figure(daemon, "lost_reset") +
	       figure(daemon, "turned_away");
}

static uint64_t n_failed(struct daemon *daemon)
{
	return n_lost(daemon) + figure(daemon, "refused") + figure(daemon, "connect_failed") +
	       figure(daemon, "connect_timeout") + figure(daemon, "reply_timeout") +
	       figure(daemon, "wrong");
}

START_TEST(nothing_is_wrong_with_a_daemon_that_is_left_alone)
{
	struct daemon *daemon = start(run_workers(_i), "c10k");
	char server[SERVER_SIZE];

	ck_assert_int_eq(
	    process_run(CHURN, daemon->out, "churn", "-b", "50", "-r", "200", "-k", "3", "-w",
		"1", "-t", "1", "-l", "20000", server_of(daemon, server), NULL),
	    0);
	ck_assert_uint_eq(n_failed(daemon), 0);
	ck_assert_uint_eq(figure(daemon, "moved"), 0);
	ck_assert_uint_ge(figure(daemon, "sessions_done"), 1);
	ck_assert_uint_eq(figure(daemon, "sessions_done"), figure(daemon, "sessions_begun"));
	ck_assert_uint_eq(figure(daemon, "connects"), 50 + figure(daemon, "sessions_begun"));
	daemon_end(daemon);
	daemon_expect_counter(daemon, "accepted", figure(daemon, "connects"));
	daemon_expect_counter(daemon, "closed_peer", figure(daemon, "connects"));
	daemon_expect_counter(daemon, "frames_out", figure(daemon, "replies"));
	daemon_destroy(&daemon);
}
END_TEST

/* Stop the one worker, and wait until each busy client waits for it. */
static pid_t stop_worker(struct daemon *daemon)
{
	pid_t worker = daemon_worker(daemon, 0);

	process_stop(worker);
	WAIT_FOR(n_outstanding(daemon_port(daemon, "main")) >= N_BUSY);
	return worker;
}

START_TEST(connections_of_a_killed_worker_are_lost)
{
	struct daemon *daemon = start(1, "c10k");
	char server[SERVER_SIZE];
	pid_t churn = launch(daemon, "60000", server_of(daemon, server));

	ck_assert_int_eq(kill(stop_worker(daemon), SIGKILL), 0);
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	end(churn, 1);
	ck_assert_uint_ge(n_lost(daemon), 1);
	ck_assert_uint_eq(n_failed(daemon), n_lost(daemon));
	ck_assert_ptr_nonnull(
	    strstr(daemon_read(daemon, daemon->out), "\"first_failures\": [{"));
	daemon_end(daemon);
	/* The worker may have died before it saw that a session had left. */
	ck_assert_uint_ge(daemon_counter(daemon, "closed_worker_died"),
	    n_lost(daemon) + figure(daemon, "moved"));
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(server_that_does_not_answer_is_late)
{
	struct daemon *daemon = start(1, "c10k");
	char server[SERVER_SIZE];
	pid_t churn = launch(daemon, "300", server_of(daemon, server));
	pid_t worker = stop_worker(daemon);

	end(churn, 1);
	ck_assert_int_eq(kill(worker, SIGCONT), 0);
	ck_assert_uint_ge(
	    figure(daemon, "reply_timeout") + figure(daemon, "connect_timeout"), N_BUSY);
	ck_assert_uint_eq(n_lost(daemon), 0);
	daemon_stop(&daemon);
}
END_TEST

/* The same bytes come back: one field of each reply is not what it has to be. */
START_TEST(wrong_replies_are_seen)
{
	struct daemon *daemon = start(1, "echo");
	char server[SERVER_SIZE];

	ck_assert_int_eq(process_run(CHURN, daemon->out, "churn", "-e", "-t", "1", "-l",
			     "20000", "-b", "10", server_of(daemon, server), NULL),
	    1);
	ck_assert_uint_ge(figure(daemon, "wrong"), N_BUSY);
	ck_assert_uint_eq(n_failed(daemon), figure(daemon, "wrong"));
	ck_assert_uint_eq(figure(daemon, "replies"), 0);
	daemon_stop(&daemon);
}
END_TEST

/* A bound socket on which nobody listens keeps the port from others. */
static uint16_t closed_port(int *fd)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t len = sizeof(address);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(*fd, 0);
	ck_assert_int_eq(bind(*fd, (struct sockaddr *)&address, len), 0);
	ck_assert_int_eq(getsockname(*fd, (struct sockaddr *)&address, &len), 0);
	return ntohs(address.sin_port);
}

START_TEST(port_without_a_server_refuses)
{
	struct daemon *daemon = daemon_new(1, CONF, "c10k", "c10k");
	char server[SERVER_SIZE];
	int fd;

	snprintf(server, sizeof(server), "127.0.0.1:%u", closed_port(&fd));
	ck_assert_int_eq(
	    process_run(CHURN, daemon->out, "churn", "-e", "-b", "10", "-t", "1", server, NULL),
	    1);
	ck_assert_uint_ge(figure(daemon, "refused"), N_BUSY);
	ck_assert_uint_eq(n_failed(daemon), figure(daemon, "refused"));
	close(fd);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("g_churn");
	TCase *churn = run_case(suite, "churn");

	run_add_workers(churn, nothing_is_wrong_with_a_daemon_that_is_left_alone);
	tcase_add_test(churn, connections_of_a_killed_worker_are_lost);
	tcase_add_test(churn, server_that_does_not_answer_is_late);
	tcase_add_test(churn, wrong_replies_are_seen);
	tcase_add_test(churn, port_without_a_server_refuses);
	return run_suite(suite);
}
