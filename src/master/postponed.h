/*
 * Options that a reload does not put in force: what only one daemon can have is taken once.
 * Process: the master.
 */
#ifndef RUNNEL_MASTER_POSTPONED_H
#define RUNNEL_MASTER_POSTPONED_H

#include <jansson.h>

#include "settings/settings.h"

struct master;

/* A line for people about each option that these settings change in vain: log them. */
void postponed_warn(const struct master *master, const struct settings *settings);

/* Likewise, as "warnings", an array of texts, put into object; without any, there is none. */
void postponed_tell(
    const struct master *master, const struct settings *settings, json_t *object);

#endif
