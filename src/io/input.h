/*
 * Unread input: the bytes of one connection that were read and not yet consumed,
 * an incomplete frame or frames that wait for the connection's next turn.
 *
 * A worker reads into one scratch buffer. A view is all unread bytes in one
 * piece, in the scratch buffer or in the connection's own memory, to be consumed
 * from the front; input_keep() then stores the rest. So a connection owns input
 * memory only while something is left over, and it grows with bytes received.
 */
#ifndef RUNNEL_IO_INPUT_H
#define RUNNEL_IO_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

#define SCRATCH_READ (64 * 1024) /* at most this is read at once */
#define SCRATCH_LEAD (16 * 1024) /* unread bytes up to this are put before it */

/* Of one worker; between input_read and input_keep it is the one connection's. */
struct scratch {
	uint8_t bytes[SCRATCH_LEAD + SCRATCH_READ];
};

struct leftover;

struct input {
	struct leftover *leftover; /* owned; NULL: nothing is left over */
};

struct view {
	const uint8_t *bytes;
	size_t len;
};

void input_init(struct input *input);

static inline bool input_is_empty(const struct input *input)
{
	return input->leftover == NULL;
}

/* All unread bytes, without reading. Valid until the next call of another function here. */
struct view input_view(const struct input *input);

/*
 * Read once from fd; *view is then all unread bytes. Returns what read(2) does:
 * bytes, 0 at the end of input, or -1 and errno (ENOMEM too). After 0 and -1 the
 * view is not set and the input is as it was.
 */
ssize_t input_read(struct input *input, struct scratch *scratch, int fd, struct view *view);

/* How many bytes have come to a socket and were not read; 0 also when that is not known. */
size_t input_waiting(int fd);

/* The first n bytes of the view are consumed: keep the rest. STATUS_NOMEM: the rest is lost. */
enum status input_keep(struct input *input, const struct view *view, size_t n) MUST_CHECK;

/* Drop all unread bytes. */
void input_clear(struct input *input);

#endif
