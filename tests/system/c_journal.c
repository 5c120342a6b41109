/*
 * connection-log: what the lines about connections say, where they go, and that
 * they follow their file.
 */
#include "config.h"

#include <fcntl.h>
#include <jansson.h>
#include <pwd.h>
#include <signal.h>
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
#define N_WORKERS 2

static char journal[160];

/*
 * Echoes, and has a connection log in its folder; as root, with another user's workers.
 */
static struct daemon *daemon_for(const char *options, const char *listen_options)
{
	struct daemon *daemon = daemon_new(N_WORKERS, "%s", "");
	char text[2048];

	snprintf(journal, sizeof(journal), "%s/connections", daemon->folder);
	snprintf(text, sizeof(text),
	    "workers = %d\nlog = \"%s\"\nconnection-log = \"%s\"\nmodule-dir = \"%s\"\n%s\n%s\n"
	    "module echo { }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { echo } %s }\n",
	    N_WORKERS, daemon->log, journal, daemon->folder,
	    geteuid() == 0 ? "user = " USER : "", options, listen_options);
	daemon_set_conf(daemon, text);
	ck_assert_int_eq(chmod(run_folder(), 0711), 0);
	ck_assert_int_eq(chmod(daemon->folder, 0755), 0);
	ck_assert_int_eq(process_run("/bin/cp", "/dev/null", "cp", OUR_MODULES "/echo.so",
			     daemon->folder, NULL),
	    0);
	return daemon;
}

/* Lines of the journal that hold text. */
static unsigned n_lines(struct daemon *daemon, const char *path, const char *text)
{
	const char *at = daemon_read(daemon, path);
	unsigned n = 0;

	while ((at = strstr(at, text)) != NULL) {
		n++;
		at += 1 + strcspn(at + 1, "\n");
	}
	return n;
}

/* A connection that has n pings answered and ends. */
static void visit(struct daemon *daemon, int n)
{
	int fd = client_connect(daemon_port(daemon, "main"));

	while (n-- > 0)
		client_ping(fd, "0123456789");
	close(fd);
}

static void move_journal(char old[180], int turn)
{
	snprintf(old, 180, "%s.%d", journal, turn);
	ck_assert_int_eq(rename(journal, old), 0);
}

START_TEST(each_connection_has_a_line)
{
	struct daemon *daemon = daemon_for("log-level = debug", "");

	daemon_start(daemon);
	for (int i = 0; i < 20; i++)
		visit(daemon, i % 4 + 1);
	WAIT_FOR(n_lines(daemon, journal, ": connection ended id=") == 20);
	for (int i = 1; i <= 4; i++) {
		char text[128];

		snprintf(text, sizeof(text),
		    " frames_in=%d frames_out=%d bytes_in=%d bytes_out=%d sends_refused=0 "
		    "reason=peer\n",
		    i, i, 18 * i, 18 * i);
		ck_assert_uint_eq(n_lines(daemon, journal, text), 5);
	}
	ck_assert_uint_eq(n_lines(daemon, journal, " listener=main peer=127.0.0.1:"), 20);
	ck_assert_uint_eq(n_lines(daemon, journal, ": connection began"), 0);
	ck_assert(!daemon_has_logged(daemon, "connection ended"));
	/* A probe leaves a trace for those who debug only. */
	visit(daemon, 0);
	WAIT_FOR(daemon_n_logged(daemon, " ended: the peer ended it") == 1);
	daemon_end(daemon);
	ck_assert_uint_eq(n_lines(daemon, journal, "\n"), 20);
	daemon_expect_counter(daemon, "probes", 1);
	daemon_destroy(&daemon);
}
END_TEST

