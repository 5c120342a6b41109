#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log_sink.h"

static const char *open_error(int error)
{
	if (error == ELOOP)
		return "it is a symbolic link; name the file it points to";
	if (error == ENXIO)
		return "nobody reads this pipe";
	return strerror(error);
}

static bool is_regular(int fd)
{
	struct stat info;

	return fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

enum status log_sink_open(
    struct log_sink *sink, const char *path, const char *what, struct reason *why)
{
	/* Non-blocking: it may be a pipe. */
	int fd = open(path,
	    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
	    0640);

	if (fd < 0)
		return reason_set(why, "cannot open %s %s: %s", what, path, open_error(errno));
	log_sink_close(sink);
	*sink = (struct log_sink){ .fd = fd, .is_owned = true, .is_file = is_regular(fd) };
	return STATUS_OK;
}

/* The description of a stream is shared with whoever gave it, so its flags are not ours. */
void log_sink_open_stderr(struct log_sink *sink)
{
	struct stat info = { 0 };
	int fd = -1;

	log_sink_close(sink);
	if (fstat(STDERR_FILENO, &info) == 0 && S_ISFIFO(info.st_mode))
		fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	*sink = (struct log_sink){
		.fd = fd >= 0 ? fd : STDERR_FILENO,
		.is_owned = fd >= 0,
		.is_file = S_ISREG(info.st_mode),
		.is_socket = S_ISSOCK(info.st_mode),
	};
}

void log_sink_adopt(struct log_sink *sink, int fd)
{
	if (sink->is_owned)
		dup3(fd, sink->fd, O_CLOEXEC);
	sink->is_file = is_regular(fd);
	sink->is_torn = false;
	close(fd);
}

static ssize_t write_some(const struct log_sink *sink, const char *text, size_t len)
{
	ssize_t n;

	do
		n = sink->is_socket ? send(sink->fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL)
				    : write(sink->fd, text, len);
	while (n < 0 && errno == EINTR);
	return n;
}

/* False: there is no place for a newline either, and errno says why. */
static bool end_torn(struct log_sink *sink)
{
	if (sink->is_torn)
		sink->is_torn = write_some(sink, "\n", 1) != 1;
	return !sink->is_torn;
}

/*
 * What was torn has its end first, so that this line begins as one. A write that takes a part
 * does not say why it took no more; the next one does.
 */
static bool write_line(struct log_sink *sink, const struct log_line *line)
{
	ssize_t n;

	if (!end_torn(sink)) {
		sink->error = errno;
		return false;
	}
	n = write_some(sink, line->text, line->len);
	if (n == (ssize_t)line->len)
		return true;
	sink->is_torn = n > 0;
	sink->error = n < 0 || !end_torn(sink) ? errno : ENOSPC;
	return false;
}

static bool put(struct log_sink *sink, const struct log_head *head, const char *message,
    const struct log_field *fields, size_t n_fields)
{
	struct log_line line;

	log_line_make(&line, head, message, fields, n_fields);
	return write_line(sink, &line);
}

/*
 * False: there is no place for that either. Where others write the same file, what stands before
 * this may be the begin of a line of theirs, for they have run out of place, too: an empty line is
 * better than one that nobody can read.
 */
static bool tell_lost(struct log_sink *sink, const struct log_head *head)
{
	struct log_head warning = *head;
	char text[160];

	sink->is_torn |= sink->is_file;
	warning.level = LOG_LEVEL_WARN;
	snprintf(text, sizeof(text), "%" PRIu64 " %s of this process %s missing here: %s",
	    sink->n_lost, sink->n_lost == 1 ? "line" : "lines",
	    sink->n_lost == 1 ? "is" : "are", strerror(sink->error));
	return put(sink, &warning, text, NULL, 0);
}

bool log_sink_put(struct log_sink *sink, const struct log_head *head, const char *message,
    const struct log_field *fields, size_t n_fields)
{
	if (sink->n_lost > 0 && tell_lost(sink, head))
		sink->n_lost = 0;
	if (sink->n_lost == 0 && put(sink, head, message, fields, n_fields))
		return true;
	sink->n_lost++;
	return false;
}

void log_sink_close(struct log_sink *sink)
{
	if (sink->is_owned)
		close(sink->fd);
	*sink = (struct log_sink){ .fd = -1 };
}
