/*
 * What is shown again and again: on a terminal each text in the place of the one
 * before, on a screen of its own that is taken away when the program is ended or
 * stopped by a signal; elsewhere one after the other.
 */
#ifndef RUNNEL_CTL_SCREEN_H
#define RUNNEL_CTL_SCREEN_H

#include <stdbool.h>

/* Standard output is shown on. is_plain: even if it is a terminal. */
void screen_open(bool is_plain);

/* Lines. On a terminal, those that it has no room for are left out. */
void screen_show(const char *text);

#endif
