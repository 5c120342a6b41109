#include "config.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/memory.h"

#include "http/inquiry.h"

/* How long an answer is used again: a thousand scrapes at once cost the master one or two. */
#define FRESH_MS 200

/* A master that takes longer to answer is not well. */
#define LATE_MS 2000

/* The master takes one that it does not hear of for longer than HTTP_SILENCE_S for stuck. */
#define BEAT_MS 2000

/* More than any answer has. */
#define MAX_ANSWER_BYTES (16u * 1024u * 1024u)

static const char *const requests[INQUIRY_N] = {
	[INQUIRY_STATUS] = "{\"verb\":\"status\"}\n",
	[INQUIRY_METRICS] = "{\"verb\":\"metrics\"}\n",
};

struct question {
	uint64_t asked_ms;    /* it is under way since; 0: it is not */
	uint64_t answered_ms; /* the last answer came; 0: none, or a failure */
	bool is_late;         /* that has been told */
};

struct inquiries {
	int fd;
	inquiry_answer_f *on_answer;
	void *arg;
	struct question questions[INQUIRY_N];
	enum inquiry order[INQUIRY_N]; /* what is under way, in the order of the answers */
	size_t n_asked;
	uint64_t sent_ms;

	char *bytes; /* of an answer that has not come in full; owned */
	size_t len, size;
};

struct inquiries *inquiries_new(int fd, inquiry_answer_f *on_answer, void *arg)
{
	struct inquiries *inquiries = must_alloc(1, sizeof(*inquiries));

	inquiries->fd = fd;
	inquiries->on_answer = on_answer;
	inquiries->arg = arg;
	return inquiries;
}

bool inquiry_is_fresh(const struct inquiries *inquiries, enum inquiry kind)
{
	uint64_t answered_ms = inquiries->questions[kind].answered_ms;

	return answered_ms != 0 && clock_ms() - answered_ms < FRESH_MS;
}

bool inquiry_ask(struct inquiries *inquiries, enum inquiry kind)
{
	struct question *question = &inquiries->questions[kind];
	size_t len = strlen(requests[kind]);

	if (question->asked_ms != 0)
		return !question->is_late;
	/* Two short lines always have room. A master that is gone is seen where it is read. */
	if (send(inquiries->fd, requests[kind], len, MSG_NOSIGNAL) != (ssize_t)len)
		return false;
	question->asked_ms = inquiries->sent_ms = clock_ms();
	inquiries->order[inquiries->n_asked++] = kind;
	return true;
}

/* One line, which answers the request that was sent first. */
static bool take_line(struct inquiries *inquiries, const char *line, size_t len)
{
	struct question *question;
	enum inquiry kind;
	json_t *answer;
	bool is_good;

	if (inquiries->n_asked == 0)
		return false;
	kind = inquiries->order[0];
	question = &inquiries->questions[kind];
	answer = json_loadb(line, len, 0, NULL);
	is_good = json_is_true(json_object_get(answer, "ok"));
	memmove(&inquiries->order[0], &inquiries->order[1],
	    --inquiries->n_asked * sizeof(inquiries->order[0]));
	*question = (struct question){ .answered_ms = is_good ? clock_ms() : 0 };
	inquiries->on_answer(kind, is_good ? answer : NULL,
	    json_string_value(json_object_get(answer, "error")), inquiries->arg);
	json_decref(answer);
	return true;
}

static bool take_lines(struct inquiries *inquiries)
{
	char *at = inquiries->bytes, *end = at + inquiries->len, *newline;

	while (at < end && (newline = memchr(at, '\n', (size_t)(end - at))) != NULL) {
		if (!take_line(inquiries, at, (size_t)(newline - at)))
			return false;
		at = newline + 1;
	}
	inquiries->len = (size_t)(end - at);
	memmove(inquiries->bytes, at, inquiries->len);
	return true;
}

static bool make_room(struct inquiries *inquiries)
{
	size_t size = inquiries->size == 0 ? 65536 : inquiries->size * 2;
	char *bytes;

	if (inquiries->len < inquiries->size)
		return true;
	bytes = size <= MAX_ANSWER_BYTES ? realloc(inquiries->bytes, size) : NULL;
	if (bytes == NULL)
		return false;
	inquiries->bytes = bytes;
	inquiries->size = size;
	return true;
}

bool inquiries_read(struct inquiries *inquiries)
{
	ssize_t n;

	if (!make_room(inquiries))
		return false;
	n = recv(inquiries->fd, inquiries->bytes + inquiries->len,
	    inquiries->size - inquiries->len, 0);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	inquiries->len += (size_t)n;
	return n > 0 && take_lines(inquiries);
}

void inquiries_tick(struct inquiries *inquiries)
{
	uint64_t now_ms = clock_ms();

	for (enum inquiry kind = 0; kind < INQUIRY_N; kind++) {
		struct question *question = &inquiries->questions[kind];

		if (question->asked_ms == 0 || question->is_late ||
		    now_ms - question->asked_ms < LATE_MS)
			continue;
		question->is_late = true;
		inquiries->on_answer(kind, NULL, NULL, inquiries->arg);
	}
	if (now_ms - inquiries->sent_ms >= BEAT_MS)
		inquiry_ask(inquiries, INQUIRY_STATUS);
}

static int rest_ms(uint64_t since_ms, uint64_t limit_ms, int least_ms)
{
	uint64_t now_ms = clock_ms();
	int rest = now_ms - since_ms < limit_ms ? (int)(since_ms + limit_ms - now_ms) : 0;

	return rest < least_ms ? rest : least_ms;
}

int inquiries_timeout_ms(const struct inquiries *inquiries)
{
	int least_ms = BEAT_MS;

	for (size_t i = 0; i < INQUIRY_N; i++) {
		const struct question *question = &inquiries->questions[i];

		if (question->asked_ms != 0 && !question->is_late)
			least_ms = rest_ms(question->asked_ms, LATE_MS, least_ms);
	}
	/* While the status is asked already, its answer is waited for. */
	if (inquiries->questions[INQUIRY_STATUS].asked_ms == 0)
		least_ms = rest_ms(inquiries->sent_ms, BEAT_MS, least_ms);
	return least_ms;
}

void inquiries_destroy(struct inquiries **inquiries)
{
	free((*inquiries)->bytes);
	free(*inquiries);
	*inquiries = NULL;
}
