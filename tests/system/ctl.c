#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "system/ctl.h"
#include "system/process.h"

#define MAX_WORDS 6

const char *ctl_path(const struct daemon *daemon, const char *name, char path[CTL_PATH_SIZE])
{
	snprintf(path, CTL_PATH_SIZE, "%s/%s", daemon->folder, name);
	return path;
}

void ctl_append(const struct daemon *daemon, const char *text)
{
	FILE *file = fopen(daemon->conf, "ae");

	ck_assert_ptr_nonnull(file);
	fputs(text, file);
	fclose(file);
}

struct daemon *ctl_daemon(unsigned n_workers)
{
	struct daemon *daemon = daemon_new(n_workers,
	    "module echo { }\n"
	    "listen main { address = \"127.0.0.1:%u\" modules = { echo } }\n",
	    0);
	char text[256], path[CTL_PATH_SIZE];

	snprintf(
	    text, sizeof(text), "control-socket = \"%s\"\n", ctl_path(daemon, "sock", path));
	ctl_append(daemon, text);
	return daemon;
}

int ctl_run(const struct daemon *daemon, const char *words)
{
	char said[CTL_PATH_SIZE], copy[128], *word[MAX_WORDS + 1] = { NULL }, *rest;
	int n = 0;

	unlink(ctl_path(daemon, "said", said));
	snprintf(copy, sizeof(copy), "%s", words);
	for (char *at = strtok_r(copy, " ", &rest); at != NULL;
	     at = strtok_r(NULL, " ", &rest)) {
		ck_assert_int_lt(n, MAX_WORDS);
		word[n++] = at;
	}
	return process_run(CTL_PROGRAM, said, "runnelctl", "-c", daemon->conf, word[0], word[1],
	    word[2], word[3], word[4], word[5], NULL);
}

const char *ctl_said(struct daemon *daemon)
{
	char path[CTL_PATH_SIZE];

	return daemon_read(daemon, ctl_path(daemon, "said", path));
}

void ctl_expect_said(struct daemon *daemon, const char *text)
{
	const char *all = ctl_said(daemon);

	ck_assert_msg(strstr(all, text) != NULL, "no '%s' in: %s", text, all);
}
