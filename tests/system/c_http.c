/*
 * What is served over HTTP, to whom, and what clients of all kinds can do to it: nothing to the
 * clients of messages.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/client.h"
#include "system/ctl.h"
#include "system/daemon.h"
#include "system/http.h"
#include "system/process.h"
#include "system/run.h"

#define expect_in(text, part) \
	ck_assert_msg(strstr((text), (part)) != NULL, "no '%s' in:\n%.2000s", (part), (text))

static const struct {
	const char *path, *type, *part;
} routes[] = {
	{ "/", "text/html; charset=utf-8", "<!DOCTYPE html>" },
	{ "/page.html", "text/html; charset=utf-8", "<!DOCTYPE html>" },
	{ "/page.css", "text/css; charset=utf-8", "{" },
	{ "/page.js", "text/javascript; charset=utf-8", "status.json" },
	{ "/metrics", "text/plain; version=0.0.4; charset=utf-8", "# TYPE runnel_" },
	{ "/status.json", "application/json", "{\"ok\":true,\"version\":\"" },
	{ "/healthz", "text/plain; charset=utf-8", "ok\n" },
};
#define N_ROUTES (sizeof(routes) / sizeof(routes[0]))

START_TEST(routes_are_served)
{
	struct daemon *daemon = http_daemon(2, "%s", "");
	struct http_reply reply;
	char type[128];

	daemon_start(daemon);
	for (size_t i = 0; i < N_ROUTES; i++) {
		http_get(http_port(daemon), routes[i].path, &reply);
		ck_assert_int_eq(reply.code, 200);
		snprintf(type, sizeof(type), "\r\nContent-Type: %s\r\n", routes[i].type);
		expect_in(reply.text, type);
		expect_in(reply.text, "\r\nCache-Control: no-store\r\n");
		expect_in(reply.text, "\r\nX-Content-Type-Options: nosniff\r\n");
		expect_in(reply.text, "\r\nReferrer-Policy: no-referrer\r\n");
		expect_in(reply.text, "\r\nContent-Security-Policy: default-src 'none'; ");
		expect_in(reply.body, routes[i].part);
		http_reply_free(&reply);
	}
	http_expect(http_port(daemon), "/etc/passwd", 404, "there is /");
	http_expect(http_port(daemon), "/../conf", 404, "there is /");
	http_stop(&daemon);
}
END_TEST

START_TEST(head_has_no_body)
{
	struct daemon *daemon = http_daemon(1, "%s", "");
	struct http_reply reply;
	char request[128];

	daemon_start(daemon);
	for (size_t i = 0; i < N_ROUTES; i++) {
		snprintf(request, sizeof(request),
		    "HEAD %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		    routes[i].path);
		http_ask(http_port(daemon), request, &reply);
		ck_assert_int_eq(reply.code, 200);
		ck_assert_uint_eq(reply.len, 0);
		ck_assert_ptr_null(strstr(reply.text, "Content-Length: 0\r\n"));
		http_reply_free(&reply);
	}
	http_stop(&daemon);
}
END_TEST

/* One after the other on a connection, the page as well as what the master answers. */
START_TEST(connections_are_kept)
{
	static const char request[] = "GET / HTTP/1.1\r\nHost: [::1]\r\n\r\n"
				      "GET /healthz HTTP/1.1\r\nHost: [::1]:80\r\n\r\n"
				      "GET /metrics HTTP/1.1\r\nHost: LocalHost\r\n"
				      "Connection: close\r\n\r\n";
	struct daemon *daemon = http_daemon(1, "%s", "");
	struct http_reply reply;

	daemon_start(daemon);
	http_ask(http_port(daemon), request, &reply);
	ck_assert_int_eq(reply.code, 200);
	expect_in(reply.body, "</html>");
	expect_in(reply.body, "\r\n\r\nok\nHTTP/1.1 200 OK\r\n");
	expect_in(reply.body, "runnel_build_info");
	http_reply_free(&reply);
	http_stop(&daemon);
}
END_TEST

static bool is_what_runnelctl_says(struct daemon *daemon)
{
	struct http_reply reply;
	bool is_equal;

	http_get(http_port(daemon), "/metrics", &reply);
	ctl_expect(daemon, "metrics", 0);
	is_equal = reply.code == 200 && strcmp(reply.body, ctl_said(daemon)) == 0;
	http_reply_free(&reply);
	return is_equal;
}

START_TEST(metrics_are_those_of_runnelctl)
{
	struct daemon *daemon = http_daemon(2, "%s", "");
	int client;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "count me");
	WAIT_FOR(is_what_runnelctl_says(daemon));
	expect_in(ctl_said(daemon), "runnel_received_frames_total{");
	close(client);
	http_stop(&daemon);
}
END_TEST

