/*
 * libmicrohttpd reads requests and writes replies, in its mode without threads: its epoll set is
 * watched together with the socket to the master. A request that needs an answer of the master
 * is suspended, on a list, until there is one.
 *
 * The listening socket is the master's, and may be that of another process like this one: it is
 * never shut down, only closed.
 */
#include "config.h"

#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/list.h"
#include "base/memory.h"

#include "http/embedded.h"
#include "http/health.h"
#include "http/host.h"
#include "http/inquiry.h"
#include "http/reply.h"
#include "http/server.h"
#include "http/visitors.h"

/* A connection has a descriptor, and the bytes of its request, with the header of the reply. */
#define MAX_CONNECTIONS 1024u
#define OTHER_DESCRIPTORS 32u
#define CONNECTION_BYTES ((size_t)16 * 1024)

/* From when it is to end: for requests that have come, or are on their way. */
#define END_MS 1000
#define END_TICK_MS 10

enum route { ROUTE_METRICS, ROUTE_STATUS, ROUTE_HEALTH, ROUTE_FILE, ROUTE_NONE };
#define N_ANSWERS ROUTE_FILE

static const struct {
	const char *path;
	enum inquiry inquiry;
} answers[N_ANSWERS] = {
	[ROUTE_METRICS] = { "/metrics", INQUIRY_METRICS },
	[ROUTE_STATUS] = { "/status.json", INQUIRY_STATUS },
	[ROUTE_HEALTH] = { "/healthz", INQUIRY_STATUS },
};

enum refusal { REFUSE_METHOD, REFUSE_HOST, REFUSE_NO_HOST, REFUSE_TWO_HOSTS, REFUSE_PATH };
#define N_REFUSALS 5

struct server {
	struct server_config config;
	struct MHD_Daemon *daemon;
	int epoll;
	struct inquiries *inquiries;
	struct visitors visitors;
	struct link waiting[INQUIRY_N];
	struct reply replies[N_ANSWERS]; /* of the last answers */
	struct reply no_answer[INQUIRY_N];
	struct reply refusals[N_REFUSALS];
	struct reply *files; /* one for each of embedded_files */
	size_t n_requests;
	bool is_orphan;  /* the master is gone */
	uint64_t end_ms; /* it ends then, at the latest; 0: it serves */
};

/* A request whose header has been read. */
struct request {
	struct link link; /* server.waiting */
	struct server *server;
	struct MHD_Connection *connection;
	const struct reply *reply; /* NULL: not known yet */
	enum route route;
};

static const struct reply *find_file(const struct server *server, const char *path)
{
	const char *name = strcmp(path, "/") == 0 ? "page.html" : path + 1;

	for (size_t i = 0; path[0] == '/' && i < n_embedded_files; i++) {
		if (strcmp(embedded_files[i].name, name) == 0)
			return &server->files[i];
	}
	return NULL;
}

static enum route find_route(const char *path)
{
	for (enum route route = 0; route < N_ANSWERS; route++) {
		if (strcmp(answers[route].path, path) == 0)
			return route;
	}
	return ROUTE_NONE;
}

/* The Host fields of a request. */
struct hosts {
	const char *value; /* of the last; has no end of its own */
	size_t len;
	unsigned int n;
};

static enum MHD_Result on_field(void *arg, enum MHD_ValueKind kind, const char *name,
    size_t name_len, const char *value, size_t len)
{
	struct hosts *hosts = arg;

	(void)kind;
	if (name_len != strlen(MHD_HTTP_HEADER_HOST) ||
	    strcasecmp(name, MHD_HTTP_HEADER_HOST) != 0)
		return MHD_YES;
	hosts->value = value != NULL ? value : "";
	hosts->len = len;
	hosts->n++;
	return MHD_YES;
}

