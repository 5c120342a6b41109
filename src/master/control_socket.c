/*
 * The socket is bound under a name of its own, given its owner and mode, and
 * renamed: nobody sees it half made, and a path that had a socket always has one.
 */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory.h"
#include "master/control_socket.h"

#define BACKLOG 64

/* The name before the rename: the path, a dot and a process id. */
#define MAX_SUFFIX (sizeof(".4194304") - 1)
#define MAX_PATH_BYTES (sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1 - MAX_SUFFIX)

enum status control_socket_check(const char *path, struct reason *why)
{
	if (strlen(path) <= MAX_PATH_BYTES)
		return STATUS_OK;
	return reason_set(why,
	    "control-socket: %s: the path of a socket can have %zu bytes; give a shorter one",
	    path, MAX_PATH_BYTES);
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	memcpy(address.sun_path, path, strlen(path) + 1);
	return address;
}

/* Is there somebody behind the socket at the path? Its process is *pid, as far as known. */
static bool is_alive(const char *path, pid_t *pid)
{
	struct sockaddr_un address = address_of(path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	struct ucred peer;
	socklen_t len = sizeof(peer);
	bool is_dead;

	*pid = 0;
	if (fd < 0)
		return true;
	is_dead = connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 &&
		  (errno == ECONNREFUSED || errno == ENOENT);
	if (!is_dead && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) == 0)
		*pid = peer.pid;
	close(fd);
	return !is_dead;
}

/* May what is at the path be replaced? */
static enum status check_place(const char *path, bool is_taking_over, struct reason *why)
{
	struct stat st;
	pid_t pid;

	if (lstat(path, &st) < 0)
		return errno == ENOENT
			   ? STATUS_OK
			   : reason_set(why, "control-socket: cannot look at %s: %s", path,
				 strerror(errno));
	if (!S_ISSOCK(st.st_mode))
		return reason_set(why,
		    "control-socket: %s is there and is no socket; remove it, or give "
		    "another path",
		    path);
	if (is_taking_over || !is_alive(path, &pid))
		return STATUS_OK;
	if (pid > 0)
		return reason_set(why,
		    "control-socket: %s: process %d listens there already; is it another "
		    "runneld?",
		    path, (int)pid);
	return reason_set(why,
	    "control-socket: %s: another process listens there already; is it another runneld?",
	    path);
}

/* fchmod() before bind() is what the file gets, less the umask: no moment is too open. */
static bool make(struct control_socket *sock, const char *path, gid_t group)
{
	struct sockaddr_un address = address_of(path);
	struct stat st;

	if (fchmod(sock->fd, 0600) < 0 ||
	    bind(sock->fd, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return false;
	if (group != CONTROL_NO_GROUP &&
	    (lchown(path, (uid_t)-1, group) < 0 || chmod(path, 0660) < 0))
		return false;
	if (listen(sock->fd, BACKLOG) < 0 || lstat(path, &st) < 0)
		return false;
	sock->dev = st.st_dev;
	sock->ino = st.st_ino;
	return true;
}

enum status control_socket_open(struct control_socket *sock, const char *path, gid_t group,
    bool is_taking_over, struct reason *why)
{
	char *draft;

	if (control_socket_check(path, why) != STATUS_OK ||
	    check_place(path, is_taking_over, why) != STATUS_OK)
		return STATUS_INVALID;
	sock->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (sock->fd < 0)
		return reason_set(why, "control-socket: %s: %s", path, strerror(errno));
	draft = must_printf("%s.%d", path, (int)getpid());
	/* What a process of our number has left. */
	unlink(draft);
	if (!make(sock, draft, group) || rename(draft, path) < 0) {
		reason_set(why, "control-socket: cannot make %s: %s", path, strerror(errno));
		unlink(draft);
		free(draft);
		close(sock->fd);
		return STATUS_INVALID;
	}
	free(draft);
	sock->path = must_strdup(path);
	return STATUS_OK;
}

bool control_socket_is_there(const struct control_socket *sock)
{
	struct stat st;

	return lstat(sock->path, &st) == 0 && st.st_dev == sock->dev && st.st_ino == sock->ino;
}

void control_socket_remove(struct control_socket *sock)
{
	if (control_socket_is_there(sock))
		unlink(sock->path);
	control_socket_forget(sock);
}

void control_socket_forget(struct control_socket *sock)
{
	close(sock->fd);
	sock->fd = -1;
	free(sock->path);
	sock->path = NULL;
}
