/*
 * A chat room. Who has told a name hears what the others say, and is heard by
 * them. The room is one worker's: with `workers = 1` it is everybody's.
 *
 *     1 JOIN   from a client: its name
 *     2 SAY    from a member: a text
 *     3 HEARD  to all members: "name: text"
 *     4 NEWS   to all members: "name joins", "name leaves"
 *     5 WHO    from a member; the reply: the names, one a line
 *
 * runnelctl metrics tells how many members there are, and how much they say.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <runnel/module.h>

enum { JOIN = 1, SAY, HEARD, NEWS, WHO };

#define MAX_NAME 32
#define MAX_TEXT 1024

/* What a member's connection has as its data; NULL: it has not joined. */
struct member {
	size_t len;
	char name[MAX_NAME];
};

static struct rnl_gauge *members;
static struct rnl_counter *texts;

static void pass_on(struct rnl_conn *conn, void *shared)
{
	/* A member whose queue is full misses it: here that does no harm. */
	if (rnl_data(conn) != NULL)
		rnl_send_shared(conn, shared);
}

/* One copy of the message for all members; their queues hold references. */
static void tell_all(uint32_t id, const char *text, size_t len)
{
	struct rnl_shared *shared = rnl_shared_new(id, text, len);

	if (shared == NULL)
		return;
	rnl_each(pass_on, shared);
	rnl_shared_free(shared);
}

static void tell_news(const struct member *member, const char *what)
{
	char text[MAX_NAME + 16];
	int len = snprintf(text, sizeof(text), "%.*s %s", (int)member->len, member->name, what);

	tell_all(NEWS, text, (size_t)len);
}

static enum rnl_verdict on_join(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct member *member;

	(void)arg;
	if (msg->len == 0 || msg->len > MAX_NAME)
		return rnl_malformed(conn, msg, "a name has 1 to 32 bytes");
	if (rnl_data(conn) != NULL)
		return rnl_malformed(conn, msg, "it has joined already");
	member = malloc(sizeof(*member));
	if (member == NULL)
		return RNL_ABORT;
	member->len = msg->len;
	memcpy(member->name, msg->payload, msg->len);
	rnl_set_data(conn, member);
	rnl_gauge_add(members, 1);
	tell_news(member, "joins");
	return RNL_DONE;
}

/* Before the handlers of what members may do. */
static enum rnl_verdict check_member(
    struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	(void)arg;
	if (rnl_data(conn) != NULL)
		return RNL_NEXT;
	rnl_malformed(conn, msg, "it has not joined");
	return RNL_CLOSE;
}

static enum rnl_verdict on_say(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	const struct member *member = rnl_data(conn);
	char text[MAX_NAME + 2 + MAX_TEXT];

	(void)arg;
	if (msg->len > MAX_TEXT)
		return rnl_malformed(conn, msg, "a text has at most 1024 bytes");
	memcpy(text, member->name, member->len);
	memcpy(text + member->len, ": ", 2);
	memcpy(text + member->len + 2, msg->payload, msg->len);
	tell_all(HEARD, text, member->len + 2 + msg->len);
	rnl_counter_add(texts, 1);
	return RNL_DONE;
}

/* The names so far. A list that has no room for the next one ends there. */
struct list {
	size_t len;
	char text[4096];
};

static void add_name(struct rnl_conn *conn, void *arg)
{
	const struct member *member = rnl_data(conn);
	struct list *list = arg;

	if (member == NULL || list->len + member->len + 1 > sizeof(list->text))
		return;
	memcpy(list->text + list->len, member->name, member->len);
	list->len += member->len;
	list->text[list->len++] = '\n';
}

static enum rnl_verdict on_who(struct rnl_conn *conn, const struct rnl_msg *msg, void *arg)
{
	struct list list = { 0 };

	(void)arg;
	rnl_each(add_name, &list);
	rnl_send(conn, msg->id, list.text, list.len);
	return RNL_DONE;
}

static void leave(struct rnl_conn *conn)
{
	struct member *member = rnl_data(conn);

	if (member == NULL)
		return;
	rnl_set_data(conn, NULL);
	rnl_gauge_add(members, -1);
	tell_news(member, "leaves");
	free(member);
}

static int configure(struct rnl_setup *setup)
{
	if (rnl_add_gauge(setup, "members", "who has joined and not left", &members) !=
		RNL_OK ||
	    rnl_add_counter(setup, "texts_total", "texts that members said", &texts) != RNL_OK)
		return rnl_refuse(setup, "no place for its metrics");
	return 0;
}

static const struct rnl_route routes[] = {
	RNL_ON(JOIN, on_join),
	{ SAY, SAY, check_member, NULL, RNL_BEFORE },
	RNL_ON(SAY, on_say),
	{ WHO, WHO, check_member, NULL, RNL_BEFORE },
	RNL_ON(WHO, on_who),
};

RNL_MODULE(.version = "1.0", .routes = routes, .n_routes = 5, .configure = configure,
    .close = leave);
