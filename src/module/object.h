/*
 * The shared object of a module, which stays loaded for the life of the process. The
 * loader knows a file by its inode and loads it once; where another module has it
 * already, a copy in memory is loaded, so that each has variables of its own.
 */
#ifndef RUNNEL_MODULE_OBJECT_H
#define RUNNEL_MODULE_OBJECT_H

#include <stdbool.h>

#include "base/status.h"

/*
 * *handle is for dlsym(). is_taken: of a handle that another module has. STATUS_INVALID: *why
 * says what is wrong with the file.
 */
enum status object_open(const char *path, bool (*is_taken)(const void *handle, const void *arg),
    const void *arg, void **handle, struct reason *why) MUST_CHECK;

#endif
