#include "config.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "master/resident.h"

/* statm is one short line of figures in pages, which anybody may read: size resident ... */
uint64_t resident_bytes(pid_t pid)
{
	char path[32], line[128];
	uint64_t n_pages;
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	fd = pid > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	len = read(fd, line, sizeof(line) - 1);
	close(fd);
	line[len > 0 ? len : 0] = '\0';
	if (sscanf(line, "%*u %" SCNu64, &n_pages) != 1)
		return 0;
	return n_pages * (uint64_t)sysconf(_SC_PAGESIZE);
}
