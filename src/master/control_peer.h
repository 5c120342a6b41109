/*
 * Who is at the other end of a control connection, and what that one may do:
 * root and the daemon's own user may do all, members of control-group may look,
 * anybody else may not come in, whatever the mode of the socket is.
 */
#ifndef RUNNEL_MASTER_CONTROL_PEER_H
#define RUNNEL_MASTER_CONTROL_PEER_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/status.h"

enum control_access { CONTROL_READ, CONTROL_FULL };

struct control_peer {
	pid_t pid; /* 0: of another pid namespace */
	uid_t uid;
	enum control_access access;
};

/*
 * The group of a name or number, as control-group has it; CONTROL_NO_GROUP when it is empty or
 * NULL. STATUS_INVALID: there is none.
 */
enum status control_group_find(const char *name, gid_t *group, struct reason *why) MUST_CHECK;

/* Group is CONTROL_NO_GROUP or whose members may read. False: it may not come in. */
bool control_peer_identify(int fd, gid_t group, struct control_peer *peer);

#endif
