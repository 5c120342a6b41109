/*
 * The framings of listeners: runneld's own, with the listener's parameters, and those
 * that modules supply. What a module's framing answers is checked here.
 */
#ifndef RUNNEL_MODULE_FRAMINGS_H
#define RUNNEL_MODULE_FRAMINGS_H

#include <stdbool.h>

#include <runnel/module.h>

#include "base/status.h"
#include "module/modules.h"
#include "settings/settings.h"
#include "wire/framing.h"
#include "wire/htlv_crc.h"
#include "wire/length_field.h"
#include "wire/line.h"

/* Room for a framing that has parameters. */
union framing_room {
	struct htlv_crc htlv_crc;
	struct length_field length_field;
	struct line line;
};

/*
 * The framing that the settings of a section of that kind, "listen" or "connect", name, made in
 * *room where it has parameters. Modules
 * must be configured. STATUS_INVALID: there is none, or two; *why says so, with the place.
 */
enum status framing_find(const char *kind, const struct listen_settings *settings,
    const struct modules *modules, union framing_room *room, const struct framing **framing,
    struct reason *why) MUST_CHECK;

/* See rnl_add_framing(). */
enum rnl_status module_framing_add(struct module *module, const struct rnl_framing *api);

/* All of a module. */
void module_framings_free(struct module *module);

#endif