/* Why the request is not answered; NULL: it is. */
static const struct reply *objection(const struct server *server,
    struct MHD_Connection *connection, const char *target, const char *method,
    const char *version)
{
	struct hosts hosts = { NULL, 0, 0 };
	const char *host;

	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return &server->refusals[REFUSE_METHOD];
	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, on_field, &hosts);
	if (hosts.n > 1)
		return &server->refusals[REFUSE_TWO_HOSTS];
	if (hosts.n == 0 && strcmp(version, "HTTP/1.0") != 0)
		return &server->refusals[REFUSE_NO_HOST];
	host = host_of_target(target, &hosts.len);
	if (host == NULL)
		host = hosts.value;
	if (host != NULL &&
	    !host_is_accepted(host, hosts.len, server->config.hosts, server->config.n_hosts))
		return &server->refusals[REFUSE_HOST];
	return NULL;
}

static const char *path_of(const char *target)
{
	size_t len;
	const char *host = host_of_target(target, &len);

	if (host == NULL)
		return target;
	return host[len] != '\0' ? host + len : "/";
}

static void request_begin(
    struct server *server, struct MHD_Connection *connection, const char *path, void **state)
{
	struct request *request = must_alloc(1, sizeof(*request));

	list_init(&request->link);
	request->server = server;
	request->connection = connection;
	request->route = find_route(path);
	if (request->route == ROUTE_NONE) {
		request->reply = find_file(server, path);
		if (request->reply == NULL)
			request->reply = &server->refusals[REFUSE_PATH];
	}
	server->n_requests++;
	*state = request;
}

static void suspend(struct server *server, struct request *request, enum inquiry inquiry)
{
	list_append(&server->waiting[inquiry], &request->link);
	MHD_suspend_connection(request->connection);
}

/* From the last answer, if it is fresh, or from the next one. */
static enum MHD_Result answer(struct server *server, struct request *request)
{
	enum inquiry inquiry = answers[request->route].inquiry;

	if (!server->is_orphan && inquiry_is_fresh(server->inquiries, inquiry))
		return reply_send(&server->replies[request->route], request->connection);
	if (server->is_orphan || !inquiry_ask(server->inquiries, inquiry))
		return reply_send(&server->no_answer[inquiry], request->connection);
	suspend(server, request, inquiry);
	return MHD_YES;
}

/* Called when the header has been read, then when all has, and again after a suspension. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection,
    const char *target, const char *method, const char *version, const char *body,
    size_t *body_len, void **state)
{
	struct server *server = arg;
	struct request *request = *state;
	const struct reply *refusal;

	(void)body;
	if (request == NULL) {
		refusal = objection(server, connection, target, method, version);
		if (refusal != NULL)
			return reply_send(refusal, connection);
		request_begin(server, connection, path_of(target), state);
		return MHD_YES;
	}
	/* Nobody asks with a body: the connection is closed. */
	if (*body_len > 0)
		return MHD_NO;
	if (request->reply != NULL)
		return reply_send(request->reply, connection);
	return answer(server, request);
}

/* Our paths need no escapes, and a NUL would end another path early. */
static size_t leave_escapes(void *arg, struct MHD_Connection *connection, char *text)
{
	(void)arg;
	(void)connection;
	return strlen(text);
}

/* Those that wait have their reply; they are told so when this returns to the loop. */
static void release(struct server *server, enum inquiry inquiry, bool is_answered)
{
	struct link *link;

	while ((link = list_shift(&server->waiting[inquiry])) != NULL) {
		struct request *request = container_of(link, struct request, link);

		request->reply = is_answered ? &server->replies[request->route]
					     : &server->no_answer[inquiry];
		MHD_resume_connection(request->connection);
	}
}

static void set_status(struct server *server, const json_t *status)
{
	char *text = json_dumps(status, JSON_COMPACT);
	struct reason why;

	if (text != NULL)
		reply_set(&server->replies[ROUTE_STATUS], MHD_HTTP_OK, REPLY_JSON, text,
		    strlen(text));
	else
		reply_clear(&server->replies[ROUTE_STATUS]);
	free(text);
	if (health_judge(status, &why) == STATUS_OK)
		reply_set_text(&server->replies[ROUTE_HEALTH], MHD_HTTP_OK, "ok");
	else
		reply_set_text(
		    &server->replies[ROUTE_HEALTH], MHD_HTTP_SERVICE_UNAVAILABLE, why.text);
}

static void set_metrics(struct server *server, const json_t *metrics)
{
	const json_t *text = json_object_get(metrics, "text");

	reply_set(&server->replies[ROUTE_METRICS], MHD_HTTP_OK, REPLY_METRICS,
	    json_string_value(text), json_string_length(text));
}

