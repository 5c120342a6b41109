#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "base/memory.h"
#include "io/endpoint.h"
#include "io/listen.h"
#include "master/activation.h"
#include "master/sockets.h"
#include "settings/address.h"
#include "settings/value.h"

struct group {
	struct link link;
	char *key; /* see make_key() */
	struct sockaddr_storage addr;
	socklen_t len;
	int *fds; /* owned; the first n_active listen */
	unsigned int n_fds, n_active;
	bool is_inherited; /* the first was opened by the service manager */
	bool is_claimed;   /* by an address of the settings that are being looked at */
};

struct sockets {
	struct link groups;
};

struct sockets *sockets_new(void)
{
	struct sockets *sockets = must_alloc(1, sizeof(*sockets));

	list_init(&sockets->groups);
	return sockets;
}

/* What metrics-address has of a listener. It has no name, and one socket. */
static const struct listen_settings metrics_listener;

#define METRICS "metrics-address"

#define SETTING_SIZE (VALUE_MAX_NAME + 16)

/*
 * What a group is known by over generations: its address; where the kernel
 * chooses the port that does not tell which it is, so the listener's name too.
 * Name NULL: it is where metrics are served; no worker accepts there.
 */
static char *make_key(const char *listener, const char *address)
{
	size_t len = strlen(address);

	if (listener == NULL)
		return must_printf(METRICS ": %s", address);
	if (len > 2 && strcmp(address + len - 2, ":0") == 0)
		return must_printf("%s %s", listener, address);
	return must_strdup(address);
}

static void unclaim_all(struct sockets *sockets)
{
	struct link *link;

	list_foreach(link, &sockets->groups)
		container_of(link, struct group, link)->is_claimed = false;
}

/* The group of an address; NULL: there is none that is not claimed. */
static struct group *claim(struct sockets *sockets, const char *listener, const char *address)
{
	char *key = make_key(listener, address);
	struct group *found = NULL;
	struct link *link;

	list_foreach(link, &sockets->groups) {
		struct group *group = container_of(link, struct group, link);

		if (found == NULL && !group->is_claimed && strcmp(group->key, key) == 0)
			found = group;
	}
	if (found != NULL)
		found->is_claimed = true;
	free(key);
	return found;
}

static struct group *group_new(struct sockets *sockets, char *key)
{
	struct group *group = must_alloc(1, sizeof(*group));

	group->key = key;
	group->fds = must_alloc(SETTINGS_MAX_WORKERS, sizeof(*group->fds));
	list_append(&sockets->groups, &group->link);
	return group;
}

static void group_cut(struct group *group, unsigned int n)
{
	while (group->n_fds > n)
		close(group->fds[--group->n_fds]);
}

static void group_destroy(struct group *group)
{
	group_cut(group, 0);
	list_remove(&group->link);
	free(group->fds);
	free(group->key);
	free(group);
}

static struct socket_options options_of(const struct listen_settings *listen)
{
	return (struct socket_options){
		.notsent_lowat = listen->tcp_notsent_lowat,
		.user_timeout_ms = listen->tcp_user_timeout_ms,
		.send_buffer = listen->socket_send_buffer,
		.receive_buffer = listen->socket_receive_buffer,
	};
}

static uint16_t port_of(const struct sockaddr_storage *addr)
{
	struct endpoint endpoint;

	endpoint_set(&endpoint, addr);
	return endpoint.port;
}

/* Do we listen on the port already, at another address that may overlap? */
static bool has_port(const struct sockets *sockets, const struct sockaddr_storage *addr)
{
	struct link *link;

	list_foreach(link, &sockets->groups) {
		const struct group *group = container_of(link, struct group, link);

		if (group->n_active > 0 && group->addr.ss_family == addr->ss_family &&
		    port_of(&group->addr) == port_of(addr))
			return true;
	}
	return false;
}

/* The first socket of a new group was there before us. */
static enum status take_first(struct group *group, int fd, const struct socket_options *options)
{
	group->is_inherited = true;
	group->fds[0] = fd;
	group->n_fds = group->n_active = 1;
	return listen_take_over(fd, options);
}

static enum status grow(
    struct group *group, const struct socket_options *options, unsigned int n)
{
	while (group->n_fds < n) {
		enum status status =
		    listen_join(&group->addr, group->len, options, &group->fds[group->n_fds]);

		if (status != STATUS_OK)
			return status;
		group->n_fds++;
	}
	return STATUS_OK;
}

