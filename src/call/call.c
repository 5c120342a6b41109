#include "config.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/memory.h"

#include "call/call.h"

/* A daemon that does not accept for so long is stuck. */
#define CONNECT_LIMIT_MS 10000

/* More than any answer has. */
#define MAX_ANSWER_BYTES (16u * 1024u * 1024u)

static enum call_result fail(enum call_result result, struct reason *why, const char *path)
{
	reason_set(why, "control socket %s: %s", path, strerror(errno));
	return result;
}

/* Also what is gone by now may have been one. */
static bool is_socket(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 || S_ISSOCK(st.st_mode);
}

static enum call_result say_late(const struct call *call, uint64_t end_ms, struct reason *why)
{
	/* Some of it has gone by since the limit was set. */
	reason_set(why, "no answer in %llu s",
	    (unsigned long long)(end_ms - call->begin_ms + 500) / 1000);
	return CALL_FAILED;
}

/* When a connect is given up. */
static uint64_t connect_end_ms(uint64_t begin_ms, uint64_t deadline_ms)
{
	uint64_t end_ms = begin_ms + CONNECT_LIMIT_MS;

	return deadline_ms < end_ms ? deadline_ms : end_ms;
}

/* A limit of 0 would be none. */
static struct timeval limit_of(uint64_t begin_ms, uint64_t end_ms)
{
	uint64_t limit_ms = end_ms > begin_ms ? end_ms - begin_ms : 1;

	return (struct timeval){ .tv_sec = (time_t)(limit_ms / 1000),
		.tv_usec = (suseconds_t)(limit_ms % 1000 * 1000) };
}

enum call_result call_open(
    struct call *call, const char *path, uint64_t deadline_ms, struct reason *why)
{
	uint64_t begin_ms = clock_ms();
	uint64_t end_ms = connect_end_ms(begin_ms, deadline_ms);
	const struct timeval limit = limit_of(begin_ms, end_ms);
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct ucred peer = { 0 };
	socklen_t len = sizeof(peer);

	call->fd = -1;
	call->pid = 0;
	call->begin_ms = begin_ms;
	if (strlen(path) >= sizeof(address.sun_path)) {
		errno = ENAMETOOLONG;
		return fail(CALL_FAILED, why, path);
	}
	memcpy(address.sun_path, path, strlen(path) + 1);
	call->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* The limit is also one of the connect. */
	if (call->fd < 0 ||
	    setsockopt(call->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return fail(CALL_FAILED, why, path);
	if (connect(call->fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
		if (errno == ECONNREFUSED && !is_socket(path)) {
			reason_set(
			    why, "control socket %s: it is there and is no socket", path);
			return CALL_FAILED;
		}
		if (errno == EAGAIN)
			return say_late(call, end_ms, why);
		return fail(errno == ENOENT || errno == ENOTDIR || errno == ECONNREFUSED
				? CALL_NOBODY
				: CALL_FAILED,
		    why, path);
	}
	if (getsockopt(call->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
		call->pid = peer.pid;
	return CALL_ANSWERED;
}

struct line {
	char *text; /* owned */
	size_t len, size;
};

static bool make_room(struct line *line)
{
	size_t size = line->size == 0 ? 4096 : line->size * 2;
	char *text;

	if (line->len < line->size)
		return true;
	text = size <= MAX_ANSWER_BYTES ? realloc(line->text, size) : NULL;
	if (text == NULL)
		return false;
	line->text = text;
	line->size = size;
	return true;
}

static bool await_input(int fd, uint64_t deadline_ms)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };

	for (;;) {
		uint64_t now_ms = clock_ms(), rest_ms;

		if (now_ms >= deadline_ms)
			return false;
		rest_ms = deadline_ms - now_ms;
		if (poll(&poll_fd, 1, rest_ms < INT_MAX ? (int)rest_ms : INT_MAX) > 0)
			return true;
	}
}

static enum call_result read_line(
    const struct call *call, uint64_t deadline_ms, struct line *line, struct reason *why)
{
	while (line->len == 0 || line->text[line->len - 1] != '\n') {
		ssize_t n;

		if (!make_room(line)) {
			reason_set(why, "there is no memory for the answer");
			return CALL_FAILED;
		}
		if (!await_input(call->fd, deadline_ms))
			return say_late(call, deadline_ms, why);
		n = recv(call->fd, line->text + line->len, line->size - line->len, 0);
		if (n > 0) {
			line->len += (size_t)n;
		} else if (n == 0 || errno != EINTR) {
			reason_set(why, "the daemon has ended without an answer");
			return CALL_ENDED;
		}
	}
	return CALL_ANSWERED;
}

static enum call_result judge(const struct line *line, json_t **answer, struct reason *why)
{
	json_t *root = json_loadb(line->text, line->len, 0, NULL);
	const char *error = json_string_value(json_object_get(root, "error"));

	if (json_is_true(json_object_get(root, "ok"))) {
		*answer = root;
		return CALL_ANSWERED;
	}
	reason_set(why, "%s", error != NULL ? error : "the answer is none of runneld's");
	json_decref(root);
	return CALL_FAILED;
}

enum call_result call_ask(struct call *call, const char *verb, uint64_t deadline_ms,
    json_t **answer, struct reason *why)
{
	json_t *request = json_pack("{ss}", "verb", verb);
	enum call_result result = call_ask_object(call, request, deadline_ms, answer, why);

	json_decref(request);
	return result;
}

enum call_result call_ask_object(struct call *call, const json_t *request, uint64_t deadline_ms,
    json_t **answer, struct reason *why)
{
	char *text = json_dumps(request, JSON_COMPACT), *request_line;
	struct line line = { NULL, 0, 0 };
	enum call_result result;
	ssize_t n;

	*answer = NULL;
	if (text == NULL) {
		reason_set(why, "the request is no JSON");
		return CALL_FAILED;
	}
	request_line = must_printf("%s\n", text);
	free(text);
	n = send(call->fd, request_line, strlen(request_line), MSG_NOSIGNAL);
	free(request_line);
	/* Who is sent away may have been told why already: so read, whatever comes of it. */
	if (n < 0 && errno != EPIPE) {
		reason_set(why, "cannot send: %s", strerror(errno));
		return CALL_FAILED;
	}
	result = read_line(call, deadline_ms, &line, why);
	if (result == CALL_ANSWERED)
		result = judge(&line, answer, why);
	free(line.text);
	return result;
}

void call_close(struct call *call)
{
	if (call->fd >= 0)
		close(call->fd);
	call->fd = -1;
}