START_TEST(connections_that_the_daemon_ends_have_theirs)
{
	struct daemon *daemon = daemon_for("", "idle-timeout = 50ms");
	int fd;

	daemon_start(daemon);
	fd = client_connect(daemon_port(daemon, "main"));
	client_expect_eof(fd);
	close(fd);
	WAIT_FOR(n_lines(daemon, journal,
		     " bytes_in=0 bytes_out=0 sends_refused=0 reason=idle\n") == 1);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(all_have_two_lines)
{
	struct daemon *daemon = daemon_for("", "log-connections = all");

	daemon_start(daemon);
	visit(daemon, 0);
	visit(daemon, 1);
	WAIT_FOR(n_lines(daemon, journal, ": connection ended id=") == 2);
	ck_assert_uint_eq(n_lines(daemon, journal, ": connection began id="), 2);
	daemon_stop(&daemon);
}
END_TEST

static json_t *parse(const char *line)
{
	json_error_t error;
	json_t *object = json_loadb(line, strcspn(line, "\n"), 0, &error);

	ck_assert_msg(object != NULL, "%s: %s", error.text, line);
	return object;
}

/* What text has as name=value, JSON has as a member, and the other way round. */
START_TEST(json_has_the_same_fields)
{
	struct daemon *daemon = daemon_for("log-format = json", "");
	static const char *const texts[] = { "time", "level", "process", "message", "listener",
		"peer", "reason" };
	static const char *const numbers[] = { "pid", "id", "duration_ms", "frames_in",
		"frames_out", "bytes_in", "bytes_out", "sends_refused" };
	const size_t n_texts = sizeof(texts) / sizeof(texts[0]);
	const size_t n_numbers = sizeof(numbers) / sizeof(numbers[0]);
	json_t *line;

	daemon_start(daemon);
	visit(daemon, 2);
	WAIT_FOR(n_lines(daemon, journal, "\n") == 1);
	line = parse(daemon_read(daemon, journal));
	for (size_t i = 0; i < n_texts; i++)
		ck_assert_msg(json_is_string(json_object_get(line, texts[i])), "%s", texts[i]);
	for (size_t i = 0; i < n_numbers; i++)
		ck_assert_msg(
		    json_is_integer(json_object_get(line, numbers[i])), "%s", numbers[i]);
	ck_assert_uint_eq(json_object_size(line), n_texts + n_numbers);
	ck_assert_int_eq(json_integer_value(json_object_get(line, "bytes_in")), 36);
	json_decref(line);
	daemon_stop(&daemon);
}
END_TEST

static bool all_reopened(struct daemon *daemon, unsigned n)
{
	return daemon_n_logged(daemon, ": connection log opened anew") == n * (N_WORKERS + 1);
}

/* As logrotate does it; the workers have no right to open it. */
START_TEST(rotation_loses_no_line)
{
	struct daemon *daemon = daemon_for("", "");
	unsigned n = 0;
	char old[180];

	daemon_start(daemon);
	for (int turn = 0; turn < 3; turn++) {
		for (int i = 0; i < 20; i++)
			visit(daemon, 1);
		move_journal(old, turn);
		daemon_signal(daemon, SIGUSR1);
		WAIT_FOR(all_reopened(daemon, (unsigned)turn + 1));
		for (int i = 0; i < 20; i++)
			visit(daemon, 1);
		WAIT_FOR(n + n_lines(daemon, old, "ended id=") +
			     n_lines(daemon, journal, "ended id=") ==
			 40u * ((unsigned)turn + 1));
		ck_assert_uint_ge(n_lines(daemon, journal, "ended id="), 20);
		n += n_lines(daemon, old, "ended id=");
	}
	daemon_stop(&daemon);
}
END_TEST

/* From now on the conf has it elsewhere in the folder. */
static void set_journal(struct daemon *daemon, const char *name)
{
	char text[2048], conf[2048], *at;

	snprintf(conf, sizeof(conf), "%s", daemon_read(daemon, daemon->conf));
	at = strstr(conf, "/connections\"");
	ck_assert_ptr_nonnull(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - conf), conf, name,
	    at + strlen("/connections"));
	daemon_set_conf(daemon, text);
	snprintf(journal, sizeof(journal), "%s%s", daemon->folder, name);
}

