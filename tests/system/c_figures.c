/*
 * What a daemon tells of itself adds up, over everything that befalls its workers.
 */
#include "config.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "system/backend.h"
#include "system/client.h"
#include "system/ctl.h"
#include "system/daemon.h"
#include "system/probe.h"
#include "system/process.h"
#include "system/run.h"

#define N_CLIENTS 100
#define N_REQUESTS 50
#define FRAME 20 /* bytes of a request or a reply of c10k */

#define HANDLER "runnel_handler_duration_seconds"
#define REPLY "runnel_reply_duration_seconds"

static struct daemon *figures_daemon(const char *module)
{
	struct daemon *daemon = daemon_new(2,
	    "%s"
	    "listen main { address = \"127.0.0.1:0\" modules = { %s } }\n",
	    module, strstr(module, "probe") != NULL ? "probe" : "c10k");
	char text[512], path[CTL_PATH_SIZE];

	snprintf(
	    text, sizeof(text), "control-socket = \"%s\"\n", ctl_path(daemon, "sock", path));
	ctl_append(daemon, text);
	snprintf(text, sizeof(text), "pid-file = \"%s\"\n", ctl_path(daemon, "pid", path));
	ctl_append(daemon, text);
	daemon_start(daemon);
	return daemon;
}

/*
 * The sum over all workers of a metric whose name is the first word up to its label, and whose
 * line has part in it.
 */
static uint64_t metric(struct daemon *daemon, const char *name, const char *part)
{
	uint64_t sum = 0;
	char *text, *line, *rest;

	ctl_expect(daemon, "metrics", 0);
	text = strdup(ctl_said(daemon));
	ck_assert_ptr_nonnull(text);
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		if (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == '{' &&
		    strstr(line, part) != NULL)
			sum += strtoull(strrchr(line, ' '), NULL, 10);
	}
	free(text);
	return sum;
}

static void expect_metric(struct daemon *daemon, const char *name, uint64_t value)
{
	uint64_t found = metric(daemon, name, "");

	ck_assert_msg(found == value, "%s is %" PRIu64 ", not %" PRIu64, name, found, value);
}

/* All that runnel-bench has sent in so many runs has come, been handled and been answered. */
static void expect_runs(struct daemon *daemon, unsigned n)
{
	const uint64_t n_frames = (uint64_t)n * N_CLIENTS * N_REQUESTS;

	expect_metric(daemon, "runnel_connections_accepted_total", n * N_CLIENTS);
	expect_metric(daemon, "runnel_received_frames_total", n_frames);
	expect_metric(daemon, "runnel_queued_frames_total", n_frames);
	expect_metric(daemon, "runnel_received_bytes_total", n_frames * FRAME);
	expect_metric(daemon, "runnel_sent_bytes_total", n_frames * FRAME);
	expect_metric(daemon, HANDLER "_count", n_frames);
	expect_metric(daemon, REPLY "_count", n_frames);
	ck_assert_uint_eq(metric(daemon, HANDLER "_bucket", "le=\"+Inf\""), n_frames);
	ck_assert_uint_eq(metric(daemon, REPLY "_bucket", "le=\"+Inf\""), n_frames);
}

/* Returns when all its connections have ended. */
static void run_bench(struct daemon *daemon)
{
	char server[32], clients[16], requests[16];

	snprintf(server, sizeof(server), "127.0.0.1:%u", daemon_port(daemon, "main"));
	snprintf(clients, sizeof(clients), "%d", N_CLIENTS);
	snprintf(requests, sizeof(requests), "%d", N_REQUESTS);
	ck_assert_int_eq(
	    process_run(BUILD_DIR "/runnel-bench", daemon->out, "runnel-bench", "--no-progress",
		"-c", clients, "-n", requests, "-p", "4", server, NULL),
	    0);
	WAIT_FOR(metric(daemon, "runnel_connections", "") == 0);
}

