/*
 * The verbs conns and kick: connections, as a census has found them. Process: the
 * master.
 */
#ifndef RUNNEL_MASTER_CONNS_H
#define RUNNEL_MASTER_CONNS_H

#include "master/control.h"

/* Keys of the requests, each ending in NULL. */
extern const char *const conns_keys[];
extern const char *const kick_keys[];

/* control_verb.act, with the master as arg. */
void conns_list(struct control_request *request, void *arg);
void conns_kick(struct control_request *request, void *arg);

#endif
