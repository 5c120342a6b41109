/*
 * The connections' descriptors, in an epoll set of their own which the loop
 * watches as one descriptor. Events are handed on in the order in which they
 * came, in batches between which everything else in the loop has its turn, and
 * cost no bookkeeping for each descriptor in user space.
 */
#ifndef RUNNEL_IO_POLLER_H
#define RUNNEL_IO_POLLER_H

#include <ev.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "base/status.h"

struct poller;

/* Its watcher's: when the loop wakes, events come before all that has a lower priority. */
#define POLLER_PRIORITY (EV_MAXPRI - 1)

/*
 * What an epoll_event says: owner is what poller_add() was given. It may remove any descriptor
 * but free no owner.
 */
typedef void poller_event_f(void *owner, uint32_t events);

/* STATUS_NOMEM, STATUS_ERRNO. */
enum status poller_new(
    struct ev_loop *loop, poller_event_f *on_event, struct poller **poller) MUST_CHECK;

/*
 * Level-triggered: EPOLLIN, EPOLLOUT or both; errors and hang-ups are always reported.
 * STATUS_ERRNO.
 */
enum status poller_add(struct poller *poller, int fd, uint32_t events, void *owner) MUST_CHECK;
enum status poller_change(
    struct poller *poller, int fd, uint32_t events, void *owner) MUST_CHECK;

/* Before the descriptor is closed. */
void poller_remove(struct poller *poller, int fd);

void poller_destroy(struct poller **poller);

#endif
