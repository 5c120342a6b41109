#include "config.h"

#include <string.h>
#include <unistd.h>

#include "base/panic.h"
#include "conn/moving.h"
#include "conn/parts.h"
#include "conn/tally.h"

/* Changes with struct head, and with what follows it. */
#define MOVING_MAGIC 0x6d6f7634u

/* Then the listener's name, its end, the unread input, and of each module a length and state. */
struct head {
	uint32_t magic;
	uint32_t size; /* of the message */
	uint64_t id;
	/* The monotonic clock is the same in all processes. */
	uint32_t heard_ms, frame_ms, sent_ms, beat_ms, opened_ds;
	uint32_t input_len;
	uint32_t is_in_frame;
	uint32_t has_traffic;
	uint32_t is_tallied;
	struct endpoint peer;
	struct conn_tally tally; /* when is_tallied */
};

struct writer {
	uint8_t *bytes;
	size_t len;
};

struct reader {
	const uint8_t *bytes;
	size_t len;
};

static bool append(char *text, size_t *len, const char *part)
{
	size_t n = strlen(part);

	if (n + 2 > MOVING_OFFER_SIZE - *len)
		return false;
	memcpy(text + *len, part, n);
	memcpy(text + *len + n, "\n", 2);
	*len += n + 1;
	return true;
}

bool moving_describe(const struct listener *listener, char text[MOVING_OFFER_SIZE])
{
	size_t len = 0;

	if (!append(text, &len, listener->name) ||
	    !append(text, &len, listener->framing->name) ||
	    !append(text, &len, listener->framing->terms))
		return false;
	for (size_t i = 0; i < listener->n_modules; i++) {
		const struct listener_module *module = &listener->modules[i];

		if (module->api->save == NULL || module->api->restore == NULL ||
		    !append(text, &len, module->name))
			return false;
	}
	return true;
}

static void put(struct writer *writer, const void *bytes, size_t len)
{
	if (len == 0)
		return;
	memcpy(writer->bytes + writer->len, bytes, len);
	writer->len += len;
}

/* A module that has written so much has broken what stands behind, or has miscounted. */
static void log_overrun(
    struct rnl_conn *conn, const struct listener_module *module, size_t n, size_t size)
{
	char rest[LOG_REST_SIZE];

	if (log_cap_allows(&conn->refusals, conn->table->now_ms, rest))
		log_error("module '%s': its save hook returned %zu, and there is room for %zu "
			  "bytes: the connection does not move%s",
		    module->name, n, size, rest);
}

/* False: the module does not want it to move. */
static bool put_state(
    struct writer *writer, struct rnl_conn *conn, const struct listener_module *module)
{
	uint32_t len;
	size_t size;
	ptrdiff_t n;

	if (MOVING_SIZE - writer->len < sizeof(len))
		return false;
	size = MOVING_SIZE - writer->len - sizeof(len);
	n = module->api->save(conn, writer->bytes + writer->len + sizeof(len), size);
	if (n > 0 && (size_t)n > size)
		log_overrun(conn, module, (size_t)n, size);
	if (n < 0 || (size_t)n > size)
		return false;
	len = (uint32_t)n;
	memcpy(writer->bytes + writer->len, &len, sizeof(len));
	writer->len += sizeof(len) + len;
	return true;
}

size_t moving_pack(struct rnl_conn *conn, uint8_t message[MOVING_SIZE])
{
	const struct listener *listener = conn->listener;
	struct view view = { 0 };
	struct writer writer = { .bytes = message, .len = sizeof(struct head) };
	struct head head = { .magic = MOVING_MAGIC,
		.id = conn_id(conn),
		.heard_ms = conn->heard_ms,
		.frame_ms = conn->frame_ms,
		.sent_ms = conn->sent_ms,
		.beat_ms = conn->beat_ms,
		.opened_ds = conn->opened_ds,
		.is_in_frame = conn->is_in_frame,
		.has_traffic = conn->has_traffic,
		.is_tallied = conn->is_tallied,
		.peer = conn->peer };
	size_t name_size, n_saved = 0;

	if (conn->is_tallied)
		head.tally = *conn_tally(conn);
	if (!input_is_empty(&conn->in))
		view = input_view(&conn->in);
	name_size = strlen(listener->name) + 1;
	if (name_size > MOVING_SIZE - sizeof(head) ||
	    view.len > MOVING_SIZE - sizeof(head) - name_size)
		return 0;
	head.input_len = (uint32_t)view.len;
	put(&writer, listener->name, name_size);
	put(&writer, view.bytes, view.len);
	for (size_t i = 0; i < listener->n_modules; i++) {
		const struct listener_module *module = &listener->modules[i];

		conn_do(conn, DOING_MOVING, module->index);
		if (!put_state(&writer, conn, module))
			break;
		n_saved++;
	}
	conn_do(conn, DOING_NOTHING, 0);
	if (n_saved < listener->n_modules)
		return 0;
	head.size = (uint32_t)writer.len;
	memcpy(message, &head, sizeof(head));
	return writer.len;
}

static const void *take(struct reader *reader, size_t len)
{
	const uint8_t *bytes = reader->bytes;

	if (len > reader->len)
		return NULL;
	reader->bytes += len;
	reader->len -= len;
	return bytes;
}

