/*
 * A descriptor that goes along with a message over a Unix socket (SCM_RIGHTS, see
 * unix(7)).
 */
#ifndef RUNNEL_IO_PASSING_H
#define RUNNEL_IO_PASSING_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Send len bytes, and the descriptor `passed`, which stays the caller's too; -1:
 * none. Returns what sendmsg(2) does; EINTR is handled.
 */
ssize_t passing_send(int to, const void *bytes, size_t len, int passed);

/*
 * Receive up to size bytes. *passed is the descriptor that came along, the
 * caller's now and close-on-exec; -1: none, or the process had no place for it. An
 * end that died with unread messages is told once, before what it has sent: that is
 * passed over here.
 */
ssize_t passing_receive(int from, void *bytes, size_t size, int *passed);

#endif
