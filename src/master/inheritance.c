#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "master/inheritance.h"

#define UPGRADE "RUNNEL_UPGRADE"
#define SOCKETS "RUNNEL_SOCKETS"

static bool pass(int fd)
{
	return fcntl(fd, F_SETFD, 0) == 0;
}

struct leaving {
	FILE *text;
	bool is_good;
};

static void leave_socket(const char *key, int fd, void *arg)
{
	struct leaving *leaving = arg;

	if (!pass(fd) || fprintf(leaving->text, "%d %s\n", fd, key) < 0)
		leaving->is_good = false;
}

static bool leave_sockets(const struct sockets *sockets)
{
	char *text = NULL;
	size_t size;
	struct leaving leaving = { .text = open_memstream(&text, &size), .is_good = true };

	if (leaving.text == NULL)
		return false;
	sockets_each(sockets, leave_socket, &leaving);
	leaving.is_good =
	    fclose(leaving.text) == 0 && leaving.is_good && setenv(SOCKETS, text, 1) == 0;
	free(text);
	return leaving.is_good;
}

bool inheritance_leave(const struct inheritance *inheritance, const struct sockets *sockets)
{
	char text[128];

	snprintf(text, sizeof(text), "%d %d %" PRIu32 " %" PRIu32 " %" PRIu64,
	    inheritance->channel, inheritance->pages, inheritance->generation,
	    inheritance->n_slots, inheritance->serial);
	return pass(inheritance->channel) && pass(inheritance->pages) &&
	       setenv(UPGRADE, text, 1) == 0 && leave_sockets(sockets);
}

/* Ours, and not for a child to have. False: there is no such descriptor. */
static bool take_fd(int fd)
{
	return fd > STDERR_FILENO && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static bool take_upgrade(struct inheritance *inheritance, const char *text)
{
	int end = 0;

	return sscanf(text, "%d %d %" SCNu32 " %" SCNu32 " %" SCNu64 "%n",
		   &inheritance->channel, &inheritance->pages, &inheritance->generation,
		   &inheritance->n_slots, &inheritance->serial, &end) == 5 &&
	       text[end] == '\0' && take_fd(inheritance->channel) &&
	       take_fd(inheritance->pages) && inheritance->n_slots <= SETTINGS_MAX_WORKERS;
}

static bool take_socket(struct sockets *sockets, char *line)
{
	char *key;
	long fd = strtol(line, &key, 10);

	if (key == line || *key != ' ' || fd < 0 || fd > INT32_MAX || !take_fd((int)fd))
		return false;
	sockets_inherit(sockets, key + 1, (int)fd);
	return true;
}

static bool take_sockets(struct sockets *sockets, const char *text)
{
	char *copy = must_strdup(text), *rest = copy, *line;
	bool is_good = true;

	while (is_good && (line = strsep(&rest, "\n")) != NULL)
		is_good = *line == '\0' || take_socket(sockets, line);
	free(copy);
	return is_good;
}

enum status inheritance_take(
    struct inheritance *inheritance, struct sockets *sockets, struct reason *why)
{
	const char *upgrade = getenv(UPGRADE), *list = getenv(SOCKETS);
	bool is_good;

	inheritance->channel = -1;
	if (upgrade == NULL)
		return STATUS_OK;
	is_good =
	    take_upgrade(inheritance, upgrade) && list != NULL && take_sockets(sockets, list);
	unsetenv(UPGRADE);
	unsetenv(SOCKETS);
	if (is_good)
		return STATUS_OK;
	return reason_set(why, "what " UPGRADE " and " SOCKETS
			       " say is not left by a runneld: unset them to start afresh");
}

enum status inheritance_open_pages(const struct inheritance *inheritance, struct pages *pages)
{
	if (inheritance->channel < 0)
		return pages_open(pages);
	if (pages_adopt(pages, inheritance->pages) == STATUS_OK)
		return STATUS_OK;
	log_warn("the counters begin anew: the old runneld lays them out in another way");
	if (pages_open(pages) != STATUS_OK)
		return STATUS_ERRNO;
	for (unsigned int slot = 0; slot < SETTINGS_MAX_WORKERS; slot++)
		pages->list[slot].last_serial = inheritance->serial;
	return STATUS_OK;
}
