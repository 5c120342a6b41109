/*
 * Descriptors: how many connections a process can hold.
 */
#ifndef RUNNEL_WORKER_LIMITS_H
#define RUNNEL_WORKER_LIMITS_H

#include "base/status.h"
#include "settings/settings.h"

/*
 * Raise the soft limit of descriptors to the hard one, and fill in each
 * max-connections that is auto. STATUS_INVALID: the limit cannot hold a number
 * that the conf asks for; *why says which, and what to raise it to.
 */
enum status limits_apply(struct settings *settings, struct reason *why) MUST_CHECK;

#endif
