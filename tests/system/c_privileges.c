/*
 * Whose rights master, checker and workers have. Most of it needs root, and is skipped by
 * anybody else.
 */
#include "config.h"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

#define USER "nobody"

#define CONF                                              \
	"%s\nmodule rights { path = \"%s/rights.so\" }\n" \
	"listen main { address = \"127.0.0.1:0\" modules = { rights } }\n"

#define expect_said(daemon, text)                                                   \
	ck_assert_msg(strstr(daemon_read((daemon), (daemon)->err), (text)) != NULL, \
	    "no '%s' on stderr:\n%s", (text), daemon_read((daemon), (daemon)->err))
#define expect_logged(daemon, text)                                                           \
	ck_assert_msg(daemon_has_logged((daemon), (text)), "no '%s' in the log:\n%s", (text), \
	    daemon_read((daemon), (daemon)->log))

static void copy_file(const char *from, const char *folder, const char *name)
{
	char to[256];

	snprintf(to, sizeof(to), "%s/%s", folder, name);
	ck_assert_int_eq(process_run("/bin/cp", "/dev/null", "cp", from, to, NULL), 0);
}

/*
 * The module lies in the daemon's folder, where the other user can reach it: the tree that is
 * tested may be private.
 */
static struct daemon *daemon_for(const char *options)
{
	struct daemon *daemon = daemon_new(2, "%s", "");
	char text[1024];
	int len;

	len = snprintf(text, sizeof(text), "workers = 2\nlog = \"%s\"\n" CONF, daemon->log,
	    options, daemon->folder);
	ck_assert_int_lt(len, (int)sizeof(text));
	daemon_set_conf(daemon, text);
	ck_assert_int_eq(chmod(run_folder(), 0711), 0);
	ck_assert_int_eq(chmod(daemon->folder, 0755), 0);
	copy_file(TEST_MODULES "/rights.so", daemon->folder, "rights.so");
	return daemon;
}

/* Whether /proc/PID/status has a line. */
__attribute__((format(printf, 2, 3))) static bool has_status(pid_t pid, const char *fmt, ...)
{
	char expected[128], path[64], line[256];
	bool is_there = false;
	va_list args;
	FILE *status;

	va_start(args, fmt);
	vsnprintf(expected, sizeof(expected), fmt, args);
	va_end(args);
	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	status = fopen(path, "re");
	while (status != NULL && fgets(line, sizeof(line), status) != NULL)
		is_there = is_there || strcmp(line, expected) == 0;
	if (status != NULL)
		fclose(status);
	return is_there;
}

#define expect_status(pid, ...) ck_assert(has_status((pid), __VA_ARGS__))

static void ping_all(struct daemon *daemon)
{
	for (int i = 0; i < 16; i++) {
		int fd = client_connect(daemon_port(daemon, "main"));

		client_ping(fd, "rights");
		close(fd);
	}
}