/* The first socket of a new group. */
static enum status open_first(struct sockets *sockets, struct group *group, const char *address,
    const struct socket_options *options)
{
	enum status status = address_parse(address, &group->addr, &group->len);
	int inherited;

	if (status != STATUS_OK)
		return status;
	inherited = activation_take(&group->addr);
	if (inherited >= 0)
		return take_first(group, inherited, options);
	/* The kernel would prefer the more exact of two addresses at once: it has to wait. */
	if (has_port(sockets, &group->addr))
		return grow(group, options, 1);
	status = listen_open(&group->addr, group->len, options, &group->fds[0]);
	if (status == STATUS_OK)
		group->n_fds = group->n_active = 1;
	return status;
}

/* "listen 'main'": which setting of the conf it is about. Returns buf. */
static const char *setting_of(const struct listen_settings *listen, char buf[SETTING_SIZE])
{
	if (listen->name == NULL)
		return METRICS;
	snprintf(buf, SETTING_SIZE, "listen '%s'", listen->name);
	return buf;
}

/* What an operator can do about errno. */
static const char *explain(const struct group *group)
{
	if (errno != EADDRINUSE)
		return "";
	if (group->is_inherited)
		return ": the inherited socket can be shared only by the user that opened it: "
		       "start runneld as that user, or set workers = 1";
	return ": another process listens there, or a connection of this machine has the port "
	       "(ss -tanp shows it)";
}

static enum status prepare(struct sockets *sockets, const struct listen_settings *listen,
    const char *address, unsigned int n, struct reason *why)
{
	const struct socket_options options = options_of(listen);
	struct group *group = claim(sockets, listen->name, address);
	bool is_new = group == NULL;
	char text[ENDPOINT_TEXT_SIZE], setting[SETTING_SIZE];
	enum status status = STATUS_OK;

	if (is_new) {
		group = group_new(sockets, make_key(listen->name, address));
		group->is_claimed = true;
		status = open_first(sockets, group, address, &options);
	}
	if (status == STATUS_OK)
		status = grow(group, &options, n);
	if (status != STATUS_OK)
		return reason_set(why, "%s: cannot listen on %s: %s%s",
		    setting_of(listen, setting), address, strerror(errno), explain(group));
	if (is_new)
		log_info("%s%s: listening on %s%s", listen->name != NULL ? "listen " : "",
		    listen->name != NULL ? listen->name : METRICS,
		    address_format(&group->addr, text),
		    group->is_inherited ? ", by an inherited socket" : "");
	return STATUS_OK;
}

/* What is done with the group of each address of settings. */
typedef enum status group_f(struct sockets *sockets, const struct listen_settings *listen,
    const char *address, unsigned int n, struct reason *why);

static enum status for_each_address(
    struct sockets *sockets, const struct settings *settings, group_f *act, struct reason *why)
{
	unclaim_all(sockets);
	for (size_t i = 0; i < settings->n_listeners; i++) {
		const struct listen_settings *listen = &settings->listeners[i];

		for (size_t j = 0; j < listen->n_addresses; j++) {
			enum status status =
			    act(sockets, listen, listen->addresses[j], settings->workers, why);

			if (status != STATUS_OK)
				return status;
		}
	}
	if (settings->metrics_address[0] != '\0')
		return act(sockets, &metrics_listener, settings->metrics_address, 1, why);
	return STATUS_OK;
}

enum status sockets_prepare(
    struct sockets *sockets, const struct settings *settings, struct reason *why)
{
	return for_each_address(sockets, settings, prepare, why);
}

/* Where the kernel chose the port, several addresses may have the same key. */
static struct group *find_group(struct sockets *sockets, const char *key,
    const struct sockaddr_storage *addr, socklen_t len)
{
	struct link *link;

	list_foreach(link, &sockets->groups) {
		struct group *group = container_of(link, struct group, link);

		if (strcmp(group->key, key) == 0 && group->len == len &&
		    memcmp(&group->addr, addr, len) == 0)
			return group;
	}
	return NULL;
}

void sockets_inherit(struct sockets *sockets, const char *key, int fd)
{
	struct sockaddr_storage addr = { 0 };
	socklen_t len = sizeof(addr);
	struct group *group;

	if (getsockname(fd, (struct sockaddr *)&addr, &len) < 0)
		len = 0;
	group = find_group(sockets, key, &addr, len);
	if (group == NULL) {
		group = group_new(sockets, must_strdup(key));
		group->addr = addr;
		group->len = len;
	}
	if (group->n_fds == SETTINGS_MAX_WORKERS) {
		close(fd);
		return;
	}
	group->fds[group->n_fds++] = fd;
	group->n_active = group->n_fds;
}

