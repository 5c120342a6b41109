/*
 * The command status: once, or again and again.
 */
#ifndef RUNNEL_CTL_STATUS_H
#define RUNNEL_CTL_STATUS_H

#include "ctl/options.h"

int status_run(const struct options *options, const char *socket);

#endif
