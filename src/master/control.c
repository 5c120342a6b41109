#include "config.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/panic.h"
#include "base/units.h"
#include "master/answer.h"
#include "master/control.h"
#include "master/control_client.h"
#include "master/control_socket.h"
#include "master/dismissals.h"
#include "master/request.h"

#define SESSION_MAGIC 0x5e551027u
#define REQUEST_MAGIC 0x4e9e5727u

/* Those who may only read cannot keep out those who may do all. */
#define MAX_CLIENTS 32u
#define MAX_READERS 24u

/* The clients of call.h, and runnel-http, take as much as the second. */
#define MAX_ANSWER_BYTES (4u * 1024u * 1024u)
#define MAX_LONG_ANSWER_BYTES (16u * 1024u * 1024u)
#define IDLE_S 30.

/* What a log line shows of the arguments of a request. */
#define ARGUMENTS_SIZE 160

/* Clients taken in one turn of the loop, and the pause when there are no descriptors. */
#define ACCEPT_BUDGET 16
#define ACCEPT_PAUSE_S 1.

struct control {
	struct control_config config;
	struct control_socket socket;
	gid_t group;
	ev_io io;
	ev_timer pause;
	struct link sessions;
	unsigned int n_sessions, n_readers;
	struct dismissals dismissals;
	struct link requests; /* all that are not answered */
	struct log_cap refused_cap, failed_cap, denied_cap;
};

/* A client and its request, if it has one that is not answered. */
struct control_session {
	uint32_t magic;
	struct link link;
	struct control *control;
	struct control_client *client;
	struct control_peer peer;
	struct control_request *request;
	void (*on_end)(void *arg); /* NULL: nobody wants to know; likewise arg */
	void *arg;
};

struct control_request {
	uint32_t magic;
	struct link link;
	struct control_session *session; /* NULL: the client is gone */
	const struct control_verb *verb;
	json_t *object;
	bool is_for_end; /* it is answered by the end of the daemon */
};

static void session_destroy(struct control_session *session)
{
	struct control *control = session->control;

	CHECK_MAGIC(session, SESSION_MAGIC);
	if (session->request != NULL)
		session->request->session = NULL;
	list_remove(&session->link);
	control->n_sessions--;
	control->n_readers -= session->peer.access == CONTROL_READ;
	control_client_destroy(&session->client);
	session->magic = 0;
	free(session);
}

static void on_client_end(struct control_client *client, void *arg)
{
	struct control_session *session = arg;
	void (*on_end)(void *arg) = session->on_end;
	void *end_arg = session->arg;

	(void)client;
	session_destroy(session);
	if (on_end != NULL)
		on_end(end_arg);
}

/* Takes the answer. */
static void send_answer(struct control_session *session, json_t *answer, size_t max_bytes)
{
	char size[UNITS_TEXT_SIZE], text[80], *line;
	size_t len = 0;

	line = answer_to_line(answer, &len);
	if (len > max_bytes) {
		free(line);
		snprintf(text, sizeof(text), "the answer is longer than %s; ask for less",
		    units_format_size((int64_t)max_bytes, size));
		line = answer_to_line(answer_failure(text), &len);
	}
	control_client_answer(session->client, line, len);
}

static void finish(struct control_request *request, json_t *answer, size_t max_bytes)
{
	struct control_session *session = request->session;

	CHECK_MAGIC(request, REQUEST_MAGIC);
	list_remove(&request->link);
	json_decref(request->object);
	request->magic = 0;
	free(request);
	if (session == NULL) {
		json_decref(answer);
		return;
	}
	session->request = NULL;
	send_answer(session, answer, max_bytes);
}

void control_answer(struct control_request *request, json_t *object)
{
	finish(request, answer_success(object), MAX_ANSWER_BYTES);
}

void control_answer_long(struct control_request *request, json_t *object)
{
	finish(request, answer_success(object), MAX_LONG_ANSWER_BYTES);
}

void control_fail(struct control_request *request, const char *fmt, ...)
{
	char text[1024];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	finish(request, answer_failure(text), MAX_ANSWER_BYTES);
}

