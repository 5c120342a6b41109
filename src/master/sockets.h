/*
 * The listening sockets: for each address one SO_REUSEPORT group with at least a
 * socket for each slot. The master opens them and keeps them open while it
 * serves, over generations too, so that no connection in a queue is reset when a
 * worker goes. Process: the master.
 *
 * A group only grows: closing one of its sockets would reset what waits there. When there
 * are fewer workers than sockets, each worker accepts on several.
 */
#ifndef RUNNEL_MASTER_SOCKETS_H
#define RUNNEL_MASTER_SOCKETS_H

#include <stddef.h>

#include "base/status.h"
#include "settings/settings.h"
#include "worker/worker.h"

struct sockets;

struct sockets *sockets_new(void);

/*
 * Have a group for each address of the settings, with sockets for all their
 * workers. What is missing is opened; connections come to the added sockets of an
 * old group only after sockets_activate(). STATUS_INVALID: *why names listener
 * and address, and sockets_retain() drops what was opened.
 */
enum status sockets_prepare(
    struct sockets *sockets, const struct settings *settings, struct reason *why) MUST_CHECK;

/*
 * A socket that another master had, as its sockets_each() told. They come in the order of their
 * group. fd is ours.
 */
void sockets_inherit(struct sockets *sockets, const char *key, int fd);

/* The sockets of prepared settings, for workers. Owned by the caller; free(). */
struct worker_socket *sockets_list(
    struct sockets *sockets, const struct settings *settings, size_t *n);

/* The socket of metrics-address of prepared settings. Borrowed; -1: there is none. */
int sockets_metrics(struct sockets *sockets, const struct settings *settings);

/* The kernel may give connections to all sockets of the settings, with their options. */
enum status sockets_activate(
    struct sockets *sockets, const struct settings *settings, struct reason *why) MUST_CHECK;

/* Close the groups of addresses that the settings do not have, and what is not active. */
void sockets_retain(struct sockets *sockets, const struct settings *settings);

/* In a new worker: close those that it does not have. */
void sockets_close_others(
    const struct sockets *sockets, const struct worker_socket *own, size_t n_own);

/* Visit each active socket; key: of its group. */
typedef void sockets_visit_f(const char *key, int fd, void *arg);
void sockets_each(const struct sockets *sockets, sockets_visit_f *visit, void *arg);

void sockets_destroy(struct sockets **sockets);

#endif