static const struct listener *take_listener(
    struct reader *reader, const struct listener listeners[], size_t n_listeners)
{
	const char *name = (const char *)reader->bytes;
	size_t len = strnlen(name, reader->len);

	if (take(reader, len + 1) == NULL)
		return NULL;
	for (size_t i = 0; i < n_listeners; i++) {
		if (strcmp(listeners[i].name, name) == 0)
			return &listeners[i];
	}
	return NULL;
}

/* The state of the next module; NULL: the message is broken. */
static const void *take_state(struct reader *reader, uint32_t *len)
{
	const void *len_bytes = take(reader, sizeof(*len));

	if (len_bytes == NULL)
		return NULL;
	memcpy(len, len_bytes, sizeof(*len));
	return take(reader, *len);
}

/* What a module refuses one, it may refuse all. */
static void log_refusal(struct conn_table *table, const struct listener_module *module)
{
	char rest[LOG_REST_SIZE];

	if (log_cap_allows(&table->losses, table->now_ms, rest))
		log_warn("module '%s': its restore hook did not take a connection of an "
			 "earlier worker, which is closed%s",
		    module->name, rest);
}

/* Every module has its turn, for each will see its close. False: one does not take it. */
static bool restore(struct rnl_conn *conn, struct reader *reader)
{
	const struct listener *listener = conn->listener;
	bool is_taken = true;

	conn->table->current = conn;
	for (size_t i = 0; i < listener->n_modules; i++) {
		const struct listener_module *module = &listener->modules[i];
		uint32_t len = 0;
		const void *state = take_state(reader, &len);

		CHECK(state != NULL); /* the head says that both ends write alike */

		conn_do(conn, DOING_MOVING, module->index);
		if (module->api->restore(conn, state, len) != 0) {
			log_refusal(conn->table, module);
			is_taken = false;
		}
	}
	conn_do(conn, DOING_NOTHING, 0);
	conn->table->current = NULL;
	return is_taken;
}

/* One that was not tallied before is from now on, as if it had begun without a byte. */
static void resume_tally(struct rnl_conn *conn, const struct head *head)
{
	if (!conn->is_tallied)
		return;
	if (head->is_tallied)
		*conn_tally(conn) = head->tally;
	else
		conn_tally(conn)->opened_ms = conn->table->now_ms - conn_age_ms(conn);
}

/* It has been looked at before: the connection was made of it. */
static struct head read_head(struct reader *reader)
{
	const void *bytes = take(reader, sizeof(struct head));
	struct head head;

	CHECK(bytes != NULL);
	memcpy(&head, bytes, sizeof(head));
	return head;
}

static void set_times(struct rnl_conn *conn, const struct head *head)
{
	conn->heard_ms = head->heard_ms;
	conn->frame_ms = head->frame_ms;
	conn->sent_ms = head->sent_ms;
	conn->beat_ms = head->beat_ms;
	conn->opened_ds = head->opened_ds;
	conn->is_in_frame = head->is_in_frame;
	conn->has_traffic = head->has_traffic;
	resume_tally(conn, head);
}

static enum status make(struct conn_table *table, const struct listener *listener, int fd,
    const struct head *head, struct reader *reader, struct rnl_conn **result)
{
	const void *input = take(reader, head->input_len);
	struct view view = { .bytes = input, .len = head->input_len };
	struct rnl_conn *conn;
	enum status status;

	if (input == NULL) {
		close(fd);
		return STATUS_INVALID;
	}
	status = conn_make(table, listener, fd, &head->peer, head->id, &conn);
	if (status != STATUS_OK)
		return status;
	set_times(conn, head);
	status = input_keep(&conn->in, &view, 0);
	if (status != STATUS_OK) {
		conn_unmake(conn);
		return status;
	}
	counter_add(table->seat->counters.moved_in, 1);
	*result = conn;
	return STATUS_OK;
}

enum status moving_unpack(struct conn_table *table, const struct listener listeners[],
    size_t n_listeners, const uint8_t *message, size_t len, int fd, struct rnl_conn **conn)
{
	struct reader reader = { .bytes = message, .len = len };
	const void *head_bytes = take(&reader, sizeof(struct head));
	const struct listener *listener = NULL;
	struct head head;

	if (head_bytes != NULL) {
		memcpy(&head, head_bytes, sizeof(head));
		if (head.magic == MOVING_MAGIC && head.size == len)
			listener = take_listener(&reader, listeners, n_listeners);
	}
	if (listener == NULL) {
		close(fd);
		return STATUS_INVALID;
	}
	return make(table, listener, fd, &head, &reader, conn);
}

void moving_resume(struct rnl_conn *conn, const uint8_t *message, size_t len)
{
	struct reader reader = { .bytes = message, .len = len };
	const struct head head = read_head(&reader);

	take(&reader, strlen(conn->listener->name) + 1);
	take(&reader, head.input_len);
	if (!restore(conn, &reader))
		conn_close(conn, CLOSE_REASON_handler);
	/* All others have been told already. */
	if (conn->table->is_stopping)
		conn_stop(conn);
	conn_settle(conn);
}

void moving_undo(struct rnl_conn *conn)
{
	counter_add(conn->table->seat->counters.moved_out, 1);
	conn_unmake(conn);
}