static size_t count_fds(const struct sockets *sockets)
{
	struct link *link;
	size_t n = 0;

	list_foreach(link, &sockets->groups)
		n += container_of(link, struct group, link)->n_fds;
	return n;
}

struct worker_socket *sockets_list(
    struct sockets *sockets, const struct settings *settings, size_t *n)
{
	struct worker_socket *list = must_alloc(count_fds(sockets), sizeof(*list));

	*n = 0;
	unclaim_all(sockets);
	for (size_t i = 0; i < settings->n_listeners; i++) {
		const struct listen_settings *listen = &settings->listeners[i];

		for (size_t j = 0; j < listen->n_addresses; j++) {
			struct group *group =
			    claim(sockets, listen->name, listen->addresses[j]);

			for (unsigned int k = 0; k < group->n_fds; k++)
				list[(*n)++] = (struct worker_socket){
					.listener = (unsigned int)i,
					.slot = k % settings->workers,
					.fd = group->fds[k],
				};
		}
	}
	return list;
}

int sockets_metrics(struct sockets *sockets, const struct settings *settings)
{
	const struct group *group;

	unclaim_all(sockets);
	group = claim(sockets, NULL, settings->metrics_address);
	return group != NULL ? group->fds[0] : -1;
}

static enum status activate(struct sockets *sockets, const struct listen_settings *listen,
    const char *address, unsigned int n, struct reason *why)
{
	const struct socket_options options = options_of(listen);
	struct group *group = claim(sockets, listen->name, address);
	char setting[SETTING_SIZE];

	(void)n;
	for (unsigned int i = 0; i < group->n_fds; i++) {
		if (listen_adjust(group->fds[i], &options) != STATUS_OK ||
		    (i >= group->n_active && listen_start(group->fds[i]) != STATUS_OK))
			return reason_set(why, "%s: cannot listen on %s: %s",
			    setting_of(listen, setting), address, strerror(errno));
		if (i >= group->n_active)
			group->n_active = i + 1;
	}
	return STATUS_OK;
}

enum status sockets_activate(
    struct sockets *sockets, const struct settings *settings, struct reason *why)
{
	return for_each_address(sockets, settings, activate, why);
}

void sockets_retain(struct sockets *sockets, const struct settings *settings)
{
	struct link *link, *after;

	unclaim_all(sockets);
	for (size_t i = 0; i < settings->n_listeners; i++) {
		for (size_t j = 0; j < settings->listeners[i].n_addresses; j++)
			claim(sockets, settings->listeners[i].name,
			    settings->listeners[i].addresses[j]);
	}
	claim(sockets, NULL, settings->metrics_address);
	list_foreach_safe(link, after, &sockets->groups) {
		struct group *group = container_of(link, struct group, link);

		if (group->is_claimed) {
			group_cut(group, group->n_active);
		} else {
			if (group->n_active > 0)
				log_info("listening on %s no more", group->key);
			group_destroy(group);
		}
	}
}

static bool is_among(int fd, const struct worker_socket *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (list[i].fd == fd)
			return true;
	}
	return false;
}

void sockets_close_others(
    const struct sockets *sockets, const struct worker_socket *own, size_t n_own)
{
	struct link *link;

	list_foreach(link, &sockets->groups) {
		const struct group *group = container_of(link, struct group, link);

		for (unsigned int i = 0; i < group->n_fds; i++) {
			if (!is_among(group->fds[i], own, n_own))
				close(group->fds[i]);
		}
	}
}

void sockets_each(const struct sockets *sockets, sockets_visit_f *visit, void *arg)
{
	struct link *link;

	list_foreach(link, &sockets->groups) {
		const struct group *group = container_of(link, struct group, link);

		for (unsigned int i = 0; i < group->n_active; i++)
			visit(group->key, group->fds[i], arg);
	}
}

void sockets_destroy(struct sockets **sockets)
{
	struct link *link, *after;

	if (*sockets == NULL)
		return;
	list_foreach_safe(link, after, &(*sockets)->groups)
		group_destroy(container_of(link, struct group, link));
	free(*sockets);
	*sockets = NULL;
}
