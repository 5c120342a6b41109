#include <string.h>

#include "conf.h"
#include "requests.h"

struct conf conf;

const struct rnl_option conf_options[CONF_N_OPTIONS] = {
	{ "upstream", RNL_STRING, NULL, 0, 0, "the connect section of the backends" },
	{ "ids", RNL_STRING, "0-4294967295", 0, 0, "the messages that are passed on" },
	{ "spread", RNL_STRING, "message", 0, 0,
	    "message: each goes to the next backend; client: a client's all go to one" },
	{ "match", RNL_STRING, "tag", 0, 0,
	    "how replies find their clients: tag, order or none" },
	{ "reply-timeout", RNL_DURATION, "10s", 1, 86400000, "a reply is late after so long" },
	{ "max-in-flight", RNL_NUMBER, "1024", 1, 1048576,
	    "requests in flight on a connection to a backend" },
	{ "max-per-client", RNL_NUMBER, "64", 1, 1048576,
	    "requests in flight of a client; it is not read meanwhile" },
	{ "on-failure", RNL_STRING, "close", 0, 0,
	    "what happens to the client of a request without reply: close or tell" },
	{ "failure-id", RNL_NUMBER, "4294967295", 0, UINT32_MAX,
	    "the id of the message that tells of a failure" },
};

/* One of the words of an option, by its index; -1 after a refusal. */
static int read_word(
    struct rnl_setup *setup, const char *name, const char *const words[], const char *all)
{
	const char *value = rnl_option_string(setup, name);

	for (int i = 0; words[i] != NULL; i++) {
		if (strcmp(words[i], value) == 0)
			return i;
	}
	return rnl_refuse(setup, "%s: '%s' is refused; give %s", name, value, all);
}

static int find_upstream(struct rnl_setup *setup)
{
	conf.upstream_name = rnl_option_string(setup, "upstream");
	conf.upstream = rnl_upstream_find(setup, conf.upstream_name, &conf.n_backends);
	if (conf.upstream < 0)
		return rnl_refuse(setup,
		    "upstream: there is no section connect %s whose modules list this one",
		    conf.upstream_name);
	return 0;
}

/* A tag may have any bytes; those of a framing that a module supplies are its own affair. */
static int check_framing(struct rnl_setup *setup)
{
	if (conf.match == MATCH_TAG &&
	    strcmp(rnl_upstream_framing(setup, conf.upstream), "line") == 0)
		return rnl_refuse(setup,
		    "connect %s: framing = line: a line has no place for the tag of match = "
		    "tag; give match = order or none, or another framing",
		    conf.upstream_name);
	return 0;
}

/* A message of a client that is too long for a backend fails: it would end the connection. */
static int check_limits(struct rnl_setup *setup)
{
	size_t tag = conf.match == MATCH_TAG ? REQUEST_TAG_SIZE : 0;
	size_t most = rnl_upstream_max_message(setup, conf.upstream);

	if (most < tag)
		return rnl_refuse(setup,
		    "connect %s: max-message: %zu bytes are less than the tag of match = tag "
		    "has; give %zu and what the messages have",
		    conf.upstream_name, most, tag);
	if (rnl_max_message(setup) > most - tag)
		rnl_log(RNL_LOG_WARN,
		    "connect %s: max-message = %zu: messages of more than %zu bytes are not "
		    "passed on; let the max-message of listeners be so much at most",
		    conf.upstream_name, most, most - tag);
	return 0;
}

int conf_read(struct rnl_setup *setup)
{
	static const char *const spreads[] = { "message", "client", NULL };
	static const char *const matches[] = { "tag", "order", "none", NULL };
	static const char *const failures[] = { "close", "tell", NULL };
	int spread = read_word(setup, "spread", spreads, "message or client");
	int match = read_word(setup, "match", matches, "tag, order or none");
	int failure = read_word(setup, "on-failure", failures, "close or tell");

	if (spread < 0 || match < 0 || failure < 0)
		return -1;
	conf.is_by_client = spread == 1;
	conf.match = (enum match)match;
	conf.is_telling = failure == 1;
	conf.failure_id = (uint32_t)rnl_option_number(setup, "failure-id");
	conf.timeout_ms = (uint64_t)rnl_option_number(setup, "reply-timeout");
	conf.max_in_flight = (size_t)rnl_option_number(setup, "max-in-flight");
	conf.max_per_client = (uintptr_t)rnl_option_number(setup, "max-per-client");
	if (find_upstream(setup) < 0 || check_framing(setup) < 0)
		return -1;
	return check_limits(setup);
}