/* A reload takes it elsewhere; a connection that moves is logged where it ends, in full. */
START_TEST(reload_moves_it_and_connections_go_on)
{
	struct daemon *daemon = daemon_for("", "");
	int fd;

	daemon_start(daemon);
	fd = client_connect(daemon_port(daemon, "main"));
	client_ping(fd, "0123456789");
	set_journal(daemon, "/others");
	daemon_signal(daemon, SIGHUP);
	WAIT_FOR(daemon_has_logged(daemon, "generation 1 has ended"));
	client_ping(fd, "0123456789");
	close(fd);
	WAIT_FOR(n_lines(daemon, journal, " frames_in=2 frames_out=2 bytes_in=36 ") == 1);
	daemon_stop(&daemon);
}
END_TEST

/* Where nobody reads, lines are lost, and clients are served all the same. */
START_TEST(pipe_that_nobody_reads_holds_nobody_up)
{
	struct daemon *daemon = daemon_for("", "log-connections = all");
	int fd;

	ck_assert_int_eq(mkfifo(journal, 0600), 0);
	fd = open(journal, O_RDONLY | O_NONBLOCK);
	daemon_start(daemon);
	for (int i = 0; i < 400; i++)
		visit(daemon, 1);
	WAIT_FOR(daemon_has_logged(daemon, "connections: a line is lost: "));
	visit(daemon, 1);
	daemon_stop(&daemon);
	close(fd);
}
END_TEST

/* As on a full disk: no worker ends for it, and what is lost is told later. */
START_TEST(limit_of_file_sizes_costs_lines_only)
{
	struct daemon *daemon = daemon_new(1,
	    "module echo { }\nlisten main { address = \"127.0.0.1:0\" modules = { echo } }\n"
	    "connection-log = log\n");
	struct rlimit before, none;
	pid_t worker;

	daemon_start(daemon);
	worker = daemon_worker(daemon, 0);
	ck_assert_int_eq(prlimit(worker, RLIMIT_FSIZE, NULL, &before), 0);
	none = (struct rlimit){ .rlim_cur = 0, .rlim_max = before.rlim_max };
	ck_assert_int_eq(prlimit(worker, RLIMIT_FSIZE, &none, NULL), 0);
	/* Where the worker answers the second, it has logged the first. */
	for (int i = 0; i < 3; i++)
		visit(daemon, 1);
	ck_assert_int_eq(prlimit(worker, RLIMIT_FSIZE, &before, NULL), 0);
	visit(daemon, 1);
	WAIT_FOR(daemon_has_logged(daemon, "missing here: File too large"));
	ck_assert_int_eq(daemon_worker(daemon, 0), worker);
	daemon_stop(&daemon);
}
END_TEST

/* The workers' user could exchange it for another file. */
START_TEST(folder_of_the_workers_user_is_refused)
{
	struct daemon *daemon = daemon_for("", "");
	const struct passwd *user = getpwnam(USER);
	char folder[120], text[300];

	ck_assert_ptr_nonnull(user);
	snprintf(folder, sizeof(folder), "%s/theirs", daemon->folder);
	ck_assert_int_eq(mkdir(folder, 0755), 0);
	ck_assert_int_eq(chown(folder, user->pw_uid, user->pw_gid), 0);
	set_journal(daemon, "/theirs/connections");
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	snprintf(text, sizeof(text),
	    "connection log: user '" USER "' can write to the folder %s", folder);
	ck_assert(daemon_has_logged(daemon, text));
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_journal");
	TCase *lines = run_case(suite, "lines");
	TCase *file = run_case(suite, "file");

	tcase_add_test(lines, each_connection_has_a_line);
	tcase_add_test(lines, connections_that_the_daemon_ends_have_theirs);
	tcase_add_test(lines, all_have_two_lines);
	tcase_add_test(lines, json_has_the_same_fields);
	tcase_add_test(file, rotation_loses_no_line);
	tcase_add_test(file, reload_moves_it_and_connections_go_on);
	tcase_add_test(file, limit_of_file_sizes_costs_lines_only);
	tcase_add_test(file, pipe_that_nobody_reads_holds_nobody_up);
	if (geteuid() == 0)
		tcase_add_test(file, folder_of_the_workers_user_is_refused);
	else
		puts("skipped: the test of a folder that another user can write needs root");
	return run_suite(suite);
}
