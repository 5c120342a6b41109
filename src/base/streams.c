#include "config.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/streams.h"

void streams_to_null(void)
{
	/* Not close-on-exec: where a stream was closed, this is its descriptor. */
	int fd = open("/dev/null", O_RDWR);

	if (fd < 0)
		return;
	for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; stream++)
		dup2(fd, stream);
	if (fd > STDERR_FILENO)
		close(fd);
}

void streams_ensure(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}
