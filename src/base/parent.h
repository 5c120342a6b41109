/*
 * The process that forked this one.
 */
#ifndef RUNNEL_BASE_PARENT_H
#define RUNNEL_BASE_PARENT_H

#include <sys/types.h>

/*
 * Be killed when the parent ends, or at once when it has ended already: the kernel signals only
 * ends that come after this. parent is its pid, as it was before the fork. Later changes of the
 * user or group undo it.
 */
void parent_follow(pid_t parent);

/* Outlive it again. */
void parent_outlive(void);

#endif
