/*
 * The daemon under runnel-bench, which verifies each reply byte for byte: what a
 * thousand clients at once see.
 */
#include "config.h"

#include <stdio.h>

#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

#define CONF                \
	"module c10k { }\n" \
	"listen main { address = \"127.0.0.1:0\" modules = { c10k } framing = %s }\n"

static struct daemon *start_c10k(unsigned n_workers, const char *framing)
{
	struct daemon *daemon = daemon_new(n_workers, CONF, framing);

	daemon_start(daemon);
	return daemon;
}

#define SERVER_SIZE 32

static const char *server_of(struct daemon *daemon, char server[SERVER_SIZE])
{
	snprintf(server, SERVER_SIZE, "127.0.0.1:%u", daemon_port(daemon, "main"));
	return server;
}

START_TEST(thousand_clients_see_no_failure)
{
	struct daemon *daemon = start_c10k(run_workers(_i), "tlv");
	char server[SERVER_SIZE];

	ck_assert_int_eq(
	    process_run(BUILD_DIR "/runnel-bench", daemon->out, "runnel-bench", "--no-progress",
		"-c", "1000", "-n", "20", server_of(daemon, server), NULL),
	    0);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "accepted", 1000);
	daemon_expect_counter(daemon, "closed_peer", 1000);
	daemon_expect_counter(daemon, "frames_in", 20000);
	daemon_expect_counter(daemon, "frames_out", 20000);
	daemon_expect_counter(daemon, "bytes_in", 20000 * 20);
	daemon_expect_counter(daemon, "bytes_out", 20000 * 20);
	daemon_destroy(&daemon);
}
END_TEST

/* All four messages, 16 in flight, and clients that connect anew now and then. */
START_TEST(thousand_busy_clients_see_no_failure)
{
	struct daemon *daemon = start_c10k(run_workers(_i), "ltv");
	char server[SERVER_SIZE];

	ck_assert_int_eq(
	    process_run(BUILD_DIR "/runnel-bench", daemon->out, "runnel-bench", "--no-progress",
		"-c", "1000", "-n", "64", "-p", "16", "--mix", "--framing", "ltv",
		"--reconnect", "5%", server_of(daemon, server), NULL),
	    0);
	daemon_end(daemon);
	ck_assert_uint_gt(daemon_counter(daemon, "accepted"), 1000);
	daemon_expect_counter(daemon, "closed_peer", daemon_counter(daemon, "accepted"));
	daemon_expect_counter(daemon, "frames_in", 64000);
	daemon_expect_counter(daemon, "frames_out", 64000);
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("g_bench");
	TCase *clients = run_case(suite, "clients");

	run_add_workers(clients, thousand_clients_see_no_failure);
	run_add_workers(clients, thousand_busy_clients_see_no_failure);
	return run_suite(suite);
}
