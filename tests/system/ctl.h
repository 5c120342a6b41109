/*
 * runnelctl as tests run it, against a daemon with a control socket.
 */
#ifndef TESTS_SYSTEM_CTL_H
#define TESTS_SYSTEM_CTL_H

#include "system/daemon.h"

#define CTL_PROGRAM BUILD_DIR "/runnelctl"
#define CTL_PATH_SIZE 160

/* A daemon that echoes on a listener main, with a control socket. */
struct daemon *ctl_daemon(unsigned n_workers);

/* Put text to the end of its conf. */
void ctl_append(const struct daemon *daemon, const char *text);

/* The path of a file in the daemon's folder; the socket is "sock". Returns path. */
const char *ctl_path(const struct daemon *daemon, const char *name, char path[CTL_PATH_SIZE]);

/* runnelctl -c CONF with these words, at spaces; returns its exit status. */
int ctl_run(const struct daemon *daemon, const char *words);

/* What it said, on both its streams, until the next call. */
const char *ctl_said(struct daemon *daemon);

void ctl_expect_said(struct daemon *daemon, const char *text);

#define ctl_expect(daemon, words, status)                                            \
	do {                                                                         \
		int ctl_status = ctl_run((daemon), (words));                         \
		ck_assert_msg(ctl_status == (status), "%s: %d, not %d: %s", (words), \
		    ctl_status, (status), ctl_said(daemon));                         \
	} while (0)

#endif
