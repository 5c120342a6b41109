#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "system/client.h"
#include "system/ctl.h"
#include "system/http.h"

struct daemon *http_daemon(unsigned n_workers, const char *options, ...)
{
	struct daemon *daemon = ctl_daemon(n_workers);
	char text[1024];
	va_list args;

	va_start(args, options);
	vsnprintf(text, sizeof(text), options, args);
	va_end(args);
	ctl_append(daemon, "metrics-address = \"127.0.0.1:0\"\n");
	ctl_append(daemon, "metrics-program = \"" HTTP_PROGRAM "\"\n");
	ctl_append(daemon, text);
	return daemon;
}

static long find_last(struct daemon *daemon, const char *text)
{
	const char *at = daemon_read(daemon, daemon->log), *last = NULL;

	for (; (at = strstr(at, text)) != NULL; at++)
		last = at + strlen(text);
	ck_assert_msg(last != NULL, "not in the log: %s", text);
	return atol(last);
}

uint16_t http_port(struct daemon *daemon)
{
	return (uint16_t)find_last(daemon, "metrics-address: listening on 127.0.0.1:");
}

pid_t http_pid(struct daemon *daemon)
{
	return (pid_t)find_last(daemon, "http: started, pid ");
}

unsigned http_n_started(struct daemon *daemon)
{
	return daemon_n_logged(daemon, "http: started, pid ");
}

void http_stop(struct daemon **daemon)
{
	daemon_end(*daemon);
	ck_assert_msg(!daemon_has_logged(*daemon, " says: ") &&
			  !daemon_has_logged(*daemon, " exited with status "),
	    "there is a bug:\n%.2000s", daemon_read(*daemon, (*daemon)->log));
	daemon_destroy(daemon);
}

void http_read(int fd, struct http_reply *reply)
{
	size_t len = 0, size = 65536;
	const char *end;
	ssize_t n;

	*reply = (struct http_reply){ .text = malloc(size) };
	ck_assert_ptr_nonnull(reply->text);
	while ((n = recv(fd, reply->text + len, size - len - 1, 0)) > 0) {
		len += (size_t)n;
		if (len + 1 == size) {
			size *= 2;
			reply->text = realloc(reply->text, size);
			ck_assert_ptr_nonnull(reply->text);
		}
	}
	close(fd);
	reply->text[len] = '\0';
	reply->body = reply->text + len;
	end = strstr(reply->text, "\r\n\r\n");
	if (strncmp(reply->text, "HTTP/1.", 7) != 0 || end == NULL)
		return;
	reply->code = atoi(reply->text + 9);
	reply->body = end + 4;
	reply->len = len - (size_t)(reply->body - reply->text);
}

void http_ask(uint16_t port, const char *request, struct http_reply *reply)
{
	int fd = client_connect(port);

	client_try_send(fd, request, strlen(request));
	http_read(fd, reply);
}

void http_get(uint16_t port, const char *path, struct http_reply *reply)
{
	char request[256];

	snprintf(request, sizeof(request),
	    "GET %s HTTP/1.1\r\nHost: 127.0.0.1:%u\r\nConnection: close\r\n\r\n", path, port);
	http_ask(port, request, reply);
}

void http_reply_free(struct http_reply *reply)
{
	free(reply->text);
	reply->text = NULL;
}

bool http_says(uint16_t port, const char *path, int code, const char *text)
{
	struct http_reply reply;
	bool is_so;

	http_get(port, path, &reply);
	is_so = reply.code == code && strstr(reply.body, text) != NULL;
	http_reply_free(&reply);
	return is_so;
}

int http_code(uint16_t port, const char *path)
{
	struct http_reply reply;

	http_get(port, path, &reply);
	http_reply_free(&reply);
	return reply.code;
}
