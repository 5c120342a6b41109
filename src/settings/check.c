#include "config.h"

#include <netinet/in.h>
#include <string.h>

#include "base/log.h"
#include "base/units.h"

#include "settings/address.h"
#include "settings/check.h"
#include "settings/check_framing.h"
#include "settings/outline.h"
#include "settings/settings.h"

/* What a queued message takes beyond its payload, at most. */
#define MESSAGE_OVERHEAD 64u

/* All borrowed. */
struct checker {
	const struct outline *outline;
	const struct settings *settings;
	struct reason *why;
};

#define REFUSE_KEY(checker, place, key, ...) \
	outline_refuse((checker)->outline, (place), (key), (checker)->why, __VA_ARGS__)

static const struct outline_section *listener_section(
    const struct checker *checker, const struct listen_settings *listener)
{
	return outline_section(checker->outline, OPTION_LISTEN, listener->name);
}

static bool has_name(char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(names[i], name) == 0)
			return true;
	}
	return false;
}

/* Port 0: a listener gets one of its own from the kernel. */
static bool has_no_port(const char *address)
{
	return !address_is_unix(address) && strcmp(strrchr(address, ':'), ":0") == 0;
}

static enum status check_modules(struct checker *checker, const struct outline_section *place,
    const struct listen_settings *settings)
{
	for (size_t i = 0; i < settings->n_modules; i++) {
		const char *name = settings->modules[i];

		if (settings_module(checker->settings, name) == NULL)
			return REFUSE_KEY(checker, place, "modules",
			    "there is no section for '%s'; add: module %s { }", name, name);
		if (has_name(settings->modules, i, name))
			return REFUSE_KEY(
			    checker, place, "modules", "'%s' stands there twice", name);
	}
	return STATUS_OK;
}

static enum status check_queue(struct checker *checker, const struct outline_section *place,
    const struct listen_settings *settings)
{
	uint64_t memory = checker->settings->worker_send_memory;
	uint64_t least = (uint64_t)settings->max_message + MESSAGE_OVERHEAD;
	char bytes[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];

	units_format_size(settings->send_queue_bytes, bytes);
	if (settings->send_queue_bytes < least)
		return REFUSE_KEY(checker, place, "send-queue-bytes",
		    "%s hold no message of max-message bytes; give at least %s", bytes,
		    units_format_size((int64_t)least, limit));
	if (settings->send_queue_bytes > memory)
		return REFUSE_KEY(checker, place, "send-queue-bytes",
		    "%s are more than worker-send-memory, which is %s", bytes,
		    units_format_size((int64_t)memory, limit));
	return STATUS_OK;
}

/* What a listen and a connect section have in common. */
static enum status check_common(struct checker *checker, const struct outline_section *place,
    const struct listen_settings *settings)
{
	/* Texts of equal addresses are equal, for the loader has written them. */
	for (size_t i = 0; i < settings->n_addresses; i++) {
		const char *address = settings->addresses[i];

		if (!has_no_port(address) && has_name(settings->addresses, i, address))
			return REFUSE_KEY(
			    checker, place, "address", "'%s' stands there twice", address);
	}
	if (check_modules(checker, place, settings) != STATUS_OK ||
	    settings_check_framing(checker->outline, place, settings, checker->why) !=
		STATUS_OK)
		return STATUS_INVALID;
	return check_queue(checker, place, settings);
}

/* No earlier listener has its address. */
static enum status check_address(
    struct checker *checker, const struct listen_settings *listener, const char *address)
{
	const struct listen_settings *other = checker->settings->listeners;

	for (; other < listener && !has_no_port(address); other++) {
		if (has_name(other->addresses, other->n_addresses, address))
			return REFUSE_KEY(checker, listener_section(checker, listener),
			    "address", "'%s' is taken by listen '%s' in line %u", address,
			    other->name,
			    outline_key(listener_section(checker, other), "address")->line);
	}
	return STATUS_OK;
}

static enum status check_listener(
    struct checker *checker, const struct listen_settings *listener)
{
	for (size_t i = 0; i < listener->n_addresses; i++) {
		if (check_address(checker, listener, listener->addresses[i]) != STATUS_OK)
			return STATUS_INVALID;
	}
	return check_common(checker, listener_section(checker, listener), listener);
}

static enum status check_upstream(
    struct checker *checker, const struct connect_settings *upstream)
{
	const struct listen_settings *common = &upstream->common;
	const struct outline_section *place =
	    outline_section(checker->outline, OPTION_CONNECT, common->name);

	for (size_t i = 0; i < common->n_addresses; i++) {
		if (has_no_port(common->addresses[i]))
			return REFUSE_KEY(checker, place, "address",
			    "'%s' has no port to connect to", common->addresses[i]);
	}
	if (upstream->reconnect_min_ms > upstream->reconnect_max_ms)
		return REFUSE_KEY(
		    checker, place, "reconnect-min", "it is more than reconnect-max");
	return check_common(checker, place, common);
}

/* Each of the workers is bound, or none. */
static enum status check_cpus(struct checker *checker)
{
	const struct settings *settings = checker->settings;

	for (size_t i = 0; settings->n_worker_cpus > 1 && i < settings->n_worker_cpus; i++) {
		if (strspn(settings->worker_cpus[i], "0123456789") == 0)
			return outline_refuse(checker->outline, &checker->outline->sections[0],
			    "worker-cpu-affinity", checker->why,
			    "'%s' stands alone or not at all", settings->worker_cpus[i]);
	}
	return STATUS_OK;
}

