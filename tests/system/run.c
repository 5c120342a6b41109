/*
 * The program is a "subreaper": a process whose parent has died becomes a child
 * of the test it belongs to, or of the program when the test has ended. So a
 * daemon cannot escape from here, whatever it does to its process group.
 */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "system/run.h"

#define SHOWN_BYTES 16384

static char folder[64];

const char *run_folder(void)
{
	return folder;
}

unsigned run_workers(int i)
{
	return i == 0 ? 1 : 4;
}

TCase *run_case(Suite *suite, const char *name)
{
	TCase *tcase = tcase_create(name);

	tcase_set_timeout(tcase, RUN_TIMEOUT_S);
	suite_add_tcase(suite, tcase);
	return tcase;
}

static int is_child(pid_t pid)
{
	char path[64], state;
	int parent = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	stat = fopen(path, "re");
	if (stat == NULL)
		return 0;
	/* Names of processes that we start have neither spaces nor parentheses. */
	if (fscanf(stat, "%*d %*s %c %d", &state, &parent) != 2)
		parent = 0;
	fclose(stat);
	return parent == getpid();
}

static void kill_children(void)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	if (proc == NULL)
		return;
	while ((entry = readdir(proc)) != NULL) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && is_child(pid))
			kill(pid, SIGKILL);
	}
	closedir(proc);
}

/* Killing a master makes its workers our children, hence the loop. */
static void end_leftovers(void)
{
	for (;;) {
		pid_t pid = waitpid(-1, NULL, WNOHANG);

		if (pid < 0 && errno == ECHILD)
			return;
		if (pid == 0) {
			kill_children();
			wait_tick();
		}
	}
}

/* The end of it, for that is where the trouble is. */
static int show_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	char line[4096];
	FILE *file;

	(void)ftw;
	file = type == FTW_F && S_ISREG(st->st_mode) ? fopen(path, "re") : NULL;
	if (file == NULL)
		return 0;
	fprintf(stderr, "---- %s\n", path);
	if (st->st_size > SHOWN_BYTES)
		fseek(file, -SHOWN_BYTES, SEEK_END);
	while (fgets(line, sizeof(line), file) != NULL)
		fputs(line, stderr);
	fclose(file);
	return 0;
}

static int remove_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int run_suite(Suite *suite)
{
	const char *tmp = getenv("TMPDIR");
	SRunner *runner = srunner_create(suite);
	int n_failed;

	snprintf(folder, sizeof(folder), "%s/runnel-test-XXXXXX", tmp != NULL ? tmp : "/tmp");
	if (mkdtemp(folder) == NULL || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0) {
		perror(folder);
		return EXIT_FAILURE;
	}
	srunner_run_all(runner, CK_ENV);
	n_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	end_leftovers();
	/* The folders go even if nobody reads what is shown of them. */
	signal(SIGPIPE, SIG_IGN);
	if (n_failed > 0)
		nftw(folder, show_file, 8, FTW_PHYS);
	nftw(folder, remove_file, 8, FTW_DEPTH | FTW_PHYS);
	return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
