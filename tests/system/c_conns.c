/*
 * What only workers know, over the control socket: their connections, while they
 * are busy, and the end of one of them.
 */
#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/client.h"
#include "system/ctl.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

#define N_CLIENTS 3000

static unsigned count(const char *text, const char *part)
{
	unsigned n = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		n++;
	return n;
}

/* The id in the first row. */
static uint64_t first_id(struct daemon *daemon)
{
	const char *row = strchr(ctl_said(daemon), '\n');

	ck_assert_ptr_nonnull(row);
	return strtoull(row, NULL, 10);
}

/* The id in the last row: of a connection of the last worker that has one. */
static uint64_t last_id(struct daemon *daemon)
{
	uint64_t id = 0;

	for (const char *row = ctl_said(daemon); (row = strchr(row, '\n')) != NULL; row++) {
		if (row[1] != '\0')
			id = strtoull(row + 1, NULL, 10);
	}
	return id;
}

/* So many connections, with messages going to and fro for some seconds. */
static pid_t start_load(struct daemon *daemon)
{
	char server[32], clients[16];
	pid_t pid;
	int fd;

	snprintf(server, sizeof(server), "127.0.0.1:%u", daemon_port(daemon, "main"));
	snprintf(clients, sizeof(clients), "%d", N_CLIENTS);
	pid = fork();
	if (pid == 0) {
		fd = open(daemon->out, O_WRONLY | O_CREAT | O_APPEND, 0600);
		dup2(fd, STDOUT_FILENO);
		dup2(fd, STDERR_FILENO);
		execl(BUILD_DIR "/runnel-bench", "runnel-bench", "--no-progress", "-D", "50s",
		    "-c", clients, "-d", "3s", "-e", "64", server, (char *)NULL);
		_exit(127);
	}
	return pid;
}

/* All are found while they are busy, and no reply is wrong, late or missing for it. */
START_TEST(thousands_are_found_while_they_are_busy)
{
	struct daemon *daemon = ctl_daemon(2);
	unsigned n_full = 0, n_master, n_worker;
	char found[64];
	int status;
	pid_t load;

	daemon_start(daemon);
	n_master = process_n_fds(daemon->pid);
	n_worker = process_n_fds(daemon_worker(daemon, 0));
	snprintf(found, sizeof(found), "{\"ok\":true,\"found\":%d,\"silent\":[],", N_CLIENTS);
	load = start_load(daemon);
	while (waitpid(load, &status, WNOHANG) == 0) {
		ctl_expect(daemon, "conns --limit 10000 --json", 0);
		if (strstr(ctl_said(daemon), found) == NULL)
			continue;
		ck_assert_uint_eq(count(ctl_said(daemon), "\"id\":"), N_CLIENTS);
		ck_assert_uint_eq(count(ctl_said(daemon), "\"peer\":\"127.0.0.1:"), N_CLIENTS);
		n_full++;
	}
	ck_assert_msg(status == 0, "runnel-bench: %s", daemon_read(daemon, daemon->out));
	ck_assert_uint_gt(n_full, 0);
	WAIT_FOR(process_n_fds(daemon->pid) == n_master);
	WAIT_FOR(process_n_fds(daemon_worker(daemon, 0)) == n_worker);
	daemon_stop(&daemon);
}
END_TEST

static unsigned port_of(int fd)
{
	struct sockaddr_in address;
	socklen_t len = sizeof(address);

	ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	return ntohs(address.sin_port);
}

START_TEST(list_is_sorted_filtered_and_cut)
{
	struct daemon *daemon = ctl_daemon(2);
	char words[64], peer[32];
	int clients[3];

	daemon_start(daemon);
	for (int i = 0; i < 3; i++) {
		clients[i] = client_connect(daemon_port(daemon, "main"));
		client_ping(clients[i], "hello");
	}
	ctl_expect(daemon, "conns", 0);
	ck_assert_uint_eq(count(ctl_said(daemon), "  main      127.0.0.1:"), 3);
	ck_assert_ptr_null(strstr(ctl_said(daemon), "more"));
	ctl_expect(daemon, "conns --limit 1", 0);
	ctl_expect_said(daemon, "\n2 more; --limit shows more of them\n");
	snprintf(peer, sizeof(peer), "127.0.0.1:%u", port_of(clients[1]));
	snprintf(words, sizeof(words), "conns --filter %s --json", peer);
	ctl_expect(daemon, words, 0);
	ctl_expect_said(daemon, "\"found\":1,\"silent\":[],");
	ctl_expect_said(daemon, peer);
	ctl_expect(daemon, "conns --filter main --json", 0);
	ctl_expect_said(daemon, "\"found\":3,");
	ctl_expect(daemon, "conns --filter nobody --json", 0);
	ctl_expect_said(daemon, "\"found\":0,\"silent\":[],\"connections\":[]}");
	for (int i = 0; i < 3; i++)
		close(clients[i]);
	daemon_stop(&daemon);
}
END_TEST

