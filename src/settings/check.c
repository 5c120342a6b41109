#include "config.h"

#include <string.h>

#include "base/log.h"
#include "base/units.h"

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

#define REFUSE_KEY(checker, listener, key, ...)                                            \
	outline_refuse((checker)->outline, listener_section((checker), (listener)), (key), \
	    (checker)->why, __VA_ARGS__)

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

static enum status check_modules(
    struct checker *checker, const struct listen_settings *listener)
{
	for (size_t i = 0; i < listener->n_modules; i++) {
		const char *name = listener->modules[i];

		if (settings_module(checker->settings, name) == NULL)
			return REFUSE_KEY(checker, listener, "modules",
			    "there is no section for '%s'; add: module %s { }", name, name);
		if (has_name(listener->modules, i, name))
			return REFUSE_KEY(
			    checker, listener, "modules", "'%s' stands there twice", name);
	}
	return STATUS_OK;
}

/* Texts of equal addresses are equal, for the loader has written them. */
static enum status check_address(
    struct checker *checker, const struct listen_settings *listener, size_t index)
{
	const struct listen_settings *other = checker->settings->listeners;
	const char *address = listener->addresses[index];

	/* The kernel gives each its own port. */
	if (strcmp(strrchr(address, ':'), ":0") == 0)
		return STATUS_OK;
	if (has_name(listener->addresses, index, address))
		return REFUSE_KEY(
		    checker, listener, "address", "'%s' stands there twice", address);
	for (; other < listener; other++) {
		if (has_name(other->addresses, other->n_addresses, address))
			return REFUSE_KEY(checker, listener, "address",
			    "'%s' is taken by listen '%s' in line %u", address, other->name,
			    outline_key(listener_section(checker, other), "address")->line);
	}
	return STATUS_OK;
}

static enum status check_addresses(
    struct checker *checker, const struct listen_settings *listener)
{
	for (size_t i = 0; i < listener->n_addresses; i++) {
		if (check_address(checker, listener, i) != STATUS_OK)
			return STATUS_INVALID;
	}
	return STATUS_OK;
}

static enum status check_queue(struct checker *checker, const struct listen_settings *listener)
{
	uint64_t memory = checker->settings->worker_send_memory;
	uint64_t least = (uint64_t)listener->max_message + MESSAGE_OVERHEAD;
	char bytes[UNITS_TEXT_SIZE], limit[UNITS_TEXT_SIZE];

	units_format_size(listener->send_queue_bytes, bytes);
	if (listener->send_queue_bytes < least)
		return REFUSE_KEY(checker, listener, "send-queue-bytes",
		    "%s hold no message of max-message bytes; give at least %s", bytes,
		    units_format_size((int64_t)least, limit));
	if (listener->send_queue_bytes > memory)
		return REFUSE_KEY(checker, listener, "send-queue-bytes",
		    "%s are more than worker-send-memory, which is %s", bytes,
		    units_format_size((int64_t)memory, limit));
	return STATUS_OK;
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
		const struct listen_settings *listener = &settings->listeners[i];

		if (check_modules(&checker, listener) != STATUS_OK ||
		    check_addresses(&checker, listener) != STATUS_OK ||
		    settings_check_framing(outline, listener, why) != STATUS_OK ||
		    check_queue(&checker, listener) != STATUS_OK)
			return STATUS_INVALID;
	}
	return STATUS_OK;
}

static bool is_used(const struct settings *settings, const char *module)
{
	for (size_t i = 0; i < settings->n_listeners; i++) {
		const struct listen_settings *listener = &settings->listeners[i];

		if (has_name(listener->modules, listener->n_modules, module))
			return true;
	}
	return false;
}

static bool is_beaten_late(const struct listen_settings *listener)
{
	return listener->heartbeat_interval_ms != 0 && listener->heartbeat_timeout_ms != 0 &&
	       listener->heartbeat_timeout_ms <= listener->heartbeat_interval_ms;
}

void settings_warn(const struct outline *outline, const struct settings *settings)
{
	for (size_t i = 0; i < settings->n_listeners; i++) {
		const char *name = settings->listeners[i].name;

		if (is_beaten_late(&settings->listeners[i]))
			log_warn("%s:%u: listen '%s': heartbeat-timeout is not longer than "
				 "heartbeat-interval: a peer that answers heartbeats is closed "
				 "before it can",
			    outline->path, outline_section(outline, OPTION_LISTEN, name)->line,
			    name);
	}
	for (size_t i = 0; i < settings->n_modules; i++) {
		const char *name = settings->modules[i].name;

		if (!is_used(settings, name))
			log_warn("%s:%u: module '%s': no listener has it", outline->path,
			    outline_section(outline, OPTION_MODULE, name)->line, name);
	}
}