static void kill_worker(struct daemon *daemon, unsigned slot)
{
	unsigned n_started = daemon_n_started(daemon, slot);
	char ready[64];

	ck_assert_int_eq(kill(daemon_worker(daemon, slot), SIGKILL), 0);
	WAIT_FOR(daemon_n_started(daemon, slot) > n_started);
	snprintf(ready, sizeof(ready), "\"slot\":%u,\"state\":\"ready\"", slot);
	WAIT_FOR((ctl_run(daemon, "status -j"), strstr(ctl_said(daemon), ready) != NULL));
}

/*
 * Nobody is connected when the worker dies, so that what it had counted is known: it stays
 * counted, to the byte, and what comes after adds to it.
 */
START_TEST(counters_add_up_over_a_kill)
{
	struct daemon *daemon = figures_daemon("module c10k { }\n");

	run_bench(daemon);
	expect_runs(daemon, 1);
	for (unsigned slot = 0; slot < 2; slot++) {
		kill_worker(daemon, slot);
		expect_runs(daemon, 1 + slot);
		run_bench(daemon);
		expect_runs(daemon, 2 + slot);
	}
	ck_assert_uint_eq(metric(daemon, "runnel_connections_closed_total", "reason=\"peer\""),
	    3 * N_CLIENTS);
	ck_assert_uint_eq(metric(daemon, "runnel_connections_closed_total", ""), 3 * N_CLIENTS);
	daemon_end(daemon);
	daemon_expect_counter(daemon, "frames_in", 3 * N_CLIENTS * N_REQUESTS);
	daemon_expect_counter(daemon, "frames_out", 3 * N_CLIENTS * N_REQUESTS);
	daemon_expect_counter(daemon, "bytes_in", 3 * N_CLIENTS * N_REQUESTS * FRAME);
	daemon_expect_counter(daemon, "bytes_out", 3 * N_CLIENTS * N_REQUESTS * FRAME);
	daemon_destroy(&daemon);
}
END_TEST

/* A message whose handler works for 30 ms, in its turn among none. */
static void be_busy(struct daemon *daemon)
{
	int fd = client_connect(daemon_port(daemon, "main"));
	uint8_t word[4];
	uint32_t id;

	probe_send(fd, PROBE_BUSY, 1, 30000);
	ck_assert_uint_eq(client_receive_tlv(fd, &id, word, sizeof(word)), 4);
	close(fd);
}

/* So many messages were handled and answered, and each took more than 20 ms. */
static void expect_slow(struct daemon *daemon, uint64_t n)
{
	/* The reply comes to its reader before it is counted. */
	WAIT_FOR(metric(daemon, REPLY "_count", "") == n);
	expect_metric(daemon, HANDLER "_count", n);
	ck_assert_uint_eq(metric(daemon, HANDLER "_bucket", "le=\"0.02\""), 0);
	ck_assert_uint_eq(metric(daemon, REPLY "_bucket", "le=\"0.02\""), 0);
	ck_assert_uint_eq(metric(daemon, HANDLER "_bucket", "le=\"10\""), n);
	ck_assert_uint_eq(metric(daemon, REPLY "_bucket", "le=\"10\""), n);
}

static void upgrade(struct daemon *daemon)
{
	char pid_file[CTL_PATH_SIZE];

	ctl_expect(daemon, "upgrade", 0);
	WAIT_FOR(daemon_has_ended(daemon));
	daemon_attach(daemon, ctl_path(daemon, "pid", pid_file));
}

START_TEST(slow_handlers_stay_counted)
{
	struct daemon *daemon = figures_daemon(PROBE_SECTION);

	be_busy(daemon);
	expect_slow(daemon, 1);
	kill_worker(daemon, 0);
	kill_worker(daemon, 1);
	expect_slow(daemon, 1);
	be_busy(daemon);
	expect_slow(daemon, 2);
	ctl_expect(daemon, "reload", 0);
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	expect_slow(daemon, 2);
	be_busy(daemon);
	expect_slow(daemon, 3);
	upgrade(daemon);
	expect_slow(daemon, 3);
	be_busy(daemon);
	expect_slow(daemon, 4);
	ctl_expect(daemon, "status -j", 0);
	ctl_expect_said(daemon, "\"handler_time\":{\"count\":");
	ctl_expect_said(daemon, "\"reply_time\":{\"count\":");
	ctl_expect_said(daemon, "\"memory_bytes\":");
	ck_assert_ptr_null(strstr(ctl_said(daemon), "\"memory_bytes\":0"));
	ck_assert_uint_gt(metric(daemon, "runnel_worker_memory_bytes", ""), 1 << 20);
	daemon_stop(&daemon);
}
END_TEST