void control_answer_at_end(struct control_request *request)
{
	CHECK_MAGIC(request, REQUEST_MAGIC);
	request->is_for_end = true;
}

const char *control_request_verb(const struct control_request *request)
{
	CHECK_MAGIC(request, REQUEST_MAGIC);
	return request->verb->name;
}

bool control_request_is_awaited(const struct control_request *request)
{
	CHECK_MAGIC(request, REQUEST_MAGIC);
	return request->session != NULL;
}

json_t *control_request_object(const struct control_request *request)
{
	CHECK_MAGIC(request, REQUEST_MAGIC);
	return request->object;
}

static json_t *describe(const struct control_verb *verb)
{
	return json_pack("{ss ss ss}", "verb", verb->name, "access",
	    verb->access == CONTROL_READ ? "read" : "full", "text", verb->text);
}

static void help(struct control_request *request, void *arg);

static const struct control_verb help_verb = {
	.name = "help",
	.text = "this list",
	.access = CONTROL_READ,
	.act = help,
};

static void help(struct control_request *request, void *arg)
{
	const struct control_config *config = &request->session->control->config;
	json_t *list = json_array();

	(void)arg;
	for (size_t i = 0; i < config->n_verbs; i++)
		json_array_append_new(list, describe(&config->verbs[i]));
	json_array_append_new(list, describe(&help_verb));
	control_answer(request, json_pack("{so}", "verbs", list));
}

static const struct control_verb *find_verb(const struct control *control, const char *name)
{
	for (size_t i = 0; i < control->config.n_verbs; i++) {
		if (strcmp(control->config.verbs[i].name, name) == 0)
			return &control->config.verbs[i];
	}
	return strcmp(help_verb.name, name) == 0 ? &help_verb : NULL;
}

static void log_denial(const struct control_session *session, const char *verb)
{
	char rest[LOG_REST_SIZE];

	if (log_cap_allows(&session->control->denied_cap, clock_ms(), rest))
		log_warn("control: denied to uid %u, pid %d: %s%s",
		    (unsigned int)session->peer.uid, (int)session->peer.pid, verb, rest);
}

/* May this session ask for it? *verb is what is asked for then. */
static enum status admit(const struct control_session *session, json_t *object,
    const char *name, const struct control_verb **verb, struct reason *why)
{
	*verb = find_verb(session->control, name);
	if (*verb == NULL)
		return reason_set(why,
		    "there is no verb '%.60s'; send {\"verb\": \"help\"} for "
		    "a list of them",
		    name);
	if ((*verb)->access > session->peer.access) {
		log_denial(session, (*verb)->name);
		return reason_set(why,
		    "permission denied: '%s' is for root and the user that runs the master",
		    (*verb)->name);
	}
	return request_check_keys(object, (*verb)->keys, why);
}

/* NULL: out of memory. Takes the object. */
static struct control_request *request_new(
    struct control_session *session, const struct control_verb *verb, json_t *object)
{
	struct control_request *request = calloc(1, sizeof(*request));

	if (request == NULL) {
		json_decref(object);
		return NULL;
	}
	request->magic = REQUEST_MAGIC;
	request->session = session;
	request->verb = verb;
	request->object = object;
	list_append(&session->control->requests, &request->link);
	session->request = request;
	return request;
}

/* " 812", " 'debug'": what a verb is to be done with, in the order of its keys. Returns buf. */
static const char *arguments_of(const struct control_request *request, char buf[ARGUMENTS_SIZE])
{
	const char *const *key = request->verb->keys;
	int len = 0;

	buf[0] = '\0';
	for (; key != NULL && *key != NULL && len < ARGUMENTS_SIZE; key++) {
		const json_t *value = json_object_get(request->object, *key);
		size_t room = (size_t)(ARGUMENTS_SIZE - len);

		if (json_is_integer(value))
			len += snprintf(buf + len, room, " %" JSON_INTEGER_FORMAT,
			    json_integer_value(value));
		else if (json_is_string(value))
			len += snprintf(buf + len, room, " '%.60s'", json_string_value(value));
	}
	return buf;
}

