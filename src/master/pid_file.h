/*
 * The pid file: who is the master of this conf. It is locked (fcntl, which no
 * surviving child can hold) as long as the master lives, so a file that a dead
 * one left is taken over and that of a living one is not.
 */
#ifndef RUNNEL_MASTER_PID_FILE_H
#define RUNNEL_MASTER_PID_FILE_H

#include <sys/types.h>

#include "base/status.h"

/* Create or take over, lock, and write this process's pid. *fd keeps the lock; the caller's. */
enum status pid_file_open(const char *path, int *fd, struct reason *why) MUST_CHECK;

/* Who holds the file at path: *pid, 0 when nobody does or there is none. */
enum status pid_file_holder(const char *path, pid_t *pid, struct reason *why) MUST_CHECK;

/* Remove the file and give up the lock. */
void pid_file_remove(const char *path, int fd);

#endif
