#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "master/pid_file.h"

static enum status lock(const char *path, int fd, struct reason *why)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

	if (fcntl(fd, F_SETLK, &whole) == 0)
		return STATUS_OK;
	if (errno != EACCES && errno != EAGAIN)
		return reason_set(why, "cannot lock pid file %s: %s", path, strerror(errno));
	if (fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK)
		return reason_set(why, "pid file %s: runneld is running already with pid %d",
		    path, (int)whole.l_pid);
	return reason_set(why, "pid file %s: another runneld holds it", path);
}

/* Did a master that ended just now remove the file between our open and our lock? */
static bool is_same_file(const char *path, int fd)
{
	struct stat by_path, by_fd;

	return stat(path, &by_path) == 0 && fstat(fd, &by_fd) == 0 &&
	       by_path.st_dev == by_fd.st_dev && by_path.st_ino == by_fd.st_ino;
}

static enum status write_pid(const char *path, int fd, struct reason *why)
{
	char text[32];
	int len = snprintf(text, sizeof(text), "%d\n", (int)getpid());

	if (ftruncate(fd, 0) < 0 || pwrite(fd, text, (size_t)len, 0) != len)
		return reason_set(why, "cannot write pid file %s: %s", path, strerror(errno));
	return STATUS_OK;
}

enum status pid_file_open(const char *path, int *result, struct reason *why)
{
	enum status status;
	int fd;

	for (;;) {
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
		if (fd < 0)
			return reason_set(
			    why, "cannot open pid file %s: %s", path, strerror(errno));
		status = lock(path, fd, why);
		if (status != STATUS_OK || is_same_file(path, fd))
			break;
		close(fd);
	}
	if (status == STATUS_OK)
		status = write_pid(path, fd, why);
	if (status != STATUS_OK) {
		close(fd);
		return status;
	}
	*result = fd;
	return STATUS_OK;
}

enum status pid_file_holder(const char *path, pid_t *pid, struct reason *why)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	enum status status = STATUS_OK;

	*pid = 0;
	if (fd < 0)
		return errno == ENOENT ? STATUS_OK
				       : reason_set(why, "cannot open pid file %s: %s", path,
					     strerror(errno));
	if (fcntl(fd, F_GETLK, &whole) < 0)
		status = reason_set(
		    why, "cannot ask who holds pid file %s: %s", path, strerror(errno));
	else if (whole.l_type != F_UNLCK && whole.l_pid <= 0)
		status = reason_set(why,
		    "pid file %s: its holder cannot be seen from here; is it in another "
		    "container?",
		    path);
	else if (whole.l_type != F_UNLCK)
		*pid = whole.l_pid;
	close(fd);
	return status;
}

void pid_file_remove(const char *path, int fd)
{
	if (is_same_file(path, fd))
		unlink(path);
	close(fd);
}
