/*
 * What a master leaves to the master of another binary in an upgrade: the
 * listening sockets, the slots' pages, and a channel between the two. It goes
 * through exec as descriptors and environment variables. Process: the master.
 *
 *     RUNNEL_UPGRADE  channel pages legacy generation slots serial, decimal
 *     RUNNEL_SOCKETS  descriptor of a file in memory: "runneld sockets", their number;
 *                     a line for each: descriptor, space, key of its group
 */
#ifndef RUNNEL_MASTER_INHERITANCE_H
#define RUNNEL_MASTER_INHERITANCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "master/pages.h"
#include "master/sockets.h"

struct inheritance {
	int channel; /* to the other master; -1: this is no upgrade */
	int pages;
	int legacy;          /* what pages_leave() has given */
	uint32_t generation; /* the other's last one */
	uint32_t n_slots;    /* of the other's workers */
	uint64_t serial;     /* of connections: the other gives none beyond */
};

/*
 * In the child of the old master, before exec: write all into the environment and let the
 * descriptors pass. False: errno.
 */
bool inheritance_leave(
    const struct inheritance *inheritance, const struct sockets *sockets) MUST_CHECK;

/*
 * In the new one: read what was left, and forget the environment. Without an
 * upgrade only channel is set. STATUS_INVALID: the variables are not what a runneld leaves.
 */
enum status inheritance_take(
    struct inheritance *inheritance, struct sockets *sockets, struct reason *why) MUST_CHECK;

/* The pages of the old master, or new ones where its layout is another. */
enum status inheritance_open_pages(
    const struct inheritance *inheritance, struct pages *pages) MUST_CHECK;

#endif
