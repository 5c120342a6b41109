/*
 * The options of the relay's section, as they are used.
 */
#ifndef RELAY_CONF_H
#define RELAY_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <runnel/module.h>

/* How a reply finds its request. */
enum match {
	MATCH_TAG,   /* by the tag before its payload, which it has from the request */
	MATCH_ORDER, /* it is the reply to the first request of those in flight */
	MATCH_NONE,  /* there are no replies */
};

/* Constant once conf_read() has returned. */
struct conf {
	const char *upstream_name;
	int upstream;
	size_t n_backends;
	bool is_by_client; /* a client's messages go to one backend */
	enum match match;
	bool is_telling; /* of a failure, instead of closing */
	uint32_t failure_id;
	uint64_t timeout_ms;
	size_t max_in_flight; /* on a connection to a backend */
	uintptr_t max_per_client;
};

extern struct conf conf;

#define CONF_N_OPTIONS 9
extern const struct rnl_option conf_options[CONF_N_OPTIONS];

/* In configure: 0, or -1 after rnl_refuse(). */
int conf_read(struct rnl_setup *setup);

#endif
