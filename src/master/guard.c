#include "config.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "master/guard.h"
#include "master/privileges.h"

/*
 * Can the user replace what stands at path in this folder? In a sticky folder, only what is its
 * own, or what is not there yet.
 */
static bool can_replace(
    const struct privileges *privileges, const struct stat *folder, const char *path)
{
	struct stat entry;

	if (!privileges_can_write(privileges, folder))
		return false;
	return (folder->st_mode & S_ISVTX) == 0 || folder->st_uid == privileges->uid ||
	       lstat(path, &entry) < 0 || entry.st_uid == privileges->uid;
}

/* The folder that stands before the slash at end; what is not there, is refused when opened. */
static enum status check_folder(const char *path, size_t end, const char *entry,
    const char *what, const struct privileges *privileges, struct reason *why)
{
	char folder[PATH_MAX];
	struct stat info;

	snprintf(folder, sizeof(folder), "%.*s", end == 0 ? 1 : (int)end, path);
	if (stat(folder, &info) < 0 || !can_replace(privileges, &info, entry))
		return STATUS_OK;
	/* A sticky folder, as /tmp is one, is there for all. */
	return reason_set(why,
	    "%s: user '%s' can write to the folder %s and so have root write elsewhere: %s",
	    what, privileges->user, folder,
	    (info.st_mode & S_ISVTX) != 0
		? "name a file in another folder, which root alone can write"
		: "give it to root alone (chown root, chmod go-w), or name a file elsewhere");
}

/* Each folder on the way, with what stands in it. */
static enum status check_way(
    const char *path, const char *what, const struct privileges *privileges, struct reason *why)
{
	char entry[PATH_MAX];
	size_t start = 0, end;

	while (path[start] == '/') {
		size_t name = start + strspn(path + start, "/");

		end = name + strcspn(path + name, "/");
		snprintf(entry, sizeof(entry), "%.*s", (int)end, path);
		if (check_folder(path, start, entry, what, privileges, why) != STATUS_OK)
			return STATUS_INVALID;
		start = end;
	}
	return STATUS_OK;
}

enum status guard_path(
    const char *path, const char *what, const struct privileges *privileges, struct reason *why)
{
	char folder[PATH_MAX], real[PATH_MAX], full[2 * PATH_MAX];
	const char *name = strrchr(path, '/');

	if (!privileges->is_changing || strlen(path) >= sizeof(folder))
		return STATUS_OK;
	if (check_way(path, what, privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	/* Links on the way lead through other folders. */
	snprintf(folder, sizeof(folder), "%.*s", name == path ? 1 : (int)(name - path), path);
	if (realpath(folder, real) == NULL)
		return STATUS_OK;
	snprintf(full, sizeof(full), "%s%s", strcmp(real, "/") == 0 ? "" : real, name);
	return check_way(full, what, privileges, why);
}