static void on_answer(enum inquiry kind, const json_t *reply, const char *error, void *arg)
{
	struct server *server = arg;

	if (reply != NULL && kind == INQUIRY_STATUS)
		set_status(server, reply);
	else if (reply != NULL)
		set_metrics(server, reply);
	else
		reply_set_text(&server->no_answer[kind], MHD_HTTP_SERVICE_UNAVAILABLE,
		    error != NULL ? error : "the master does not answer");
	release(server, kind, reply != NULL);
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **visitor,
    enum MHD_ConnectionNotificationCode code)
{
	struct server *server = arg;
	const union MHD_ConnectionInfo *info;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		visitor_destroy((struct visitor **)visitor);
		return;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	*visitor = visitor_new(&server->visitors, info->connect_fd);
	/* Without one it would have no end. */
	if (*visitor == NULL)
		shutdown(info->connect_fd, SHUT_RDWR);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **state,
    enum MHD_RequestTerminationCode code)
{
	struct server *server = arg;
	struct request *request = *state;
	const union MHD_ConnectionInfo *info =
	    MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	(void)code;
	if (info->socket_context != NULL)
		visitor_renew(info->socket_context);
	if (request == NULL)
		return;
	list_remove(&request->link);
	server->n_requests--;
	free(request);
	*state = NULL;
}

/* What never changes. */
static void set_replies(struct server *server)
{
	static const char *const types[][2] = {
		{ ".html", "text/html; charset=utf-8" },
		{ ".css", "text/css; charset=utf-8" },
		{ ".js", "text/javascript; charset=utf-8" },
	};

	reply_set_text(&server->refusals[REFUSE_METHOD], MHD_HTTP_METHOD_NOT_ALLOWED,
	    "only GET and HEAD are served");
	reply_add_field(&server->refusals[REFUSE_METHOD], MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	reply_set_text(&server->refusals[REFUSE_HOST], MHD_HTTP_MISDIRECTED_REQUEST,
	    "this host name is not served: it has to stand in metrics-hosts of runnel.conf");
	reply_set_text(
	    &server->refusals[REFUSE_NO_HOST], MHD_HTTP_BAD_REQUEST, "there is no Host field");
	reply_set_text(&server->refusals[REFUSE_TWO_HOSTS], MHD_HTTP_BAD_REQUEST,
	    "there is more than one Host field");
	reply_set_text(&server->refusals[REFUSE_PATH], MHD_HTTP_NOT_FOUND,
	    "there is /, /metrics, /healthz and /status.json");
	for (size_t i = 0; i < INQUIRY_N; i++)
		reply_set_text(&server->no_answer[i], MHD_HTTP_SERVICE_UNAVAILABLE,
		    "the master does not answer");
	server->files = must_alloc(n_embedded_files, sizeof(*server->files));
	for (size_t i = 0; i < n_embedded_files; i++) {
		const struct embedded_file *file = &embedded_files[i];
		const char *type = "application/octet-stream";

		for (size_t j = 0; j < sizeof(types) / sizeof(types[0]); j++) {
			if (strcmp(strrchr(file->name, '.'), types[j][0]) == 0)
				type = types[j][1];
		}
		reply_set(&server->files[i], MHD_HTTP_OK, type, file->bytes, file->len);
	}
}

/* What the limit of descriptors leaves for connections. */
static unsigned int max_connections(void)
{
	struct rlimit nofile = { .rlim_cur = 1024 };

	getrlimit(RLIMIT_NOFILE, &nofile);
	if (nofile.rlim_cur >= MAX_CONNECTIONS + OTHER_DESCRIPTORS)
		return MAX_CONNECTIONS;
	return nofile.rlim_cur > 2 * OTHER_DESCRIPTORS
		   ? (unsigned int)nofile.rlim_cur - OTHER_DESCRIPTORS
		   : OTHER_DESCRIPTORS;
}

static enum status start(struct server *server, struct reason *why)
{
	const union MHD_DaemonInfo *info;

	server->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME, 0, NULL,
	    NULL, on_request, server, MHD_OPTION_LISTEN_SOCKET, server->config.listener,
	    MHD_OPTION_UNESCAPE_CALLBACK, leave_escapes, NULL, MHD_OPTION_CONNECTION_LIMIT,
	    max_connections(), MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES,
	    MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_NOTIFY_COMPLETED,
	    on_completed, server, MHD_OPTION_END);
	if (server->daemon == NULL)
		return reason_set(why, "libmicrohttpd does not start: %s", strerror(errno));
	info = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	server->epoll = info->epoll_fd;
	return STATUS_OK;
}

