/*
 * A normalised conf for people: each option that is not at its default says so.
 *
 *     max-message = 8k # default: 4096
 */
#ifndef RUNNEL_SETTINGS_MARKS_H
#define RUNNEL_SETTINGS_MARKS_H

#include <stdio.h>

/*
 * Copy text, which settings_dump() wrote, with these marks. It is still a conf that means the
 * same. Options of modules, and those that have no default, are not marked.
 */
void marks_print(const char *text, FILE *out);

#endif
