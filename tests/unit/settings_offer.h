/*
 * What the tests of settings share: modules that exist in name only, and loading
 * with them.
 */
#ifndef RUNNEL_TESTS_SETTINGS_OFFER_H
#define RUNNEL_TESTS_SETTINGS_OFFER_H

#include <check.h>

#include <runnel/module.h>

#include "settings/settings.h"

#define N_OF(array) ((int)(sizeof(array) / sizeof((array)[0])))

/* Sections that are complete. */
#define MAIN "listen main { address = \"127.0.0.1:1\" modules = c10k }\n"
#define C10K "module c10k { }\n"

/* Of module game; c10k and echo have none. */
#define GAME_N_OPTIONS 8
extern const struct rnl_option game_options[GAME_N_OPTIONS];

/* A settings_find_f. arg: NULL, or the count of calls. */
enum status offer(const struct module_settings *module, const struct rnl_option **list,
    size_t *n, struct reason *why, void *arg);

/* Load a text that is called t.conf. */
struct settings *load(const char *text);
void refuse(const char *text, const char *reason);

/* In settings_bad.c. */
TCase *settings_bad_case(void);

/* In settings_marks.c. */
TCase *settings_marks_case(void);

/* In settings_peek.c. */
TCase *settings_peek_case(void);

/* In settings_cpus.c. */
TCase *settings_cpus_case(void);

/* In settings_framings.c: a conf with no option of a framing at its default, and the tests. */
extern const char settings_of_framings[];
TCase *settings_framings_case(void);

#endif