static void log_request(const struct control_request *request)
{
	const struct control_peer *peer = &request->session->peer;
	char arguments[ARGUMENTS_SIZE];

	log_info("control: %s%s, asked for by uid %u, pid %d", request->verb->name,
	    arguments_of(request, arguments), (unsigned int)peer->uid, (int)peer->pid);
}

static void act(
    struct control_session *session, const struct control_verb *verb, json_t *object)
{
	struct control_request *request = request_new(session, verb, object);

	if (request == NULL) {
		send_answer(session, answer_failure("out of memory"), MAX_ANSWER_BYTES);
		return;
	}
	if (verb->access == CONTROL_FULL)
		log_request(request);
	verb->act(request, session->control->config.arg);
}

static void on_line(struct control_client *client, const char *line, size_t len, void *arg)
{
	struct control_session *session = arg;
	const struct control_verb *verb;
	struct reason why = { "" };
	json_t *object;
	const char *name;

	(void)client;
	CHECK_MAGIC(session, SESSION_MAGIC);
	if (line == NULL) {
		reason_set(&why, "the request is longer than %u bytes", REQUEST_MAX_BYTES);
	} else if (request_parse(line, len, &object, &name, &why) == STATUS_OK) {
		if (admit(session, object, name, &verb, &why) == STATUS_OK) {
			act(session, verb, object);
			return;
		}
		json_decref(object);
	}
	send_answer(session, answer_failure(why.text), MAX_ANSWER_BYTES);
}

/* NULL: welcome. */
static const char *objection(struct control *control, int fd, struct control_peer *peer)
{
	char rest[LOG_REST_SIZE];

	if (!control_peer_identify(fd, control->group, peer)) {
		if (log_cap_allows(&control->refused_cap, clock_ms(), rest))
			log_warn("control: uid %u, pid %d refused: neither root nor the user "
				 "of the master, nor in control-group%s",
			    (unsigned int)peer->uid, (int)peer->pid, rest);
		return "permission denied";
	}
	if (control->n_sessions >= MAX_CLIENTS ||
	    (peer->access == CONTROL_READ && control->n_readers >= MAX_READERS))
		return "too many clients; try again later";
	return NULL;
}

/* NULL: out of memory; fd is closed. */
static struct control_session *session_new(
    struct control *control, int fd, const struct control_peer *peer, double idle_s)
{
	struct control_session *session = calloc(1, sizeof(*session));
	const struct control_client_config config = {
		.loop = control->config.loop,
		.max_line = REQUEST_MAX_BYTES,
		.idle_s = idle_s,
		.on_line = on_line,
		.on_end = on_client_end,
		.arg = session,
	};

	if (session == NULL) {
		dismissals_add(&control->dismissals, fd, "out of memory");
		return NULL;
	}
	session->client = control_client_new(fd, &config);
	if (session->client == NULL) {
		free(session);
		return NULL;
	}
	session->magic = SESSION_MAGIC;
	session->control = control;
	session->peer = *peer;
	list_append(&control->sessions, &session->link);
	control->n_sessions++;
	control->n_readers += peer->access == CONTROL_READ;
	return session;
}

static void take(struct control *control, int fd)
{
	struct control_peer peer = { 0 };
	const char *error = objection(control, fd, &peer);

	if (error != NULL)
		dismissals_add(&control->dismissals, fd, error);
	else if (session_new(control, fd, &peer, control->config.idle_s) == NULL)
		log_warn("control: no memory for a client");
}

struct control_session *control_admit(
    struct control *control, int fd, double idle_s, void (*on_end)(void *arg), void *arg)
{
	const struct control_peer peer = { .access = CONTROL_READ };
	struct control_session *session = session_new(control, fd, &peer, idle_s);

	if (session != NULL) {
		session->on_end = on_end;
		session->arg = arg;
	}
	return session;
}

void control_dismiss(struct control_session *session)
{
	session_destroy(session);
}

/* The client waits in the queue meanwhile; the loop would spin about it. */
static void pause_accepting(struct control *control)
{
	char rest[LOG_REST_SIZE];

	if (log_cap_allows(&control->failed_cap, clock_ms(), rest))
		log_warn("control: cannot accept a client: %s%s", strerror(errno), rest);
	ev_io_stop(control->config.loop, &control->io);
	ev_timer_set(&control->pause, ACCEPT_PAUSE_S, 0.);
	ev_timer_start(control->config.loop, &control->pause);
}

