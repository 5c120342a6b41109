#include "config.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"

#include "settings/cpus.h"
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

static enum status check_cpus(const struct machine *machine)
{
	const struct settings *settings = machine->settings;
	char text[CPUS_TEXT_SIZE];
	struct cpus allowed, cpus;

	if (cpus_allowed(&allowed) != STATUS_OK)
		return STATUS_OK;
	for (size_t i = 0; i < settings->n_worker_cpus; i++) {
		/* Words are no set. */
		if (cpus_parse(settings->worker_cpus[i], &cpus) != STATUS_OK)
			continue;
		for (unsigned int cpu = 0; cpu < CPUS_MAX; cpu++) {
			if (cpus_has(&cpus, cpu) && !cpus_has(&allowed, cpu))
				return REFUSE(machine, "worker-cpu-affinity",
				    "'%.40s': there is no CPU %u, or runneld may not use it; "
				    "it may use %s",
				    settings->worker_cpus[i], cpu, cpus_format(&allowed, text));
		}
	}
	return STATUS_OK;
}

/* Root can raise the limit. */
static enum status check_core_dumps(const struct machine *machine)
{
	uint64_t bytes = machine->settings->core_dumps;
	char wanted[UNITS_TEXT_SIZE], most[UNITS_TEXT_SIZE];
	struct rlimit core;

	if (geteuid() == 0 || getrlimit(RLIMIT_CORE, &core) < 0 || core.rlim_max >= bytes)
		return STATUS_OK;
	return REFUSE(machine, "core-dumps",
	    "%s are more than the hard limit of core files, which is %s: raise it (ulimit -Hc, "
	    "or LimitCORE in the systemd unit), or start runneld as root",
	    units_format_size((int64_t)bytes, wanted),
	    units_format_size((int64_t)core.rlim_max, most));
}

static enum status check_metrics_program(const struct machine *machine)
{
	const struct settings *settings = machine->settings;
	struct stat file;

	if (settings->metrics_address[0] == '\0')
		return STATUS_OK;
	if (stat(settings->metrics_program, &file) < 0 ||
	    access(settings->metrics_program, X_OK) < 0)
		return REFUSE(machine, "metrics-program", "%s: %s: runnel-http has to be there",
		    settings->metrics_program, strerror(errno));
	if (!S_ISREG(file.st_mode))
		return REFUSE(
		    machine, "metrics-program", "%s is no program", settings->metrics_program);
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

	if (check_user(&machine) != STATUS_OK || check_group(&machine) != STATUS_OK ||
	    check_cpus(&machine) != STATUS_OK || check_core_dumps(&machine) != STATUS_OK ||
	    check_metrics_program(&machine) != STATUS_OK)
		return STATUS_INVALID;
	return STATUS_OK;
}