START_TEST(promtool_has_nothing_to_say)
{
	struct daemon *daemon = http_daemon(2, "%s", "");
	char script[512], out[CTL_PATH_SIZE];
	struct http_reply reply;
	FILE *file;
	int status;

	daemon_start(daemon);
	http_get(http_port(daemon), "/metrics", &reply);
	file = fopen(ctl_path(daemon, "metrics", out), "we");
	ck_assert_ptr_nonnull(file);
	fputs(reply.body, file);
	fclose(file);
	http_reply_free(&reply);
	snprintf(script, sizeof(script),
	    "command -v promtool >/dev/null || exit 77; promtool check metrics <%s", out);
	ctl_path(daemon, "promtool", out);
	status = process_run("/bin/sh", out, "sh", "-c", script, NULL);
	if (status == 77)
		printf("skipped: promtool is not here (Debian: prometheus)\n");
	else
		ck_assert_msg(status == 0, "promtool: %s", daemon_read(daemon, out));
	http_stop(&daemon);
}
END_TEST

/* Without a control socket, too. */
START_TEST(control_socket_is_not_needed)
{
	struct daemon *daemon = daemon_new(1,
	    "module echo { }\nlisten main { address = \"127.0.0.1:0\" modules = { echo } }\n"
	    "metrics-address = \"127.0.0.1:0\"\nmetrics-program = \"%s\"\n",
	    HTTP_PROGRAM);

	daemon_start(daemon);
	http_expect(http_port(daemon), "/healthz", 200, "ok\n");
	http_expect(http_port(daemon), "/metrics", 200, "runnel_build_info");
	http_stop(&daemon);
}
END_TEST

START_TEST(other_methods_are_refused)
{
	static const char *const methods[] = { "POST", "PUT", "DELETE", "OPTIONS", "TRACE",
		"PATCH", "CONNECT", "get", "BREW" };
	struct daemon *daemon = http_daemon(1, "%s", "");
	struct http_reply reply;
	char request[128];

	daemon_start(daemon);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		snprintf(request, sizeof(request),
		    "%s /metrics HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n"
		    "Connection: close\r\n\r\nx=1",
		    methods[i]);
		http_ask(http_port(daemon), request, &reply);
		ck_assert_msg(reply.code == 405, "%s: %d", methods[i], reply.code);
		expect_in(reply.text, "\r\nAllow: GET, HEAD\r\n");
		http_reply_free(&reply);
	}
	http_stop(&daemon);
}
END_TEST

static const struct {
	const char *line;
	int code;
} hosts[] = {
	{ "Host: 127.0.0.1\r\n", 200 },
	{ "Host: 192.0.2.7:9100\r\n", 200 },
	{ "Host: [2001:db8::1]:9100\r\n", 200 },
	{ "Host: localhost:1\r\n", 200 },
	{ "Host: metrics.example\r\n", 200 },
	{ "Host: Metrics.Example:9100\r\n", 200 },
	{ "Host: other.example\r\n", 200 },
	{ "Host: attacker.example\r\n", 421 },
	{ "Host: metrics.example.attacker.example\r\n", 421 },
	{ "Host: localhost.attacker.example\r\n", 421 },
	{ "Host: 127.0.0.1.attacker.example\r\n", 421 },
	{ "Host: [::1].attacker.example\r\n", 421 },
	{ "Host: [::1\r\n", 421 },
	{ "Host: localhost:x\r\n", 421 },
	{ "Host: 2130706433\r\n", 421 },
	{ "Host: \r\n", 421 },
	{ "Host:    localhost \t  \r\n", 200 },
	{ "Host: localhost\r\nhost: localhost\r\n", 400 },
	{ "Host: localhost\r\nHost: attacker.example\r\n", 400 },
	{ "", 400 },
};

/* What stands in the first line counts; all have a Host field. */
static const struct {
	const char *target;
	int code;
} targets[] = {
	{ "http://localhost/healthz", 200 },
	{ "HTTP://metrics.example:9100/healthz?a=b", 200 },
	{ "http://[::1]/healthz", 200 },
	{ "http://localhost", 200 },
	{ "http://localhost/nowhere", 404 },
	{ "http://attacker.example/healthz", 421 },
	{ "http://localhost@attacker.example/healthz", 421 },
	{ "http:///healthz", 421 },
	{ "ftp://localhost/healthz", 404 },
	{ "//localhost/healthz", 404 },
};