static bool has_longest_queue(struct daemon *daemon, const char *peer)
{
	ctl_expect(daemon, "conns --sort queue --limit 1 --json", 0);
	return strstr(ctl_said(daemon), peer) != NULL &&
	       strstr(ctl_said(daemon), "\"queue_bytes\":0}") == NULL;
}

/* Of the one that does not read, its queue is seen; of the one that was quiet, for how long. */
START_TEST(those_that_stand_out_come_first)
{
	struct daemon *daemon = ctl_daemon(1);
	static struct {
		uint8_t head[8], payload[4000];
	} frames[4000];
	char peer[32];
	int quiet, busy, stuck;

	daemon_start(daemon);
	quiet = client_connect(daemon_port(daemon, "main"));
	client_ping(quiet, "hello");
	busy = client_connect(daemon_port(daemon, "main"));
	stuck = client_connect_small(daemon_port(daemon, "main"));
	for (int i = 0; i < 4000; i++)
		memcpy(
		    frames[i].head, (uint8_t[]){ 0, 0, 0, 1, 0, 0, 4000 >> 8, 4000 & 0xff }, 8);
	ck_assert_uint_lt(
	    client_send_until_stalled(stuck, frames, sizeof(frames), 200), sizeof(frames));
	snprintf(peer, sizeof(peer), "127.0.0.1:%u\"", port_of(stuck));
	WAIT_FOR(has_longest_queue(daemon, peer));
	client_ping(busy, "hello");
	ctl_expect(daemon, "conns --sort age --limit 1 --json", 0);
	snprintf(peer, sizeof(peer), "127.0.0.1:%u\"", port_of(quiet));
	ctl_expect_said(daemon, peer);
	ck_assert_ptr_null(strstr(ctl_said(daemon), "\"age_ms\":0,"));
	ctl_expect(daemon, "conns --sort idle --limit 1 --json", 0);
	snprintf(peer, sizeof(peer), "127.0.0.1:%u\"", port_of(quiet));
	ctl_expect_said(daemon, peer);
	ck_assert_ptr_null(strstr(ctl_said(daemon), "\"idle_ms\":0,"));
	close(quiet);
	close(busy);
	close(stuck);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(kicked_connection_is_gone)
{
	struct daemon *daemon = ctl_daemon(2);
	char words[64];
	int client, other;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "hello");
	ctl_expect(daemon, "conns", 0);
	snprintf(words, sizeof(words), "kick %" PRIu64, first_id(daemon));
	other = client_connect(daemon_port(daemon, "main"));
	client_ping(other, "hello");
	ctl_expect(daemon, words, 0);
	ctl_expect_said(daemon, words + strlen("kick "));
	ctl_expect_said(daemon, " is ended: main 127.0.0.1:");
	client_expect_end(client);
	client_ping(other, "still there");
	WAIT_FOR(ctl_run(daemon, words) == 1);
	ctl_expect_said(daemon, "there is no connection ");
	ctl_expect(daemon, "kick nobody", 1);
	ctl_expect_said(daemon, "'nobody' is no id of a connection");
	close(client);
	close(other);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "closed_kicked", 1);
	daemon_destroy(&daemon);
}
END_TEST

