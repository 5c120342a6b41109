#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/memory.h"

#include "settings/file.h"

/* Bytes read, at most size; -1 with errno. A pipe gives less than was asked for. */
static ssize_t read_all(int fd, char *buf, size_t size)
{
	size_t len = 0;

	while (len < size) {
		ssize_t n = read(fd, buf + len, size - len);

		if (n == 0)
			break;
		if (n > 0)
			len += (size_t)n;
		else if (errno != EINTR)
			return -1;
	}
	return (ssize_t)len;
}

static unsigned int line_at(const char *text, const char *at)
{
	unsigned int line = 1;

	for (; text < at; text++)
		line += *text == '\n';
	return line;
}

enum status file_read(const char *path, char **text, struct reason *why)
{
	enum status status;
	const char *nul;
	ssize_t len;
	char *buf;
	int fd;

	/* A pipe with nobody at its other end would not open else; it is empty. */
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return reason_set(why, "cannot open %s: %s", path, strerror(errno));
	fcntl(fd, F_SETFL, 0);
	buf = must_alloc(FILE_MAX_BYTES + 1, 1);
	/* One byte more than may be there tells whether it is too long. */
	len = read_all(fd, buf, FILE_MAX_BYTES + 1);
	if (len < 0) {
		status = reason_set(why, "cannot read %s: %s", path, strerror(errno));
		goto out;
	}
	if ((size_t)len > FILE_MAX_BYTES) {
		status = reason_set(
		    why, "%s: longer than %u bytes, which no conf is", path, FILE_MAX_BYTES);
		goto out;
	}
	buf[len] = '\0';
	nul = memchr(buf, '\0', (size_t)len);
	if (nul != NULL) {
		status = reason_set(
		    why, "%s:%u: a NUL byte, which no conf has", path, line_at(buf, nul));
		goto out;
	}
	*text = must_strdup(buf);
	status = STATUS_OK;
out:
	free(buf);
	close(fd);
	return status;
}
