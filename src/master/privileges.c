/*
 * PR_SET_PDEATHSIG is not used: a worker learns from its channel that the master is gone, and
 * then has connections to end, which a signal that kills would not let it do.
 */
#include "config.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/log.h"
#include "master/privileges.h"
#include "settings/settings.h"
#include "worker/worker.h"

static enum status find_group(
    const struct settings *settings, struct privileges *privileges, struct reason *why)
{
	const struct group *group;

	if (settings->group[0] == '\0')
		return STATUS_OK;
	group = getgrnam(settings->group);
	if (group == NULL)
		return reason_set(why, "group: there is no group '%s'", settings->group);
	privileges->gid = group->gr_gid;
	return STATUS_OK;
}

static enum status find_groups(struct privileges *privileges, struct reason *why)
{
	int n = PRIVILEGES_MAX_GROUPS;

	if (getgrouplist(privileges->user, privileges->gid, privileges->groups, &n) < 0)
		return reason_set(why, "user: '%s' has %d groups; the most is %d",
		    privileges->user, n, PRIVILEGES_MAX_GROUPS);
	privileges->n_groups = (size_t)n;
	return STATUS_OK;
}

enum status privileges_find(
    const struct settings *settings, struct privileges *privileges, struct reason *why)
{
	const struct passwd *user;

	*privileges = (struct privileges){
		.core_bytes = settings->core_dumps,
		.uid = geteuid(),
		.gid = getegid(),
	};
	if (settings->user[0] == '\0')
		return STATUS_OK;
	user = getpwnam(settings->user);
	if (user == NULL)
		return reason_set(why, "user: there is no user '%s'", settings->user);
	privileges->uid = user->pw_uid;
	privileges->gid = user->pw_gid;
	snprintf(privileges->user, sizeof(privileges->user), "%s", settings->user);
	if (find_group(settings, privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	/* Anybody else is this user already, or the check of the conf has refused it. */
	privileges->is_changing = geteuid() == 0;
	return privileges->is_changing ? find_groups(privileges, why) : STATUS_OK;
}

void privileges_warn(const struct settings *settings)
{
	if (geteuid() == 0 && settings->user[0] == '\0')
		log_warn("workers and their modules run as root: set user in the conf to one "
			 "without rights");
}

static enum status refuse_drop(
    const struct privileges *privileges, const char *call, struct reason *why)
{
	return reason_set(why, "cannot become user '%s': %s: %s%s", privileges->user, call,
	    strerror(errno),
	    errno == EPERM ? "; root has to have CAP_SETUID and CAP_SETGID here" : "");
}

static enum status change_user(const struct privileges *privileges, struct reason *why)
{
	if (setgroups(privileges->n_groups, privileges->groups) < 0)
		return refuse_drop(privileges, "setgroups", why);
	if (setresgid(privileges->gid, privileges->gid, privileges->gid) < 0)
		return refuse_drop(privileges, "setresgid", why);
	if (setresuid(privileges->uid, privileges->uid, privileges->uid) < 0)
		return refuse_drop(privileges, "setresuid", why);
	if (privileges->uid != 0 && setuid(0) == 0)
		return reason_set(why,
		    "user '%s' can become root again: the securebits that runneld was started "
		    "with have to allow that it loses its capabilities",
		    privileges->user);
	return STATUS_OK;
}

static enum status limit_core(const struct privileges *privileges, struct reason *why)
{
	struct rlimit core;

	if (getrlimit(RLIMIT_CORE, &core) < 0)
		return reason_set(
		    why, "cannot read the limit of core files: %s", strerror(errno));
	core.rlim_cur = privileges->core_bytes;
	if (core.rlim_cur > core.rlim_max)
		core.rlim_max = core.rlim_cur;
	if (setrlimit(RLIMIT_CORE, &core) < 0)
		return reason_set(why, "core-dumps: cannot set the limit of core files: %s%s",
		    strerror(errno),
		    errno == EPERM ? "; raise the hard limit (ulimit -Hc, or LimitCORE in the "
				     "systemd unit)"
				   : "");
	return STATUS_OK;
}

enum status privileges_drop(const struct privileges *privileges, struct reason *why)
{
	if (limit_core(privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	if (privileges->is_changing && geteuid() == 0 &&
	    change_user(privileges, why) != STATUS_OK)
		return STATUS_INVALID;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return reason_set(why, "cannot set no_new_privs: %s", strerror(errno));
	/* The kernel took it away with the user: a dump may show what only root could read. */
	if (privileges->core_bytes > 0 && prctl(PR_SET_DUMPABLE, 1, 0, 0, 0) < 0)
		return reason_set(why, "core-dumps: %s", strerror(errno));
	return STATUS_OK;
}

void privileges_must_drop(const struct privileges *privileges)
{
	struct reason why;

	if (privileges_drop(privileges, &why) == STATUS_OK)
		return;
	log_error("a worker cannot start: %s", why.text);
	exit(WORKER_EXIT_HOPELESS);
}

static bool has_group(const struct privileges *privileges, gid_t gid)
{
	for (size_t i = 0; i < privileges->n_groups; i++) {
		if (privileges->groups[i] == gid)
			return true;
	}
	return false;
}

bool privileges_can_write(const struct privileges *privileges, const struct stat *folder)
{
	if (!privileges->is_changing || privileges->uid == 0)
		return false;
	return folder->st_uid == privileges->uid || (folder->st_mode & S_IWOTH) != 0 ||
	       ((folder->st_mode & S_IWGRP) != 0 && has_group(privileges, folder->st_gid));
}