/* A worker that hangs is left out, with a word; the other's connections are there. */
START_TEST(silent_worker_is_left_out)
{
	struct daemon *daemon = ctl_daemon(2);
	uint64_t silent;
	char words[64];
	int clients[20];

	ctl_append(daemon, "watchdog-timeout = 0\n");
	daemon_start(daemon);
	for (int i = 0; i < 20; i++) {
		clients[i] = client_connect(daemon_port(daemon, "main"));
		client_ping(clients[i], "hello");
	}
	ctl_expect(daemon, "conns", 0);
	silent = last_id(daemon);
	process_stop(daemon_worker(daemon, 1));
	ctl_expect(daemon, "conns", 0);
	ctl_expect_said(daemon, "\nwithout those of worker 1, which has not answered\n");
	ck_assert_uint_lt(count(ctl_said(daemon), "  main      127.0.0.1:"), 20);
	ctl_expect(daemon, "kick 281474976710655", 1);
	ctl_expect_said(daemon, ", or its worker does not answer");
	/* It is not ended later, when nobody expects it any more. */
	snprintf(words, sizeof(words), "kick %" PRIu64, silent);
	ctl_expect(daemon, words, 1);
	ctl_expect_said(daemon, ", or its worker does not answer");
	ck_assert_int_eq(kill(daemon_worker(daemon, 1), SIGCONT), 0);
	WAIT_FOR(ctl_run(daemon, "conns") == 0 &&
		 count(ctl_said(daemon), "  main      127.0.0.1:") == 20);
	for (int i = 0; i < 20; i++)
		close(clients[i]);
	daemon_stop(&daemon);
}
END_TEST

/* A client that asks and is gone. */
static void ask_and_leave(const struct daemon *daemon, const char *request)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char path[CTL_PATH_SIZE];
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(
	    address.sun_path, sizeof(address.sun_path), "%s", ctl_path(daemon, "sock", path));
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert_int_eq(write(fd, request, strlen(request)), (ssize_t)strlen(request));
	close(fd);
}

/* Those who may only read do not fill the channel of a worker that is busy. */
START_TEST(worker_has_one_question_at_a_time)
{
	struct daemon *daemon = ctl_daemon(1);
	unsigned n_fds;

	ctl_append(daemon, "watchdog-timeout = 0\n");
	daemon_start(daemon);
	n_fds = process_n_fds(daemon->pid);
	process_stop(daemon_worker(daemon, 0));
	for (int i = 0; i < 200; i++)
		ask_and_leave(daemon, "{\"verb\":\"conns\"}\n");
	/* Each question would have a descriptor of its own. */
	ck_assert_uint_le(process_n_fds(daemon->pid), n_fds + 20);
	ctl_expect(daemon, "conns", 0);
	ctl_expect_said(daemon, "\nwithout those of worker 0, which has not answered\n");
	WAIT_FOR(process_n_fds(daemon->pid) == n_fds);
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGCONT), 0);
	ctl_expect(daemon, "conns --json", 0);
	ctl_expect_said(daemon, "\"silent\":[]");
	daemon_stop(&daemon);
}
END_TEST

/* Also when more has been ordered meanwhile than its channel holds. */
START_TEST(worker_that_is_busy_hears_its_orders_later)
{
	struct daemon *daemon = ctl_daemon(1);
	pid_t before;
	int client;

	ctl_append(daemon, "watchdog-timeout = 0\n");
	daemon_start(daemon);
	before = daemon_worker(daemon, 0);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "hello");
	process_stop(before);
	for (int i = 0; i < 1000; i++)
		ask_and_leave(daemon, "{\"verb\":\"log-level\",\"level\":\"info\"}\n");
	ctl_expect(daemon, "reload", 0);
	ck_assert_int_eq(kill(before, SIGCONT), 0);
	WAIT_FOR(daemon_n_logged(daemon, "generation 1 has ended") == 1);
	client_ping(client, "hello");
	close(client);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "moved_in", 1);
	daemon_expect_counter(daemon, "closed_worker_died", 0);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_conns");
	TCase *list = run_case(suite, "list");
	TCase *kick = run_case(suite, "kick");
	TCase *trouble = run_case(suite, "trouble");

	tcase_add_test(list, thousands_are_found_while_they_are_busy);
	tcase_add_test(list, list_is_sorted_filtered_and_cut);
	tcase_add_test(list, those_that_stand_out_come_first);
	tcase_add_test(kick, kicked_connection_is_gone);
	tcase_add_test(trouble, silent_worker_is_left_out);
	tcase_add_test(trouble, worker_has_one_question_at_a_time);
	tcase_add_test(trouble, worker_that_is_busy_hears_its_orders_later);
	return run_suite(suite);
}
