#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/memory.h"
#include "io/listen.h"
#include "master/sockets.h"
#include "settings/address.h"

static size_t count_addresses(const struct settings *settings)
{
	size_t n = 0;

	for (size_t i = 0; i < settings->n_listeners; i++)
		n += settings->listeners[i].n_addresses;
	return n;
}

/* Open the group of one address; its sockets stand at `at` in the part of each slot. */
static enum status open_group(struct sockets *sockets, size_t at,
    const struct listen_settings *listen, unsigned int listener, const char *address,
    struct reason *why)
{
	int *fds = must_alloc(sockets->n_slots, sizeof(*fds));
	const struct socket_options options = {
		.notsent_lowat = listen->tcp_notsent_lowat,
		.user_timeout_ms = listen->tcp_user_timeout_ms,
		.send_buffer = listen->socket_send_buffer,
		.receive_buffer = listen->socket_receive_buffer,
	};
	char text[ENDPOINT_TEXT_SIZE];
	struct sockaddr_storage addr;
	struct endpoint bound;
	enum status status;
	socklen_t len;

	status = address_parse(address, &addr, &len);
	if (status == STATUS_OK)
		status = listen_open(&addr, len, &options, sockets->n_slots, fds, &bound);
	if (status != STATUS_OK) {
		reason_set(why, "listen '%s': cannot listen on %s: %s%s", listen->name, address,
		    strerror(errno),
		    errno == EADDRINUSE ? ": another process listens there" : "");
		free(fds);
		return STATUS_INVALID;
	}
	for (unsigned int slot = 0; slot < sockets->n_slots; slot++)
		sockets->list[slot * sockets->n_per_slot + at] =
		    (struct worker_socket){ .listener = listener, .fd = fds[slot] };
	free(fds);
	log_info("listen %s: listening on %s", listen->name, endpoint_format(&bound, text));
	return STATUS_OK;
}

enum status sockets_open(
    const struct settings *settings, struct sockets *sockets, struct reason *why)
{
	size_t at = 0, n;

	sockets->n_slots = settings->workers;
	sockets->n_per_slot = count_addresses(settings);
	n = sockets->n_slots * sockets->n_per_slot;
	sockets->list = must_alloc(n, sizeof(*sockets->list));
	for (size_t i = 0; i < n; i++)
		sockets->list[i].fd = -1;
	for (size_t i = 0; i < settings->n_listeners; i++) {
		const struct listen_settings *listen = &settings->listeners[i];

		for (size_t j = 0; j < listen->n_addresses; j++) {
			if (open_group(sockets, at++, listen, (unsigned int)i,
				listen->addresses[j], why) != STATUS_OK) {
				sockets_close(sockets);
				return STATUS_INVALID;
			}
		}
	}
	return STATUS_OK;
}

void sockets_close(struct sockets *sockets)
{
	for (size_t i = 0; i < sockets->n_slots * sockets->n_per_slot; i++) {
		if (sockets->list[i].fd >= 0)
			close(sockets->list[i].fd);
	}
	free(sockets->list);
	*sockets = (struct sockets){ 0 };
}
