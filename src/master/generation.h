/*
 * A generation: a conf, and the workers that run on it. Process: the master.
 */
#ifndef RUNNEL_MASTER_GENERATION_H
#define RUNNEL_MASTER_GENERATION_H

#include <ev.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/status.h"
#include "master/crew.h"
#include "settings/settings.h"

struct generation {
	struct link link; /* endings.list */
	uint32_t number;
	char *conf_text;           /* normalised; owned, like all below */
	struct settings *settings; /* workers: those that it has, whatever the conf says */
	struct privileges privileges;
	struct worker_socket *sockets;
	size_t n_sockets;
	struct crew *crew; /* NULL: not started yet */
	bool is_hurried;   /* its time to end was cut short */
	uint64_t since_ms; /* it serves; 0: not yet */
	ev_timer end;      /* of its time to end */
};

/*
 * A generation of a normalised conf (owned from now on, also on failure);
 * n_workers 0: as many workers as the conf says. STATUS_INVALID: the limit of
 * descriptors does not hold it, or the text is no conf of this program.
 */
enum status generation_new(uint32_t number, const char *conf_path, char *conf_text,
    unsigned int n_workers, struct generation **generation, struct reason *why) MUST_CHECK;

/* None of its workers may be left. */
void generation_destroy(struct generation **generation);

#endif
