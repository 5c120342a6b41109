/*
 * Whose rights the processes have that run code of modules: the workers and the checker. The
 * master keeps its own, for it has to open sockets, log files and the pid file again while it
 * serves; it reads no byte of a client and loads no module.
 */
#ifndef RUNNEL_MASTER_PRIVILEGES_H
#define RUNNEL_MASTER_PRIVILEGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/status.h"

struct settings;

#define PRIVILEGES_MAX_GROUPS 1024
#define PRIVILEGES_NAME_SIZE 256

struct privileges {
	uint64_t core_bytes; /* of the largest core file; 0: none */
	bool is_changing;    /* root becomes the user below; false: all stays as it is */
	uid_t uid;
	gid_t gid;
	gid_t groups[PRIVILEGES_MAX_GROUPS]; /* of the user, with gid */
	size_t n_groups;
	char user[PRIVILEGES_NAME_SIZE];
};

/* Look up what `user`, `group` and `core-dumps` say in a conf that was checked. */
enum status privileges_find(const struct settings *settings, struct privileges *privileges,
    struct reason *why) MUST_CHECK;

/* A line in the log when modules are going to run as root although nobody asked for it. */
void privileges_warn(const struct settings *settings);

/*
 * Give up what is to be given up, for good, in a process that is about to load modules: groups,
 * group, user, then the right to gain any by exec. It may be called again. The limit of core
 * files, which root may have to raise, is set on the way.
 */
enum status privileges_drop(const struct privileges *privileges, struct reason *why) MUST_CHECK;

/* The same in a worker: on failure a line in the log, and exit. */
void privileges_must_drop(const struct privileges *privileges);

/*
 * Can the user of the workers put files into a folder, or change its rights so that it can?
 * False when that is the master's user.
 */
bool privileges_can_write(const struct privileges *privileges, const struct stat *folder);

#endif
