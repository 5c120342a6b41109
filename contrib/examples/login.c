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
 * Heartbeats are the listener's, see login.conf; the names are this module's.
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

static enum rnl_verdict on_login(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct session *session;
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
	session = malloc(sizeof(*session));
	if (session == NULL)
		return RNL_ABORT;
	session->len = parts.word_len;
	memcpy(session->name, parts.word, parts.word_len);
	rnl_set_data(conn, session);
	if (rnl_bind_here(conn, session->name, session->len, &former) != RNL_OK)
		return RNL_ABORT;
	if (former != NULL) {
		rnl_send(former, REPLACED, NULL, 0);
		rnl_close(former);
	}
	rnl_send(conn, WELCOME, session->name, session->len);
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
    .n_routes = 3, .configure = configure, .silent = on_silence, .free_data = free);