enum status server_new(
    const struct server_config *config, struct server **result, struct reason *why)
{
	struct server *server = must_alloc(1, sizeof(*server));

	server->config = *config;
	visitors_init(&server->visitors);
	for (size_t i = 0; i < INQUIRY_N; i++)
		list_init(&server->waiting[i]);
	server->inquiries = inquiries_new(config->master, on_answer, server);
	set_replies(server);
	if (start(server, why) != STATUS_OK) {
		server_destroy(&server);
		return STATUS_INVALID;
	}
	*result = server;
	return STATUS_OK;
}

static int shorter(int a_ms, int b_ms)
{
	return b_ms >= 0 && (a_ms < 0 || b_ms < a_ms) ? b_ms : a_ms;
}

static int timeout_of(const struct server *server)
{
	int timeout_ms = visitors_timeout_ms(&server->visitors);
	MHD_UNSIGNED_LONG_LONG asked_ms;

	if (MHD_get_timeout(server->daemon, &asked_ms) == MHD_YES)
		timeout_ms = shorter(timeout_ms, asked_ms < END_MS ? (int)asked_ms : END_MS);
	if (server->end_ms != 0)
		timeout_ms = shorter(timeout_ms, END_TICK_MS);
	if (server->is_orphan)
		return timeout_ms;
	return shorter(timeout_ms, inquiries_timeout_ms(server->inquiries));
}

/* Take no more connections, and answer those that are there. */
static void begin_end(struct server *server)
{
	int listener;

	if (server->end_ms != 0)
		return;
	server->end_ms = clock_ms() + END_MS;
	listener = MHD_quiesce_daemon(server->daemon);
	if (listener >= 0)
		close(listener);
}

/* The master is gone. */
static void be_orphan(struct server *server)
{
	server->is_orphan = true;
	for (enum inquiry kind = 0; kind < INQUIRY_N; kind++)
		on_answer(kind, NULL, "shutting down", server);
	begin_end(server);
}

static bool is_over(const struct server *server)
{
	if (server->end_ms == 0)
		return false;
	return (server->n_requests == 0 && server->visitors.n_new == 0) ||
	       clock_ms() >= server->end_ms;
}

bool server_turn(struct server *server)
{
	struct pollfd fds[] = {
		{ .fd = server->is_orphan ? -1 : server->config.master, .events = POLLIN },
		{ .fd = server->end_ms != 0 ? -1 : server->config.life, .events = POLLIN },
		{ .fd = server->epoll, .events = POLLIN },
	};

	poll(fds, 3, timeout_of(server));
	if (fds[0].revents != 0 && !inquiries_read(server->inquiries))
		be_orphan(server);
	if (fds[1].revents != 0)
		begin_end(server);
	if (!server->is_orphan)
		inquiries_tick(server->inquiries);
	visitors_tick(&server->visitors);
	MHD_run(server->daemon);
	return !is_over(server);
}

void server_destroy(struct server **serverp)
{
	struct server *server = *serverp;

	if (server->daemon != NULL)
		MHD_stop_daemon(server->daemon);
	inquiries_destroy(&server->inquiries);
	for (size_t i = 0; i < N_ANSWERS; i++)
		reply_clear(&server->replies[i]);
	for (size_t i = 0; i < INQUIRY_N; i++)
		reply_clear(&server->no_answer[i]);
	for (size_t i = 0; i < N_REFUSALS; i++)
		reply_clear(&server->refusals[i]);
	for (size_t i = 0; i < n_embedded_files; i++)
		reply_clear(&server->files[i]);
	free(server->files);
	free(server);
	*serverp = NULL;
}
