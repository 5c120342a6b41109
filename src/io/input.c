#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "io/input.h"

/* Invariant: start < end <= capacity. */
struct leftover {
	size_t start, end, capacity;
	uint8_t bytes[];
};

/*
 * Room for what is kept is a multiple of this, so that trickling bytes do not reallocate each
 * time.
 */
#define GRAIN 64

void input_init(struct input *input)
{
	input->leftover = NULL;
}

struct view input_view(const struct input *input)
{
	const struct leftover *left = input->leftover;

	if (left == NULL)
		return (struct view){ .bytes = NULL, .len = 0 };
	return (
	    struct view){ .bytes = left->bytes + left->start, .len = left->end - left->start };
}

static ssize_t receive(int fd, void *buf, size_t size)
{
	ssize_t n;

	do
		n = recv(fd, buf, size, 0);
	while (n < 0 && errno == EINTR);
	return n;
}

/*
 * Make room for as much again as is kept, and at least a scratch lead: the bytes stand at the
 * front then.
 */
static struct leftover *expand(struct input *input)
{
	struct leftover *left = input->leftover;
	size_t len = left->end - left->start;

	if (left->start > 0) {
		memmove(left->bytes, left->bytes + left->start, len);
		left->start = 0;
		left->end = len;
	}
	if (left->capacity - len < SCRATCH_LEAD) {
		struct leftover *larger = realloc(left, sizeof(*left) + 2 * len);

		if (larger == NULL)
			return NULL;
		larger->capacity = 2 * len;
		input->leftover = left = larger;
	}
	return left;
}

/* A long leftover, most of a large frame, is not copied about: read behind it. */
static ssize_t read_behind(struct input *input, int fd, struct view *view)
{
	struct leftover *left = expand(input);
	ssize_t n;

	if (left == NULL) {
		errno = ENOMEM;
		return -1;
	}
	n = receive(fd, left->bytes + left->end, left->capacity - left->end);
	if (n > 0) {
		left->end += (size_t)n;
		*view = input_view(input);
	}
	return n;
}

ssize_t input_read(struct input *input, struct scratch *scratch, int fd, struct view *view)
{
	struct view old = input_view(input);
	ssize_t n;

	if (old.len > SCRATCH_LEAD)
		return read_behind(input, fd, view);
	n = receive(fd, scratch->bytes + old.len, SCRATCH_READ);
	if (n > 0) {
		if (old.len > 0)
			memcpy(scratch->bytes, old.bytes, old.len);
		*view = (struct view){ .bytes = scratch->bytes, .len = old.len + (size_t)n };
	}
	return n;
}

size_t input_waiting(int fd)
{
	int n = 0;

	if (ioctl(fd, FIONREAD, &n) < 0 || n < 0)
		return 0;
	return (size_t)n;
}

/* Store bytes that stand in the scratch buffer. */
static enum status store(struct input *input, const uint8_t *bytes, size_t len)
{
	struct leftover *left = input->leftover;

	size_t capacity = (len + GRAIN - 1) / GRAIN * GRAIN;

	if (left == NULL || left->capacity < len || left->capacity > 4 * capacity) {

		free(left);
		input->leftover = left = malloc(sizeof(*left) + capacity);
		if (left == NULL)
			return STATUS_NOMEM;
		left->capacity = capacity;
	}
	memcpy(left->bytes, bytes, len);
	left->start = 0;
	left->end = len;
	return STATUS_OK;
}

enum status input_keep(struct input *input, const struct view *view, size_t n)
{
	struct leftover *left = input->leftover;

	if (n == view->len) {
		input_clear(input);
		return STATUS_OK;
	}
	if (left != NULL && view->bytes == left->bytes + left->start) {
		left->start += n;
		return STATUS_OK;
	}
	return store(input, view->bytes + n, view->len - n);
}

void input_clear(struct input *input)
{
	free(input->leftover);
	input->leftover = NULL;
}