START_TEST(host_names_are_checked)
{
	struct daemon *daemon =
	    http_daemon(1, "%s", "metrics-hosts = { \"metrics.example\", other.example }\n");
	struct http_reply reply;
	char request[256];

	daemon_start(daemon);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		snprintf(request, sizeof(request),
		    "GET /healthz HTTP/1.1\r\n%sConnection: close\r\n\r\n", hosts[i].line);
		http_ask(http_port(daemon), request, &reply);
		ck_assert_msg(reply.code == hosts[i].code, "%s: %d", hosts[i].line, reply.code);
		http_reply_free(&reply);
	}
	for (size_t i = 0; i < sizeof(targets) / sizeof(targets[0]); i++) {
		snprintf(request, sizeof(request),
		    "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
		    targets[i].target);
		http_ask(http_port(daemon), request, &reply);
		ck_assert_msg(
		    reply.code == targets[i].code, "%s: %d", targets[i].target, reply.code);
		http_reply_free(&reply);
	}
	http_ask(http_port(daemon), "GET /healthz HTTP/1.0\r\n\r\n", &reply);
	ck_assert_int_eq(reply.code, 200);
	http_reply_free(&reply);
	http_stop(&daemon);
}
END_TEST

/* --- health --- */

static void crash_worker(struct daemon *daemon, unsigned n_times)
{
	for (unsigned n = 1; n <= n_times; n++) {
		unsigned n_started = daemon_n_started(daemon, 1);

		ck_assert_int_eq(kill(daemon_worker(daemon, 1), SIGKILL), 0);
		if (n < n_times)
			WAIT_FOR(daemon_n_started(daemon, 1) == n_started + 1);
	}
}

START_TEST(degraded_slot_is_told)
{
	struct daemon *daemon = http_daemon(2, "%s", "");

	daemon_start(daemon);
	http_expect(http_port(daemon), "/healthz", 200, "ok\n");
	crash_worker(daemon, 5);
	WAIT_FOR(daemon_has_logged(daemon, "5 crashes within 60 s: degraded"));
	WAIT_FOR(http_says(
	    http_port(daemon), "/healthz", 503, "degraded: worker 1 crashes too often\n"));
	ck_assert_int_eq(http_code(http_port(daemon), "/metrics"), 200);
	http_stop(&daemon);
}
END_TEST

START_TEST(end_is_told)
{
	struct daemon *daemon =
	    http_daemon(1, "%s", "drain-timeout = 60s\nwatchdog-timeout = 0\n");
	int client;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	client_ping(client, "stay");
	/* It waits for as long as this connection's output is not read to its end. */
	daemon_signal(daemon, SIGSTOP);
	daemon_signal(daemon, SIGTERM);
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGSTOP), 0);
	daemon_signal(daemon, SIGCONT);
	WAIT_FOR(http_says(http_port(daemon), "/healthz", 503, "shutting down: stopping\n"));
	ck_assert_int_eq(http_code(http_port(daemon), "/metrics"), 200);
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGCONT), 0);
	ck_assert_int_eq(daemon_await_end(daemon), 0);
	close(client);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(master_that_stands_still_is_told)
{
	struct daemon *daemon = http_daemon(1, "%s", "");
	uint16_t port;

	daemon_start(daemon);
	port = http_port(daemon);
	http_expect(port, "/healthz", 200, "ok\n");
	daemon_signal(daemon, SIGSTOP);
	WAIT_FOR(http_says(port, "/healthz", 503, "the master does not answer\n"));
	http_expect(port, "/metrics", 503, "the master does not answer\n");
	http_expect(port, "/", 200, "</html>");
	daemon_signal(daemon, SIGCONT);
	WAIT_FOR(http_says(port, "/healthz", 200, "ok\n"));
	WAIT_FOR(http_code(port, "/metrics") == 200);
	http_stop(&daemon);
}
END_TEST

/* --- clients that harm --- */

static const char *const garbage[] = {
	"\r\n\r\n\r\n\r\n",
	"GET\r\n\r\n",
	"GET /healthz\r\n\r\n",
	"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
	"GET /healthz HTTP/1.1\r\nHost\r\n\r\n",
	"GET /%00%ff%2e%2e HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
	"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
	"GET /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello",
	"GET /healthz HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
	"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
	"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
	"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
};

static void ask_at_length(uint16_t port, size_t len)
{
	char *request = malloc(len + 1);
	struct http_reply reply;

	ck_assert_ptr_nonnull(request);
	memset(request, 'x', len);
	memcpy(request, "GET /", 5);
	request[len] = '\0';
	http_ask(port, request, &reply);
	ck_assert_msg(reply.code == 0 || reply.code >= 400, "%d", reply.code);
	http_reply_free(&reply);
	free(request);
}

