/*
 * Who has not logged in can do nothing but that; who logs in a second time takes
 * the first one's place; who is silent for too long is gone.
 *
 *     1 LOGIN    from a client: "name password"
 *     2 WELCOME  the reply: the name
 *     3 SEND     from a client: "name text"
 *     4 TEXT     to the client of that name: "name text", the sender's
 *     5 NOBODY   the reply when there is none of that name
 *     6 REPLACED the last message to one whose place is taken
 *     99999      a heartbeat, to the client and from it
 *
 * Heartbeats are the listener's, see login.conf; the names are this module's. Who has logged in
 * stays so over a reload.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <runnel/module.h>

enum { LOGIN = 1, WELCOME, SEND, TEXT, NOBODY, REPLACED };

#define MAX_NAME 32
#define MAX_TEXT 1024

/* A connection's data; NULL: it has not logged in. */
struct session {
	size_t len;
	char name[MAX_NAME];
};

static const char *password;

/* "word rest" as it came: no end is marked. rest may be empty. */
struct parts {
	const char *word, *rest;
	size_t word_len, rest_len;
};

static int split(const struct rnl_msg *msg, struct parts *parts)
{
	const char *text = msg->payload;
	const char *space = memchr(text, ' ', msg->len);

	if (space == NULL || space == text || space - text > MAX_NAME)
		return -1;
	parts->word = text;
	parts->word_len = (size_t)(space - text);
	parts->rest = space + 1;
	parts->rest_len = msg->len - parts->word_len - 1;
	return 0;
}

/* Before every other handler. */
static enum rnl_verdict check(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	if (msg->id == LOGIN || rnl_data(conn) != NULL)
		return RNL_NEXT;
	rnl_log(RNL_LOG_INFO, "%s: message before login", rnl_conn_peer(conn));
	return RNL_CLOSE;
}

/* The name leads to conn from now on. */
static int enter(struct rnl_conn *conn, const char *name, size_t len, struct rnl_conn **former)
{
	struct session *session = malloc(sizeof(*session));

	if (session == NULL)
		return -1;
	session->len = len;
	memcpy(session->name, name, len);
	rnl_set_data(conn, session);
	return rnl_bind_here(conn, name, len, former) == RNL_OK ? 0 : -1;
}

static void replace(struct rnl_conn *conn)
{
	rnl_send(conn, REPLACED, NULL, 0);
	rnl_close(conn);
}

static enum rnl_verdict on_login(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct rnl_conn *former;
	struct parts parts;

	(void)arg;
	if (split(msg, &parts) != 0 || rnl_data(conn) != NULL)
		return rnl_malformed(conn, msg, "not \"name password\", or logged in already");
	if (parts.rest_len != strlen(password) ||
	    memcmp(parts.rest, password, parts.rest_len) != 0) {
		rnl_log(RNL_LOG_INFO, "%s: wrong password", rnl_conn_peer(conn));
		return RNL_CLOSE;
	}
	if (enter(conn, parts.word, parts.word_len, &former) != 0)
		return RNL_ABORT;
	if (former != NULL)
		replace(former);
	rnl_send(conn, WELCOME, parts.word, parts.word_len);
	return RNL_DONE;
}

static enum rnl_verdict on_send(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const struct session *session = rnl_data(conn);
	char text[MAX_NAME + 1 + MAX_TEXT];
	struct parts parts;

	(void)arg;
	if (split(msg, &parts) != 0 || parts.rest_len > MAX_TEXT)
		return rnl_malformed(conn, msg, "not \"name text\"");
	memcpy(text, session->name, session->len);
	text[session->len] = ' ';
	memcpy(text + session->len + 1, parts.rest, parts.rest_len);
	if (rnl_send_here(parts.word, parts.word_len, TEXT, text,
		session->len + 1 + parts.rest_len) == RNL_ENOCONN)
		rnl_send(conn, NOBODY, parts.word, parts.word_len);
	return RNL_DONE;
}

/* RNL_NEXT: the daemon closes it. */
static enum rnl_verdict on_silence(struct rnl_conn *conn, uint32_t silent_ms)
{
	rnl_log(RNL_LOG_INFO, "%s: nothing came for %u ms", rnl_conn_peer(conn),
	    (unsigned int)silent_ms);
	return RNL_NEXT;
}

/* The name, or nothing before the login. */
static ptrdiff_t save(struct rnl_conn *conn, void *state, size_t size)
{
	const struct session *session = rnl_data(conn);

	if (session == NULL)
		return 0;
	if (session->len > size)
		return -1;
	memcpy(state, session->name, session->len);
	return (ptrdiff_t)session->len;
}

/*
 * While conn was held up in the earlier worker, somebody may have logged in here by its name. That
 * is the later login, and keeps the place.
 */
static int restore(struct rnl_conn *conn, const void *state, size_t len)
{
	if (len == 0)
		return 0;
	if (len > MAX_NAME)
		return -1;
	if (rnl_find_here(state, len) == NULL)
		return enter(conn, state, len, NULL);
	replace(conn);
	return 0;
}

static int configure(struct rnl_setup *setup)
{
	password = rnl_option_string(setup, "password");
	return 0;
}

static const struct rnl_option options[] = {
	{ "password", RNL_STRING, NULL, 0, 0, "what a login has to know" },
};

static const struct rnl_route routes[] = {
	{ 0, UINT32_MAX, check, NULL, RNL_BEFORE },
	RNL_ON(LOGIN, on_login),
	RNL_ON(SEND, on_send),
};

RNL_MODULE(.version = "1.0", .options = options, .n_options = 1, .routes = routes,
    .n_routes = 3, .configure = configure, .silent = on_silence, .free_data = free,
    .save = save, .restore = restore);
