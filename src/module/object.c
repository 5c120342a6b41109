#include "config.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "module/object.h"

static enum status load(const char *path, void **handle, struct reason *why)
{
	*handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (*handle == NULL)
		return reason_set(why, "cannot load it: %s", dlerror());
	return STATUS_OK;
}

/* What one call may copy. */
#define MOST_BYTES (1024 * 1024 * 1024)

static enum status copy_bytes(int from, int to)
{
	ssize_t n;

	do
		n = sendfile(to, from, NULL, MOST_BYTES);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n == 0 ? STATUS_OK : STATUS_ERRNO;
}

/* A file in memory with the bytes of that one. */
static enum status make_copy(const char *path, int *copy)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), error;
	enum status status = STATUS_ERRNO;

	if (from < 0)
		return STATUS_ERRNO;
	*copy = memfd_create("runnel module", MFD_CLOEXEC);
	if (*copy >= 0)
		status = copy_bytes(from, *copy);
	error = errno;
	if (*copy >= 0 && status != STATUS_OK)
		close(*copy);
	close(from);
	errno = error;
	return status;
}

/* The copy's descriptor stays open, for by its number the loader tells it from the next one. */
static enum status load_copy(const char *path, void **handle, struct reason *why)
{
	char name[32];
	int copy;

	if (make_copy(path, &copy) != STATUS_OK)
		return reason_set(
		    why, "cannot copy %s, which another module has: %s", path, strerror(errno));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", copy);
	return load(name, handle, why);
}

enum status object_open(const char *path, bool (*is_taken)(const void *handle, const void *arg),
    const void *arg, void **handle, struct reason *why)
{
	enum status status = load(path, handle, why);

	if (status != STATUS_OK || !is_taken(*handle, arg))
		return status;
	dlclose(*handle);
	return load_copy(path, handle, why);
}