START_TEST(malformed_requests_harm_nobody)
{
	struct daemon *daemon = http_daemon(1, "%s", "");
	struct http_reply reply;
	uint16_t port;
	int client;

	daemon_start(daemon);
	port = http_port(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
		int fd = client_connect(port);

		client_try_send(fd, garbage[i], strlen(garbage[i]));
		shutdown(fd, SHUT_WR);
		http_read(fd, &reply);
		ck_assert_msg(reply.code == 0 || reply.code >= 400, "%zu: %d", i, reply.code);
		http_reply_free(&reply);
		client_ping(client, "between");
	}
	ask_at_length(port, 20000);
	ask_at_length(port, 1000000);
	http_expect(port, "/healthz", 200, "ok\n");
	ck_assert_uint_eq(http_n_started(daemon), 1);
	close(client);
	http_stop(&daemon);
}
END_TEST

/* Whether a byte still goes out; also false when the peer has ended the connection. */
static bool trickle(int fd)
{
	char byte;

	if (recv(fd, &byte, 1, MSG_DONTWAIT) == 0)
		return false;
	return client_try_send(fd, "x", 1);
}

START_TEST(slow_clients_are_ended)
{
	static const char begin[] = "GET /healthz HTTP/1.1\r\nHost: ";
	struct daemon *daemon = http_daemon(1, "%s", "");
	int idle, slow;

	daemon_start(daemon);
	idle = client_connect(http_port(daemon));
	slow = client_connect(http_port(daemon));
	client_send(slow, begin, strlen(begin));
	WAIT_FOR(!trickle(slow));
	client_expect_end(idle);
	http_expect(http_port(daemon), "/healthz", 200, "ok\n");
	close(idle);
	close(slow);
	http_stop(&daemon);
}
END_TEST

#define N_MANY 1000
#define N_TOO_MANY 1100

static void open_many(uint16_t port, int *fds, size_t n)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (size_t i = 0; i < n; i++)
		fds[i] = client_connect(port);
}

START_TEST(many_scrapes_at_once_are_answered)
{
	static const char request[] =
	    "GET /metrics HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	struct daemon *daemon = http_daemon(2, "%s", "");
	struct http_reply reply;
	static int fds[N_MANY];
	int client;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	open_many(http_port(daemon), fds, N_MANY);
	for (size_t i = 0; i < N_MANY; i++) {
		client_send(fds[i], request, strlen(request));
		client_ping(client, "between");
	}
	for (size_t i = 0; i < N_MANY; i++) {
		http_read(fds[i], &reply);
		ck_assert_int_eq(reply.code, 200);
		expect_in(reply.body, "runnel_build_info");
		ck_assert_int_eq(reply.body[reply.len - 1], '\n');
		http_reply_free(&reply);
		client_ping(client, "between");
	}
	ck_assert_uint_eq(http_n_started(daemon), 1);
	close(client);
	http_stop(&daemon);
}
END_TEST

/* More than are served at a time: those that are too many wait, and nobody else does. */
START_TEST(too_many_connections_wait)
{
	struct daemon *daemon = http_daemon(1, "%s", "");
	static int fds[N_TOO_MANY];
	int client;

	daemon_start(daemon);
	client = client_connect(daemon_port(daemon, "main"));
	open_many(http_port(daemon), fds, N_TOO_MANY);
	WAIT_FOR(process_n_fds(http_pid(daemon)) > 1000);
	client_ping(client, "hello");
	ctl_expect(daemon, "status", 0);
	ck_assert_uint_lt(process_n_fds(http_pid(daemon)), N_TOO_MANY);
	for (size_t i = 0; i < N_TOO_MANY; i++)
		close(fds[i]);
	WAIT_FOR(http_code(http_port(daemon), "/healthz") == 200);
	client_ping(client, "hello");
	ck_assert_uint_eq(http_n_started(daemon), 1);
	close(client);
	http_stop(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_http");
	TCase *served = run_case(suite, "served");
	TCase *refused = run_case(suite, "refused");
	TCase *health = run_case(suite, "health");
	TCase *harm = run_case(suite, "harm");

	tcase_add_test(served, routes_are_served);
	tcase_add_test(served, head_has_no_body);
	tcase_add_test(served, connections_are_kept);
	tcase_add_test(served, metrics_are_those_of_runnelctl);
	tcase_add_test(served, promtool_has_nothing_to_say);
	tcase_add_test(served, control_socket_is_not_needed);
	tcase_add_test(refused, other_methods_are_refused);
	tcase_add_test(refused, host_names_are_checked);
	tcase_add_test(health, degraded_slot_is_told);
	tcase_add_test(health, end_is_told);
	tcase_add_test(health, master_that_stands_still_is_told);
	tcase_add_test(harm, malformed_requests_harm_nobody);
	tcase_add_test(harm, slow_clients_are_ended);
	tcase_add_test(harm, many_scrapes_at_once_are_answered);
	tcase_add_test(harm, too_many_connections_wait);
	return run_suite(suite);
}