/* Every module's line says the same, also those of the checker, which has no log yet. */
START_TEST(modules_have_the_rights_of_user)
{
	const struct passwd *user = getpwnam(USER);
	struct daemon *daemon = daemon_for("user = " USER);
	char rights[128], line[160];

	ck_assert_ptr_nonnull(user);
	daemon_start(daemon);
	snprintf(rights, sizeof(rights), "uid=%d gid=%d groups=1 root=no no_new_privs=1",
	    (int)user->pw_uid, (int)user->pw_gid);
	snprintf(line, sizeof(line), "load: %s", rights);
	expect_said(daemon, line);
	ck_assert_uint_eq(daemon_n_logged(daemon, line), 2);
	snprintf(line, sizeof(line), "configure: %s", rights);
	expect_said(daemon, line);
	ck_assert_uint_eq(daemon_n_logged(daemon, line), 2);
	for (unsigned slot = 0; slot < 2; slot++) {
		pid_t pid = daemon_worker(daemon, slot);
		int uid = (int)user->pw_uid, gid = (int)user->pw_gid;

		expect_status(pid, "Uid:\t%d\t%d\t%d\t%d\n", uid, uid, uid, uid);
		expect_status(pid, "Gid:\t%d\t%d\t%d\t%d\n", gid, gid, gid, gid);
		expect_status(pid, "Groups:\t%d \n", gid);
		expect_status(pid, "NoNewPrivs:\t1\n");
		expect_status(pid, "CapEff:\t0000000000000000\n");
		expect_status(pid, "CapPrm:\t0000000000000000\n");
	}
	expect_status(daemon->pid, "Uid:\t0\t0\t0\t0\n");
	expect_status(daemon->pid, "NoNewPrivs:\t0\n");
	ck_assert(!daemon_has_logged(daemon, "run as root"));
	ping_all(daemon);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(worker_that_is_started_again_has_no_more_rights)
{
	struct daemon *daemon = daemon_for("user = " USER);
	int uid = (int)getpwnam(USER)->pw_uid;

	daemon_start(daemon);
	ck_assert_int_eq(kill(daemon_worker(daemon, 0), SIGKILL), 0);
	WAIT_FOR(daemon_n_started(daemon, 0) == 2);
	WAIT_FOR(daemon_n_logged(daemon, "load: uid=") == 3);
	expect_status(daemon_worker(daemon, 0), "Uid:\t%d\t%d\t%d\t%d\n", uid, uid, uid, uid);
	ping_all(daemon);
	daemon_stop(&daemon);
}
END_TEST

/* Generations may have different users; the conf is read as root. */
START_TEST(reload_can_change_the_user)
{
	struct daemon *daemon = daemon_for("user = daemon");
	int uid = (int)getpwnam(USER)->pw_uid;
	char text[1024], *user;

	ck_assert_int_eq(chmod(daemon->conf, 0600), 0);
	daemon_start(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon, "load: uid=1 "), 2);
	snprintf(text, sizeof(text), "%s", daemon_read(daemon, daemon->conf));
	user = strstr(text, "daemon\nmodule");
	ck_assert_ptr_nonnull(user);
	memcpy(user, USER, strlen(USER));
	daemon_set_conf(daemon, text);
	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(daemon_has_logged(daemon, "generation 2 serves"));
	/* Until then it accepts, too, and closes whom it has let in. */
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	for (unsigned slot = 0; slot < 2; slot++)
		expect_status(
		    daemon_worker(daemon, slot), "Uid:\t%d\t%d\t%d\t%d\n", uid, uid, uid, uid);
	ping_all(daemon);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(group_is_used_instead_of_that_of_user)
{
	const struct group *group = getgrnam("daemon");
	struct daemon *daemon = daemon_for("user = " USER " group = daemon");
	char line[64];

	ck_assert_ptr_nonnull(group);
	daemon_start(daemon);
	snprintf(line, sizeof(line), " gid=%d groups=1 ", (int)group->gr_gid);
	ck_assert_uint_eq(daemon_n_logged(daemon, line), 4);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(root_without_user_stays_root_and_is_told)
{
	struct daemon *daemon = daemon_for("");

	daemon_start(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon, "load: uid=0 gid=0 "), 2);
	ck_assert_uint_eq(daemon_n_logged(daemon, "root=no no_new_privs=1"), 4);
	expect_logged(daemon, "warn master");
	expect_logged(daemon, "modules run as root: set user");
	daemon_stop(&daemon);
}
END_TEST

START_TEST(root_on_purpose_is_not_told)
{
	struct daemon *daemon = daemon_for("user = root");

	daemon_start(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon, "load: uid=0 gid=0 "), 2);
	ck_assert(!daemon_has_logged(daemon, "modules run as root: set user"));
	daemon_stop(&daemon);
}
END_TEST

/* With another user the kernel denies dumps, unless they are asked for. */
START_TEST(core_dumps_are_off)
{
	struct daemon *daemon = daemon_for("user = " USER);
	struct rlimit core = { .rlim_cur = 1 << 20, .rlim_max = RLIM_INFINITY };

	ck_assert_int_eq(setrlimit(RLIMIT_CORE, &core), 0);
	daemon_start(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon, " core=0"), 4);
	ck_assert_uint_eq(daemon_n_logged(daemon, " dumpable=1"), 0);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(core_dumps_work_with_another_user)
{
	struct daemon *daemon = daemon_for("user = " USER " core-dumps = 3M");
	struct rlimit core;

	/* Not even root has to be allowed to raise the hard one. */
	ck_assert_int_eq(getrlimit(RLIMIT_CORE, &core), 0);
	core.rlim_cur = 0;
	ck_assert_int_eq(setrlimit(RLIMIT_CORE, &core), 0);
	daemon_start(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon, " dumpable=1 core=3145728"), 4);
	expect_said(daemon, " dumpable=1 core=3145728");
	daemon_stop(&daemon);
}
END_TEST

static void expect_refusal(const char *options, const char *reason)
{
	struct daemon *daemon = daemon_for(options);

	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	expect_said(daemon, reason);
	daemon_destroy(&daemon);
}

START_TEST(users_and_groups_that_are_not_there_are_refused)
{
	expect_refusal("user = no-such-user",
	    "conf:3: user: there is no user 'no-such-user' on this machine");
	expect_refusal("user = root\ngroup = no-such-group",
	    "conf:4: group: there is no group 'no-such-group' on this machine");
	expect_refusal("group = root", "conf:3: group: it goes with user, which is not set");
}
END_TEST

/* Be the user with whom the test goes on, in the folder of the daemon. */
static void become_nobody(const struct daemon *daemon)
{
	const struct passwd *user = getpwnam(USER);

	copy_file(BUILD_DIR "/runneld", daemon->folder, "runneld");
	setenv("RUNNELD", "./runneld", 1);
	ck_assert_int_eq(chdir(daemon->folder), 0);
	ck_assert_int_eq(chown(daemon->folder, user->pw_uid, user->pw_gid), 0);
	ck_assert_int_eq(chown(daemon->conf, user->pw_uid, user->pw_gid), 0);
	ck_assert_int_eq(setgroups(0, NULL), 0);
	ck_assert_int_eq(setresgid(user->pw_gid, user->pw_gid, user->pw_gid), 0);
	ck_assert_int_eq(setresuid(user->pw_uid, user->pw_uid, user->pw_uid), 0);
}

