#include "config.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "system/client.h"
#include "system/relay.h"

struct daemon *relay_start(const char *relay, const char *upstream, const char *listen)
{
	struct daemon *daemon = daemon_new(1,
	    "module relay { upstream = game %s }\n"
	    "connect game { modules = { relay } reconnect-min = 10ms reconnect-max = 50ms %s "
	    "}\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { relay } %s }\n",
	    relay, upstream, listen);

	daemon_start(daemon);
	return daemon;
}

struct daemon *relay_start_before(struct backend *backend, const char *relay, int *server)
{
	char upstream[64];
	struct daemon *daemon;

	backend_open(backend);
	snprintf(upstream, sizeof(upstream), "address = \"127.0.0.1:%u\"", backend->port);
	daemon = relay_start(relay, upstream, "");
	*server = backend_accept(backend);
	WAIT_FOR(daemon_has_logged(daemon, ": connected"));
	return daemon;
}

int relay_connect(struct daemon *daemon)
{
	return client_connect(daemon_port(daemon, "main"));
}

void relay_expect_failure(int fd, uint32_t id, uint32_t cause)
{
	const uint8_t expected[8] = { (uint8_t)(id >> 24), (uint8_t)(id >> 16),
		(uint8_t)(id >> 8), (uint8_t)id, 0, 0, 0, (uint8_t)cause };
	struct message message = message_receive(fd);

	ck_assert_uint_eq(message.id, RELAY_FAILURE);
	ck_assert_uint_eq(message.len, sizeof(expected));
	ck_assert_msg(memcmp(message.payload, expected, sizeof(expected)) == 0,
	    "cause %u instead of %u", message.payload[7], cause);
}

void relay_expect_count(struct daemon *daemon, const char *name, unsigned value)
{
	char text[64];

	snprintf(text, sizeof(text), " %s=%u", name, value);
	for (const char *at = daemon_read(daemon, daemon->log); (at = strstr(at, text)) != NULL;
	     at += strlen(text)) {
		if (at[strlen(text)] == ' ' || at[strlen(text)] == '\n')
			return;
	}
	ck_abort_msg("not in the log:%s", text);
}

struct message relay_ask(int fd, int server, uint32_t id, const char *text)
{
	struct pollfd fds[] = { { .fd = fd, .events = POLLIN },
		{ .fd = server, .events = POLLIN } };

	for (;;) {
		message_say(fd, id, text);
		ck_assert_int_gt(poll(fds, 2, DEADLINE_MS), 0);
		if (fds[1].revents != 0)
			return message_receive(server);
		relay_expect_failure(fd, id, RELAY_DOWN);
	}
}
