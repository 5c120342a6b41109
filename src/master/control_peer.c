#include "config.h"

#include <errno.h>
#include <grp.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/units.h"
#include "master/control_peer.h"
#include "master/control_socket.h"

#ifndef SO_PEERGROUPS
#define SO_PEERGROUPS 59
#endif

enum status control_group_find(const char *name, gid_t *id, struct reason *why)
{
	struct group *group;
	int64_t number;

	*id = CONTROL_NO_GROUP;
	if (name == NULL || name[0] == '\0')
		return STATUS_OK;
	group = getgrnam(name);
	if (group != NULL)
		*id = group->gr_gid;
	else if (units_parse_number(name, &number) == STATUS_OK && number >= 0 &&
		 number < CONTROL_NO_GROUP)
		*id = (gid_t)number;
	else
		return reason_set(why, "control-group: there is no group '%s'", name);
	return STATUS_OK;
}

static bool contains(const gid_t *groups, size_t n, gid_t group)
{
	for (size_t i = 0; i < n; i++) {
		if (groups[i] == group)
			return true;
	}
	return false;
}

/* The supplementary groups, of which the kernel says how long the list is. */
static bool has_group(int fd, gid_t group)
{
	socklen_t len = 0;
	bool is_member;
	gid_t *groups;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len) == 0 || errno != ERANGE)
		return false;
	groups = malloc(len);
	if (groups == NULL)
		return false;
	is_member = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &len) == 0 &&
		    contains(groups, len / sizeof(*groups), group);
	free(groups);
	return is_member;
}

bool control_peer_identify(int fd, gid_t group, struct control_peer *peer)
{
	struct ucred cred = { .uid = (uid_t)-1 };
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) < 0)
		return false;
	peer->pid = cred.pid;
	peer->uid = cred.uid;
	if (cred.uid == 0 || cred.uid == geteuid()) {
		peer->access = CONTROL_FULL;
		return true;
	}
	peer->access = CONTROL_READ;
	return group != CONTROL_NO_GROUP && (cred.gid == group || has_group(fd, group));
}
