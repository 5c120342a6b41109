#include "config.h"

#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "settings/machine.h"
#include "settings/outline.h"
#include "settings/settings.h"

#define NAME_SIZE 256

/* All borrowed. */
struct machine {
	const struct outline *outline;
	const struct settings *settings;
	struct reason *why;
};

#define REFUSE(machine, key, ...)                                                   \
	outline_refuse((machine)->outline, &(machine)->outline->sections[0], (key), \
	    (machine)->why, __VA_ARGS__)

/* The name of the user that this process is, or its number when it has none. */
static void get_own_name(char name[NAME_SIZE])
{
	const struct passwd *own = getpwuid(geteuid());

	if (own != NULL)
		snprintf(name, NAME_SIZE, "%s", own->pw_name);
	else
		snprintf(name, NAME_SIZE, "%u", (unsigned int)geteuid());
}

/* Root can change to any user, anybody else has to be it already. */
static enum status refuse_change(
    const struct machine *machine, const char *key, const char *wanted)
{
	char own[NAME_SIZE];

	get_own_name(own);
	return REFUSE(machine, key,
	    "only root can change to '%s', and this is '%s': start runneld as root, or as user "
	    "'%s' and its group, or do not set %s",
	    wanted, own, machine->settings->user, key);
}

static enum status check_user(const struct machine *machine)
{
	const char *name = machine->settings->user;
	const struct passwd *user;

	if (name[0] == '\0')
		return STATUS_OK;
	user = getpwnam(name);
	if (user == NULL)
		return REFUSE(machine, "user", "there is no user '%s' on this machine", name);
	if (geteuid() != 0 && geteuid() != user->pw_uid)
		return refuse_change(machine, "user", name);
	return STATUS_OK;
}

static enum status check_group(const struct machine *machine)
{
	const char *name = machine->settings->group;
	const struct group *group;

	if (name[0] == '\0')
		return STATUS_OK;
	if (machine->settings->user[0] == '\0')
		return REFUSE(machine, "group", "it goes with user, which is not set");
	group = getgrnam(name);
	if (group == NULL)
		return REFUSE(machine, "group", "there is no group '%s' on this machine", name);
	if (geteuid() != 0 && getegid() != group->gr_gid)
		return refuse_change(machine, "group", name);
	return STATUS_OK;
}

enum status machine_check(
    const struct outline *outline, const struct settings *settings, struct reason *why)
{
	const struct machine machine = {
		.outline = outline,
		.settings = settings,
		.why = why,
	};

	if (check_user(&machine) != STATUS_OK || check_group(&machine) != STATUS_OK)
		return STATUS_INVALID;
	return STATUS_OK;
}
