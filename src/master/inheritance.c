#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "master/inheritance.h"

#define UPGRADE "RUNNEL_UPGRADE"
#define SOCKETS "RUNNEL_SOCKETS"

/* The first line of the list of sockets: how many there are. */
#define LIST_HEAD "runneld sockets %zu"

static bool pass(int fd)
{
	return fcntl(fd, F_SETFD, 0) == 0;
}

struct leaving {
	FILE *text;
	bool is_good;
	size_t n;
};

static void count_socket(const char *key, int fd, void *arg)
{
	struct leaving *leaving = arg;

	(void)key;
	(void)fd;
	leaving->n++;
}

static void leave_socket(const char *key, int fd, void *arg)
{
	struct leaving *leaving = arg;

	if (!pass(fd) || fprintf(leaving->text, "%d %s\n", fd, key) < 0)
		leaving->is_good = false;
}

/* The file stays open for the next program: only the stream's own copy is closed. */
static bool write_sockets(const struct sockets *sockets, int fd)
{
	int copy = dup(fd);
	struct leaving leaving = { .text = copy >= 0 ? fdopen(copy, "w") : NULL };

	if (leaving.text == NULL)
		return false;
	sockets_each(sockets, count_socket, &leaving);
	leaving.is_good = fprintf(leaving.text, LIST_HEAD "\n", leaving.n) > 0;
	sockets_each(sockets, leave_socket, &leaving);
	return fclose(leaving.text) == 0 && leaving.is_good;
}

/* An environment variable holds 128 KiB, which some thousand sockets need. */
static bool leave_sockets(const struct sockets *sockets)
{
	int fd = memfd_create("runnel sockets", 0);
	char text[16];

	if (fd < 0 || !write_sockets(sockets, fd))
		return false;
	snprintf(text, sizeof(text), "%d", fd);
	return setenv(SOCKETS, text, 1) == 0;
}

bool inheritance_leave(const struct inheritance *inheritance, const struct sockets *sockets)
{
	char text[128];

	snprintf(text, sizeof(text), "%d %d %d %" PRIu32 " %" PRIu32 " %" PRIu64,
	    inheritance->channel, inheritance->pages, inheritance->legacy,
	    inheritance->generation, inheritance->n_slots, inheritance->serial);
	return pass(inheritance->channel) && pass(inheritance->pages) &&
	       pass(inheritance->legacy) && setenv(UPGRADE, text, 1) == 0 &&
	       leave_sockets(sockets);
}

/* Ours, and not for a child to have. False: there is no such descriptor. */
static bool take_fd(int fd)
{
	return fd > STDERR_FILENO && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0;
}

static bool take_upgrade(struct inheritance *inheritance, const char *text)
{
	int end = 0;

	return sscanf(text, "%d %d %d %" SCNu32 " %" SCNu32 " %" SCNu64 "%n",
		   &inheritance->channel, &inheritance->pages, &inheritance->legacy,
		   &inheritance->generation, &inheritance->n_slots, &inheritance->serial,
		   &end) == 6 &&
	       text[end] == '\0' && take_fd(inheritance->channel) &&
	       take_fd(inheritance->pages) && take_fd(inheritance->legacy) &&
	       inheritance->n_slots <= SETTINGS_MAX_WORKERS;
}

static bool is_listening(int fd)
{
	int is_accepting = 0;
	socklen_t size = sizeof(is_accepting);

	return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &is_accepting, &size) == 0 &&
	       is_accepting != 0;
}

/* The line is as getline(3) read it. */
static bool take_socket(struct sockets *sockets, char *line)
{
	char *key, *end = strchr(line, '\n');
	long fd = strtol(line, &key, 10);

	if (end == NULL || key == line || *key != ' ' || fd < 0 || fd > INT32_MAX ||
	    !is_listening((int)fd) || !take_fd((int)fd))
		return false;
	*end = '\0';
	sockets_inherit(sockets, key + 1, (int)fd);
	return true;
}

/* As many as the head says, and nothing behind them. */
static bool read_sockets(struct sockets *sockets, FILE *list)
{
	char *line = NULL;
	size_t size = 0, n = 0, n_left;
	int end = 0;
	bool is_good;

	is_good = getline(&line, &size, list) > 0 &&
		  sscanf(line, LIST_HEAD "%n", &n, &end) == 1 && strcmp(line + end, "\n") == 0;
	for (n_left = n; is_good && n_left > 0; n_left--)
		is_good = getline(&line, &size, list) > 0 && take_socket(sockets, line);
	is_good = is_good && getline(&line, &size, list) < 0;
	free(line);
	return is_good;
}

static bool take_sockets(struct sockets *sockets, const char *text)
{
	char *end;
	long fd = strtol(text, &end, 10);
	FILE *list;
	bool is_good;

	if (end == text || *end != '\0' || fd < 0 || fd > INT32_MAX || !take_fd((int)fd) ||
	    lseek((int)fd, 0, SEEK_SET) < 0)
		return false;
	list = fdopen((int)fd, "r");
	if (list == NULL)
		return false;
	is_good = read_sockets(sockets, list);
	fclose(list);
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
	if (pages_adopt(pages, inheritance->pages, inheritance->legacy) == STATUS_OK)
		return STATUS_OK;
	log_warn("the counters begin anew: the old runneld lays them out in another way");
	if (pages_open(pages) != STATUS_OK)
		return STATUS_ERRNO;
	for (unsigned int slot = 0; slot < SETTINGS_MAX_WORKERS; slot++)
		pages->list[slot].last_serial = inheritance->serial;
	return STATUS_OK;
}