static bool has_said(struct daemon *daemon, const char *words, const char *text)
{
	ctl_expect(daemon, words, 0);
	return strstr(ctl_said(daemon), text) != NULL;
}

#define UP "runnel_upstream_connections"
#define ADDRESSES "runnel_upstream_addresses"

/* Of two upstreams, one has two backends, of which one is there; the other has none. */
START_TEST(what_is_missing_of_upstreams_is_told)
{
	struct backend backend;
	unsigned int nobody = client_free_port();
	struct daemon *daemon;
	int servers[4];
	char text[512];

	backend_open(&backend);
	snprintf(text, sizeof(text),
	    "module c10k { }\n"
	    "connect none { address = \"127.0.0.1:%u\" modules = { c10k } }\n"
	    "connect two { address = { \"127.0.0.1:%u\", \"127.0.0.1:%u\" }\n"
	    "  modules = { c10k } }\n",
	    nobody, nobody, backend.port);
	daemon = figures_daemon(text);
	WAIT_FOR(has_said(daemon, "status", "\nupstream two: 2 of 4 connections up\n"));
	ctl_expect_said(daemon, "\nupstream none: 0 of 2 connections up\n");
	ctl_expect(daemon, "status -j", 0);
	ctl_expect_said(daemon, "\"upstreams\":[{\"name\":\"none\",\"up\":0,\"wanted\":2},"
				"{\"name\":\"two\",\"up\":2,\"wanted\":4}]");
	for (int i = 0; i < 2; i++) {
		const char *const labels[] = { "{worker=\"0\",upstream=\"two\"}",
			"{worker=\"1\",upstream=\"two\"}" };

		ck_assert_uint_eq(metric(daemon, UP, labels[i]), 1);
		ck_assert_uint_eq(metric(daemon, ADDRESSES, labels[i]), 2);
		servers[i] = backend_accept(&backend);
	}
	/* Those of the generation before are not counted with those of this. */
	ctl_expect(daemon, "reload", 0);
	WAIT_FOR(has_said(daemon, "status", "\nupstream two: 2 of 4 connections up\n"));
	for (int i = 2; i < 4; i++)
		servers[i] = backend_accept(&backend);
	backend_close(&backend);
	for (int i = 0; i < 4; i++)
		close(servers[i]);
	WAIT_FOR(has_said(daemon, "status", "\nupstream two: 0 of 4 connections up\n"));
	daemon_stop(&daemon);
}
END_TEST

/* Where Prometheus is installed. */
START_TEST(promtool_has_no_complaint)
{
	struct daemon *daemon = figures_daemon("module c10k { }\n");
	char command[256], said[CTL_PATH_SIZE];
	int status;

	run_bench(daemon);
	ctl_expect(daemon, "metrics", 0);
	snprintf(command, sizeof(command),
	    "command -v promtool >/dev/null || exit 77; promtool check metrics <%s",
	    ctl_path(daemon, "said", said));
	status = process_run("/bin/sh", daemon->out, "sh", "-c", command, NULL);
	ck_assert_msg(
	    status == 0 || status == 77, "%d: %s", status, daemon_read(daemon, daemon->out));
	daemon_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_figures");
	TCase *tcase = run_case(suite, "figures");

	tcase_add_test(tcase, counters_add_up_over_a_kill);
	tcase_add_test(tcase, slow_handlers_stay_counted);
	tcase_add_test(tcase, what_is_missing_of_upstreams_is_told);
	tcase_add_test(tcase, promtool_has_no_complaint);
	return run_suite(suite);
}
