/*
 * Files of a folder, read in a thread: a disk may block, and the loop may not.
 *
 *     1 GET      from a client: the name of a file
 *     2 CONTENT  the reply: what is in it
 *     3 FAILED   the reply: why there is none
 *
 * Replies come in the order of the requests, for the connection's id is the key of
 * its jobs; those of other connections are read beside.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <runnel/module.h>

enum { GET = 1, CONTENT, FAILED };

/* One request. It belongs to the loop, then to the thread, then to the loop again. */
struct request {
	const char *folder;
	size_t max_bytes;
	int error; /* an errno; 0: content is there */
	char *content;
	size_t len;
	char name[NAME_MAX + 1];
};

static const char *folder;
static size_t max_bytes;

/* Read it to its end. Returns an errno. */
static int read_all(int fd, struct request *request)
{
	request->content = malloc(request->max_bytes + 1);
	if (request->content == NULL)
		return ENOMEM;
	for (;;) {
		ssize_t n = read(
		    fd, request->content + request->len, request->max_bytes + 1 - request->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : 0;
		request->len += (size_t)n;
		if (request->len > request->max_bytes)
			return EFBIG;
	}
}

/* In a thread: no rnl_*() here, and nothing but the request is touched. */
static void work(void *arg)
{
	struct request *request = arg;
	char path[PATH_MAX];
	int fd;

	if (snprintf(path, sizeof(path), "%s/%s", request->folder, request->name) >=
	    (int)sizeof(path)) {
		request->error = ENAMETOOLONG;
		return;
	}
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		request->error = errno;
		return;
	}
	request->error = read_all(fd, request);
	close(fd);
}

/* On the loop. conn is NULL when the client has gone meanwhile. */
static void done(struct rnl_conn *conn, void *arg)
{
	struct request *request = arg;
	const char *why = strerror(request->error);
	enum rnl_status status = RNL_OK;

	if (conn != NULL && request->error == 0)
		status = rnl_send(conn, CONTENT, request->content, request->len);
	else if (conn != NULL)
		status = rnl_send(conn, FAILED, why, strlen(why));
	/* A client that does not read its replies would miss one. */
	if (status != RNL_OK && status != RNL_ECLOSED)
		rnl_abort(conn);
	free(request->content);
	free(request);
}

static enum rnl_verdict on_get(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct request *request;

	(void)arg;
	/* No way out of the folder: not by a slash, nor by a name that begins with a dot. */
	if (msg->len == 0 || msg->len > NAME_MAX || memchr(msg->payload, '/', msg->len) ||
	    memchr(msg->payload, '\0', msg->len) || *(const char *)msg->payload == '.')
		return rnl_malformed(conn, msg, "not a file's name");
	request = calloc(1, sizeof(*request));
	if (request == NULL)
		return RNL_ABORT;
	request->folder = folder;
	request->max_bytes = max_bytes;
	memcpy(request->name, msg->payload, msg->len);
	if (rnl_work(conn, rnl_conn_id(conn), work, done, request) == RNL_OK)
		return RNL_DONE;
	free(request);
	rnl_send(conn, FAILED, "busy", 4);
	return RNL_DONE;
}

static int configure(struct rnl_setup *setup)
{
	folder = rnl_option_string(setup, "folder");
	max_bytes = (size_t)rnl_option_number(setup, "max-bytes");
	if (folder[0] != '/')
		return rnl_refuse(setup, "folder = \"%s\" is no absolute path", folder);
	return 0;
}

static const struct rnl_option options[] = {
	{ "folder", RNL_STRING, NULL, 0, 0, "where the files are" },
	{ "max-bytes", RNL_SIZE, "64k", 1, 16 << 20, "the longest file that is sent" },
};

static const struct rnl_route routes[] = { RNL_ON(GET, on_get) };

RNL_MODULE(.version = "1.0", .options = options, .n_options = 2, .routes = routes,
    .n_routes = 1, .configure = configure);
