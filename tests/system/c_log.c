/*
 * The log file: moved away while the daemon serves, and where it may not lie.
 */
#include "config.h"

#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "system/client.h"
#include "system/daemon.h"
#include "system/process.h"
#include "system/run.h"

#define USER "nobody"
#define N_WORKERS 4

#define expect_said(daemon, text)                                                   \
	ck_assert_msg(strstr(daemon_read((daemon), (daemon)->err), (text)) != NULL, \
	    "no '%s' on stderr:\n%s", (text), daemon_read((daemon), (daemon)->err))

/*
 * A daemon whose module logs a line for each message, to a path in its folder; as root, with
 * another user's workers.
 */
static struct daemon *daemon_for(const char *log, const char *options)
{
	struct daemon *daemon = daemon_new(N_WORKERS, "%s", "");
	char text[2048];

	snprintf(text, sizeof(text),
	    "workers = %d\nlog = \"%s%s\"\n%s\n%s\nmodule rights { path = \"%s/rights.so\" }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { rights } }\n",
	    N_WORKERS, daemon->folder, log, geteuid() == 0 ? "user = " USER : "", options,
	    daemon->folder);
	daemon_set_conf(daemon, text);
	ck_assert_int_eq(chmod(run_folder(), 0711), 0);
	ck_assert_int_eq(chmod(daemon->folder, 0755), 0);
	ck_assert_int_eq(process_run("/bin/cp", "/dev/null", "cp", TEST_MODULES "/rights.so",
			     daemon->folder, NULL),
	    0);
	return daemon;
}

#define N_TALKERS 32
#define N_LINES 20 /* of each, at a time */

struct talk {
	int fds[N_TALKERS];
	unsigned n_sent;
};

static void talk_start(struct talk *talk, struct daemon *daemon)
{
	for (int i = 0; i < N_TALKERS; i++)
		talk->fds[i] = client_connect(daemon_port(daemon, "main"));
}

/* Each message is a line of the log, and the line is written before the answer. */
static void talk_ask(struct talk *talk)
{
	struct bytes frames = { 0 };

	for (uint32_t n = 0; n < N_LINES; n++)
		bytes_add_tlv(&frames, n, "line", 4);
	for (int i = 0; i < N_TALKERS; i++)
		client_send(talk->fds[i], frames.data, frames.len);
	bytes_free(&frames);
	talk->n_sent += N_TALKERS * N_LINES;
}

static void talk_hear(struct talk *talk)
{
	struct bytes frames = { 0 };

	for (uint32_t n = 0; n < N_LINES; n++)
		bytes_add_tlv(&frames, n, "line", 4);
	for (int i = 0; i < N_TALKERS; i++)
		client_expect(talk->fds[i], &frames);
	bytes_free(&frames);
}

static void talk_end(struct talk *talk)
{
	for (int i = 0; i < N_TALKERS; i++)
		close(talk->fds[i]);
}

/* Lines of a file that have both texts. */
static unsigned count_lines(
    struct daemon *daemon, const char *path, const char *one, const char *other)
{
	const char *line = daemon_read(daemon, path);
	unsigned n = 0;

	while (*line != '\0') {
		const char *end = line + strcspn(line, "\n");
		const char *first = strstr(line, one), *second = strstr(line, other);

		n += first != NULL && first < end && second != NULL && second < end;
		line = *end == '\0' ? end : end + 1;
	}
	return n;
}

#define N_ANSWERS(daemon, path) \
	count_lines((daemon), (path), " info worker ", "module 'rights': message ")

/* The master and all workers have said once that they write to the file of that name. */
static bool all_reopened(struct daemon *daemon)
{
	static const char said[] = ": log file opened anew";
	char process[32];

	for (unsigned slot = 0; slot < N_WORKERS; slot++) {
		snprintf(process, sizeof(process), " info worker %u[", slot);
		if (count_lines(daemon, daemon->log, process, said) != 1)
			return false;
	}
	return count_lines(daemon, daemon->log, " info master[", said) == 1;
}