START_TEST(another_user_than_root_cannot_change)
{
	struct daemon *daemon = daemon_for("user = daemon");

	become_nobody(daemon);
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	expect_said(daemon, "conf:3: user: only root can change to 'daemon', and this is '" USER
			    "': start runneld as root, or as user 'daemon'");
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(another_user_than_root_can_be_itself)
{
	struct daemon *daemon = daemon_for("user = " USER);

	become_nobody(daemon);
	daemon_start(daemon);
	ck_assert_uint_eq(daemon_n_logged(daemon, "root=no no_new_privs=1"), 4);
	ping_all(daemon);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(another_user_than_root_cannot_change_its_group)
{
	struct daemon *daemon = daemon_for("user = " USER " group = daemon");

	become_nobody(daemon);
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	expect_said(daemon, "conf:3: group: only root can change to 'daemon', and this is '");
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(core_dumps_beyond_the_limit_are_refused)
{
	struct daemon *daemon = daemon_for("core-dumps = 1M");
	struct rlimit core = { .rlim_cur = 0, .rlim_max = 65536 };

	become_nobody(daemon);
	ck_assert_int_eq(setrlimit(RLIMIT_CORE, &core), 0);
	ck_assert_int_eq(daemon_run(daemon, "-t", "-c", daemon->conf, NULL), 1);
	expect_said(daemon, "conf:3: core-dumps: 1M are more than the hard limit of core "
			    "files, which is 64k: raise it");
	daemon_destroy(&daemon);
}
END_TEST

/* The CPUs that the test may use, of which a machine has one at least. */
static unsigned cpus_of_this(int cpus[CPU_SETSIZE])
{
	unsigned n = 0;
	cpu_set_t set;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &set))
			cpus[n++] = cpu;
	}
	return n;
}

START_TEST(auto_gives_each_worker_a_cpu_of_its_own)
{
	struct daemon *daemon = daemon_for("worker-cpu-affinity = auto");
	int cpus[CPU_SETSIZE];
	unsigned n = cpus_of_this(cpus);

	daemon_start(daemon);
	ck_assert_int_eq(kill(daemon_worker(daemon, 1), SIGKILL), 0);
	WAIT_FOR(daemon_n_logged(daemon, "load: uid=") == 3);
	for (unsigned slot = 0; slot < 2; slot++)
		WAIT_FOR(has_status(
		    daemon_worker(daemon, slot), "Cpus_allowed_list:\t%d\n", cpus[slot % n]));
	daemon_stop(&daemon);
}
END_TEST

START_TEST(workers_take_the_cpus_of_a_list_in_turn)
{
	char option[64];
	int cpus[CPU_SETSIZE];
	unsigned n = cpus_of_this(cpus);
	struct daemon *daemon;

	snprintf(
	    option, sizeof(option), "worker-cpu-affinity = { %d, %d }", cpus[n - 1], cpus[0]);
	daemon = daemon_for(option);
	daemon_start(daemon);
	expect_status(daemon_worker(daemon, 0), "Cpus_allowed_list:\t%d\n", cpus[n - 1]);
	expect_status(daemon_worker(daemon, 1), "Cpus_allowed_list:\t%d\n", cpus[0]);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(cpus_that_are_not_there_are_refused)
{
	expect_refusal("worker-cpu-affinity = \"0-8191\"",
	    "conf:3: worker-cpu-affinity: '0-8191': there is no CPU ");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_privileges");
	TCase *refused = run_case(suite, "refused");
	TCase *cpus = run_case(suite, "cpus");
	TCase *root;

	tcase_add_test(cpus, auto_gives_each_worker_a_cpu_of_its_own);
	tcase_add_test(cpus, workers_take_the_cpus_of_a_list_in_turn);
	tcase_add_test(cpus, cpus_that_are_not_there_are_refused);
	tcase_add_test(refused, users_and_groups_that_are_not_there_are_refused);
	if (geteuid() == 0) {
		root = run_case(suite, "root");
		tcase_add_test(root, modules_have_the_rights_of_user);
		tcase_add_test(root, worker_that_is_started_again_has_no_more_rights);
		tcase_add_test(root, reload_can_change_the_user);
		tcase_add_test(root, group_is_used_instead_of_that_of_user);
		tcase_add_test(root, root_without_user_stays_root_and_is_told);
		tcase_add_test(root, root_on_purpose_is_not_told);
		tcase_add_test(root, core_dumps_are_off);
		tcase_add_test(root, core_dumps_work_with_another_user);
		tcase_add_test(root, core_dumps_beyond_the_limit_are_refused);
		tcase_add_test(root, another_user_than_root_cannot_change);
		tcase_add_test(root, another_user_than_root_can_be_itself);
		tcase_add_test(root, another_user_than_root_cannot_change_its_group);
	} else {
		puts("skipped: the tests of changing the user need root");
	}
	return run_suite(suite);
}