static void on_pause_end(struct ev_loop *loop, ev_timer *timer, int revents)
{
	(void)revents;
	ev_io_start(loop, &container_of(timer, struct control, pause)->io);
}

static void on_accept(struct ev_loop *loop, ev_io *io, int revents)
{
	struct control *control = container_of(io, struct control, io);

	(void)loop;
	(void)revents;
	for (int i = 0; i < ACCEPT_BUDGET; i++) {
		int fd = accept4(io->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

		if (fd >= 0) {
			take(control, fd);
		} else if (errno == EAGAIN) {
			break;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			pause_accepting(control);
			break;
		}
	}
}

enum status control_check(const struct settings *settings, struct reason *why)
{
	gid_t group;

	if (settings->control_socket == NULL)
		return STATUS_OK;
	if (control_socket_check(settings->control_socket, why) != STATUS_OK)
		return STATUS_INVALID;
	return control_group_find(settings->control_group, &group, why);
}

enum status control_open(
    const struct control_config *config, struct control **result, struct reason *why)
{
	struct control *control;
	struct control_socket socket = { .fd = -1 };
	gid_t group;

	if (control_group_find(config->group, &group, why) != STATUS_OK ||
	    (config->path != NULL && control_socket_open(&socket, config->path, group,
					 config->is_taking_over, why) != STATUS_OK))
		return STATUS_INVALID;
	control = must_alloc(1, sizeof(*control));
	control->config = *config;
	if (control->config.idle_s <= 0)
		control->config.idle_s = IDLE_S;
	control->socket = socket;
	control->group = group;
	list_init(&control->sessions);
	dismissals_init(&control->dismissals, config->loop, control->config.idle_s);
	list_init(&control->requests);
	ev_init(&control->pause, on_pause_end);
	ev_io_init(&control->io, on_accept, socket.fd, EV_READ);
	if (socket.fd >= 0)
		ev_io_start(config->loop, &control->io);
	*result = control;
	return STATUS_OK;
}

static void stop_watchers(struct control *control)
{
	ev_io_stop(control->config.loop, &control->io);
	ev_timer_stop(control->config.loop, &control->pause);
}

enum status control_reclaim(struct control *control, struct reason *why)
{
	struct control_socket fresh;

	if (control->socket.fd < 0 || control_socket_is_there(&control->socket))
		return STATUS_OK;
	if (control_socket_open(&fresh, control->config.path, control->group, true, why) !=
	    STATUS_OK)
		return STATUS_INVALID;
	stop_watchers(control);
	/* The path is the fresh one's already, so this only closes it. */
	control_socket_remove(&control->socket);
	control->socket = fresh;
	ev_io_set(&control->io, fresh.fd, EV_READ);
	ev_io_start(control->config.loop, &control->io);
	return STATUS_OK;
}

static void drop_clients(struct control *control)
{
	struct link *link, *after;

	list_foreach_safe(link, after, &control->sessions)
		session_destroy(container_of(link, struct control_session, link));
	dismissals_drop(&control->dismissals);
}

void control_forget(struct control *control)
{
	if (control == NULL)
		return;
	stop_watchers(control);
	drop_clients(control);
	if (control->socket.fd >= 0)
		control_socket_forget(&control->socket);
}

static void answer_the_end(struct control *control)
{
	struct link *link, *after;

	list_foreach_safe(link, after, &control->requests) {
		struct control_request *request =
		    container_of(link, struct control_request, link);

		if (request->is_for_end)
			control_answer(request, NULL);
		else
			control_fail(request, "the daemon ends");
	}
}

void control_close(struct control **controlp)
{
	struct control *control = *controlp;

	if (control == NULL)
		return;
	stop_watchers(control);
	if (control->socket.fd >= 0)
		control_socket_remove(&control->socket);
	answer_the_end(control);
	drop_clients(control);
	free(control);
	*controlp = NULL;
}