static off_t size_of(const char *path)
{
	struct stat info;

	ck_assert_int_eq(stat(path, &info), 0);
	return info.st_size;
}

static void move_log(struct daemon *daemon, char old[160], int turn)
{
	snprintf(old, 160, "%s/log.%d", daemon->folder, turn);
	ck_assert_int_eq(rename(daemon->log, old), 0);
}

/* As logrotate does it, while lines are written: each is in one of the files. */
START_TEST(rotation_loses_no_line)
{
	struct daemon *daemon = daemon_for("/log", "");
	struct talk talk = { 0 };
	unsigned n_logged = 0;
	char old[160];
	off_t size;

	daemon_start(daemon);
	talk_start(&talk, daemon);
	for (int turn = 0; turn < 5; turn++) {
		talk_ask(&talk);
		move_log(daemon, old, turn);
		daemon_signal(daemon, SIGUSR1);
		talk_hear(&talk);
		WAIT_FOR(all_reopened(daemon));
		size = size_of(old);
		talk_ask(&talk);
		talk_hear(&talk);
		ck_assert_int_eq(size_of(old), size);
		n_logged += N_ANSWERS(daemon, old);
	}
	n_logged += N_ANSWERS(daemon, daemon->log);
	ck_assert_uint_eq(n_logged, talk.n_sent);
	talk_end(&talk);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(worker_that_is_started_later_finds_the_new_file)
{
	struct daemon *daemon = daemon_for("/log", "");
	char old[160];
	pid_t worker;

	daemon_start(daemon);
	worker = daemon_worker(daemon, 1);
	move_log(daemon, old, 0);
	daemon_signal(daemon, SIGUSR1);
	WAIT_FOR(all_reopened(daemon));
	ck_assert_int_eq(kill(worker, SIGKILL), 0);
	WAIT_FOR(count_lines(daemon, daemon->log, " info worker 1[", "configure: ") == 1);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(file_that_cannot_be_opened_anew_is_kept)
{
	struct daemon *daemon = daemon_for("/folder/log", "");
	char folder[160], moved[160], log[180];
	struct talk talk = { 0 };

	snprintf(folder, sizeof(folder), "%s/folder", daemon->folder);
	snprintf(moved, sizeof(moved), "%s/moved", daemon->folder);
	snprintf(log, sizeof(log), "%s/log", moved);
	ck_assert_int_eq(mkdir(folder, 0755), 0);
	snprintf(daemon->log, sizeof(daemon->log), "%s/folder/log", daemon->folder);
	daemon_start(daemon);
	talk_start(&talk, daemon);
	ck_assert_int_eq(rename(folder, moved), 0);
	daemon_signal(daemon, SIGUSR1);
	WAIT_FOR(count_lines(daemon, log, " error master[", "lines go on as before") == 1);
	talk_ask(&talk);
	talk_hear(&talk);
	ck_assert_uint_eq(N_ANSWERS(daemon, log), talk.n_sent);
	talk_end(&talk);
	daemon_stop(&daemon);
}
END_TEST

/*
 * The descriptor of the new file arrives at a worker whose connections have taken all others,
 * because the others do not accept their share.
 */
START_TEST(worker_at_its_limit_changes_too)
{
	struct daemon *daemon = daemon_for("/log", "");
	char old[160];
	int fds[600], n = 0;

	daemon->max_fds = 96;
	daemon_start(daemon);
	for (unsigned slot = 1; slot < N_WORKERS; slot++)
		process_stop(daemon_worker(daemon, slot));
	while (n < 600)
		fds[n++] = client_connect(daemon_port(daemon, "main"));
	/* One is in reserve for closing those that are too many. */
	WAIT_FOR(process_n_fds(daemon_worker(daemon, 0)) >= 95);
	for (unsigned slot = 1; slot < N_WORKERS; slot++)
		ck_assert_int_eq(kill(daemon_worker(daemon, slot), SIGCONT), 0);
	for (int turn = 0; turn < 2; turn++) {
		move_log(daemon, old, turn);
		daemon_signal(daemon, SIGUSR1);
		WAIT_FOR(all_reopened(daemon));
	}
	while (n > 0)
		close(fds[--n]);
	daemon_stop(&daemon);
}
END_TEST

START_TEST(log_that_is_no_file_is_left_alone)
{
	struct daemon *daemon = daemon_new(1,
	    "module echo { }\nlisten main { address = \"127.0.0.1:0\" modules = { echo } }\n");
	char text[512];

	snprintf(text, sizeof(text),
	    "workers = 1\nlog = stderr\nmodule-dir = \"" OUR_MODULES "\"\nmodule echo { }\n"
	    "listen main { address = \"127.0.0.1:0\" modules = { echo } }\n");
	daemon_set_conf(daemon, text);
	snprintf(daemon->log, sizeof(daemon->log), "%s", daemon->err);
	daemon_start(daemon);
	daemon_signal(daemon, SIGUSR1);
	WAIT_FOR(daemon_has_logged(daemon, "the log is no file"));
	daemon_stop(&daemon);
}
END_TEST

/* What the user of the workers could exchange for another file. */
static void expect_refusal(const char *log, const char *options, const char *folder)
{
	struct daemon *daemon = daemon_for(log, options);
	const struct passwd *user = getpwnam(USER);
	char theirs[160], sticky[160], ours[180], text[256];

	snprintf(theirs, sizeof(theirs), "%s/theirs", daemon->folder);
	snprintf(ours, sizeof(ours), "%s/ours", theirs);
	snprintf(sticky, sizeof(sticky), "%s/sticky", daemon->folder);
	ck_assert_int_eq(mkdir(theirs, 0755), 0);
	ck_assert_int_eq(mkdir(ours, 0755), 0);
	ck_assert_int_eq(chown(theirs, user->pw_uid, user->pw_gid), 0);
	ck_assert_int_eq(mkdir(sticky, 0755), 0);
	ck_assert_int_eq(chmod(sticky, 01777), 0);
	snprintf(text, sizeof(text), "%s/link", daemon->folder);
	ck_assert_int_eq(symlink(ours, text), 0);
	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	snprintf(text, sizeof(text), "user '" USER "' can write to the folder %s%s",
	    daemon->folder, folder);
	if (strstr(daemon_read(daemon, daemon->err), text) == NULL)
		ck_assert_msg(daemon_has_logged(daemon, text), "not said: %s", text);
	daemon_destroy(&daemon);
}

START_TEST(folders_of_the_workers_user_are_refused)
{
	expect_refusal("/theirs/log", "",
	    "/theirs and so have root write elsewhere: give it to root alone");
	expect_refusal("/theirs/ours/log", "", "/theirs");
	expect_refusal("/link/log", "", "/theirs");
	/* Such a folder is for all: to take it from them would be bad advice. */
	expect_refusal("/sticky/log", "",
	    "/sticky and so have root write elsewhere: name a file in another folder");
}
END_TEST

START_TEST(pid_file_there_is_refused)
{
	struct daemon *daemon = daemon_for("/log", "pid-file = \"/tmp/runneld-test/../pid\"");

	ck_assert_int_eq(daemon_run(daemon, "-F", "-c", daemon->conf, NULL), 1);
	ck_assert(daemon_has_logged(
	    daemon, "pid file: user '" USER "' can write to the folder /tmp"));
	daemon_destroy(&daemon);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("c_log");
	TCase *file = run_case(suite, "file");
	TCase *place;

	tcase_add_test(file, rotation_loses_no_line);
	tcase_add_test(file, worker_that_is_started_later_finds_the_new_file);
	tcase_add_test(file, file_that_cannot_be_opened_anew_is_kept);
	tcase_add_test(file, worker_at_its_limit_changes_too);
	tcase_add_test(file, log_that_is_no_file_is_left_alone);
	if (geteuid() == 0) {
		place = run_case(suite, "place");
		tcase_add_test(place, folders_of_the_workers_user_are_refused);
		tcase_add_test(place, pid_file_there_is_refused);
	} else {
		puts("skipped: the tests of folders that another user can write need root");
	}
	return run_suite(suite);
}