#define HOST_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"

static enum status check_metrics_hosts(struct checker *checker)
{
	const struct settings *settings = checker->settings;

	for (size_t i = 0; i < settings->n_metrics_hosts; i++) {
		const char *host = settings->metrics_hosts[i];
		bool is_none = host[0] == '\0' && settings->n_metrics_hosts == 1;

		if (!is_none && (host[0] == '\0' || host[strspn(host, HOST_BYTES)] != '\0'))
			return REFUSE_KEY(checker, &checker->outline->sections[0],
			    "metrics-hosts",
			    "'%.60s' is refused; give names of this host, without a port",
			    host);
	}
	return STATUS_OK;
}

static enum status check_metrics(struct checker *checker)
{
	const struct outline_section *global = &checker->outline->sections[0];
	const char *address = checker->settings->metrics_address;

	if (check_metrics_hosts(checker) != STATUS_OK)
		return STATUS_INVALID;
	if (address[0] == '\0')
		return STATUS_OK;
#ifndef HAVE_HTTP
	return REFUSE_KEY(checker, global, "metrics-address",
	    "this runneld was built without HTTP: install libmicrohttpd-dev and build it "
	    "anew (configure --with-http), or do not set it");
#endif
	for (size_t i = 0; i < checker->settings->n_listeners; i++) {
		const struct listen_settings *other = &checker->settings->listeners[i];

		if (!has_no_port(address) &&
		    has_name(other->addresses, other->n_addresses, address))
			return REFUSE_KEY(checker, global, "metrics-address",
			    "'%s' is taken by listen '%s' in line %u", address, other->name,
			    outline_key(listener_section(checker, other), "address")->line);
	}
	return STATUS_OK;
}

enum status settings_check(
    const struct outline *outline, const struct settings *settings, struct reason *why)
{
	struct checker checker = {
		.outline = outline,
		.settings = settings,
		.why = why,
	};

	if (check_cpus(&checker) != STATUS_OK)
		return STATUS_INVALID;
	if (settings->n_listeners == 0)
		return reason_set(
		    why, "%s: no listen section; add one, see runnel.conf(5)", outline->path);
	for (size_t i = 0; i < settings->n_listeners; i++) {
		if (check_listener(&checker, &settings->listeners[i]) != STATUS_OK)
			return STATUS_INVALID;
	}
	for (size_t i = 0; i < settings->n_upstreams; i++) {
		if (check_upstream(&checker, &settings->upstreams[i]) != STATUS_OK)
			return STATUS_INVALID;
	}
	return check_metrics(&checker);
}

static bool is_used(const struct settings *settings, const char *module)
{
	for (size_t i = 0; i < settings->n_listeners; i++) {
		const struct listen_settings *listener = &settings->listeners[i];

		if (has_name(listener->modules, listener->n_modules, module))
			return true;
	}
	for (size_t i = 0; i < settings->n_upstreams; i++) {
		const struct listen_settings *common = &settings->upstreams[i].common;

		if (has_name(common->modules, common->n_modules, module))
			return true;
	}
	return false;
}

static bool is_beaten_late(const struct listen_settings *listener)
{
	return listener->heartbeat_interval_ms != 0 && listener->heartbeat_timeout_ms != 0 &&
	       listener->heartbeat_timeout_ms <= listener->heartbeat_interval_ms;
}

static bool is_loopback(const char *text)
{
	struct sockaddr_storage address;
	socklen_t len;

	if (address_parse(text, &address, &len) != STATUS_OK)
		return false;
	if (address.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(
		    &((const struct sockaddr_in6 *)(const void *)&address)->sin6_addr);
	return (ntohl(((const struct sockaddr_in *)(const void *)&address)->sin_addr.s_addr) >>
		   24) == IN_LOOPBACKNET;
}

static void warn_of_metrics(const struct outline *outline, const struct settings *settings)
{
	const char *address = settings->metrics_address;

	if (address[0] != '\0' && !is_loopback(address))
		log_warn("%s:%u: metrics-address: whoever can reach %s can read it: nobody is "
			 "asked for a password there",
		    outline->path, outline_key(&outline->sections[0], "metrics-address")->line,
		    address);
}

/* kind: of the section, listen or connect. */
static void warn_of_heartbeats(const struct outline *outline, enum option_section kind,
    const struct listen_settings *listener)
{
	if (is_beaten_late(listener))
		log_warn("%s:%u: %s '%s': heartbeat-timeout is not longer than "
			 "heartbeat-interval: a peer that answers heartbeats is closed "
			 "before it can",
		    outline->path, outline_section(outline, kind, listener->name)->line,
		    option_section_name(kind), listener->name);
}

void settings_warn(const struct outline *outline, const struct settings *settings)
{
	warn_of_metrics(outline, settings);
	for (size_t i = 0; i < settings->n_listeners; i++)
		warn_of_heartbeats(outline, OPTION_LISTEN, &settings->listeners[i]);
	for (size_t i = 0; i < settings->n_upstreams; i++)
		warn_of_heartbeats(outline, OPTION_CONNECT, &settings->upstreams[i].common);
	for (size_t i = 0; i < settings->n_modules; i++) {
		const char *name = settings->modules[i].name;

		if (!is_used(settings, name))
			log_warn("%s:%u: module '%s': no listener has it", outline->path,
			    outline_section(outline, OPTION_MODULE, name)->line, name);
	}
}
