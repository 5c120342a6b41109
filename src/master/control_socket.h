/*
 * The control socket in the file system: made where none or only a dead one is,
 * and removed at the end if it is still this one. Process: the master.
 */
#ifndef RUNNEL_MASTER_CONTROL_SOCKET_H
#define RUNNEL_MASTER_CONTROL_SOCKET_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

/* No group has this id. */
#define CONTROL_NO_GROUP ((gid_t)-1)

struct control_socket {
	int fd;
	char *path; /* owned */
	dev_t dev;  /* which file it is: the path may have become another's */
	ino_t ino;
};

/* May a socket have this path? STATUS_INVALID: *why says why not. */
enum status control_socket_check(const char *path, struct reason *why) MUST_CHECK;

/*
 * Make the socket and listen, with mode 0600, or 0660 and the group if there is one. A socket
 * that nobody listens on is replaced; so is one that somebody does if is_taking_over, in one
 * step, so that there is one at the path at any time. STATUS_INVALID: *why says what is there,
 * or what failed.
 */
enum status control_socket_open(struct control_socket *sock, const char *path, gid_t group,
    bool is_taking_over, struct reason *why) MUST_CHECK;

/* Is it still what stands at its path? */
bool control_socket_is_there(const struct control_socket *sock);

/* Close it and, unless another has taken its place, remove it. */
void control_socket_remove(struct control_socket *sock);

/* In a child process: close it only. */
void control_socket_forget(struct control_socket *sock);

#endif
