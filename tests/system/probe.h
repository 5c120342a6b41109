/*
 * Talking to the module "probe"; system/modules/probe.h says what it can do.
 */
#ifndef TESTS_SYSTEM_PROBE_CLIENT_H
#define TESTS_SYSTEM_PROBE_CLIENT_H

#include <stdint.h>

#include "system/modules/probe.h"

/* The module's section of a conf, with options; the name of a shared object in its path. */
#define PROBE_PATH TEST_MODULES "/probe.so"
#define PROBE_SECTION "module probe { path = \"" PROBE_PATH "\" }\n"

#define PROBE_TEXT_SIZE 512

/* A connection as the module sees it. */
struct identity {
	uint64_t id;
	unsigned worker;
	char peer[64], listener[64];
};

/* Send a command with n words of u32. */
void probe_send(int fd, uint32_t command, unsigned n, ...);

/* A u64 as two words of probe_send(). */
#define PROBE_ID(id) (uint32_t)((id) >> 32), (uint32_t)(id)

/* Receive the answer PROBE_RESULT. */
uint32_t probe_result(int fd);

/* Receive a text that answers command. Returns text. */
const char *probe_text(int fd, uint32_t command, char text[PROBE_TEXT_SIZE]);

struct identity probe_who(int fd);

/* A connection to a given worker: others that come up on the way are closed again. */
int probe_connect_to_worker(uint16_t port, unsigned worker);

#endif
