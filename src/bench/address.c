#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "bench/address.h"

/* 127.0.0.1 and those after it; 127.0.0.255 is left alone. */
#define LOOPBACK_SOURCES 254

/* Linux's default, for where /proc is not to be had. */
#define PORT_FIRST 32768
#define PORT_LAST 60999

/*
 * The kernel looks for a free port from a random one on, which takes ever longer as they run
 * out: a source address counts as full when four fifths are taken.
 */
static uint32_t usable_ports(void)
{
	unsigned int first = PORT_FIRST, last = PORT_LAST;
	FILE *file = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");

	if (file != NULL) {
		if (fscanf(file, "%u %u", &first, &last) != 2 || last < first || last > 65535) {
			first = PORT_FIRST;
			last = PORT_LAST;
		}
		fclose(file);
	}
	return (last - first + 1) * 4 / 5 + 1;
}

static void write_text(struct address *address)
{
	char host[INET6_ADDRSTRLEN] = "?";
	const struct sockaddr_in *ipv4 = &address->socket.ipv4;
	const struct sockaddr_in6 *ipv6 = &address->socket.ipv6;

	if (address->socket.any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &ipv4->sin_addr, host, sizeof(host));
		snprintf(address->text, sizeof(address->text), "%s:%u", host,
		    (unsigned int)ntohs(ipv4->sin_port));
	} else {
		inet_ntop(AF_INET6, &ipv6->sin6_addr, host, sizeof(host));
		snprintf(address->text, sizeof(address->text), "[%s]:%u", host,
		    (unsigned int)ntohs(ipv6->sin6_port));
	}
}

static bool is_ipv4_loopback(const struct address *address)
{
	return address->socket.any.sa_family == AF_INET &&
	       ntohl(address->socket.ipv4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

enum status address_resolve(
    struct address *address, const char *host, const char *service, struct reason *why)
{
	const struct addrinfo hints = {
		.ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_ADDRCONFIG,
	};
	struct addrinfo *found;
	int error = getaddrinfo(host, service, &hints, &found);

	if (error != 0)
		return reason_set(why, "%s:%s: %s", host, service, gai_strerror(error));
	if (found->ai_addrlen > sizeof(address->socket)) {
		freeaddrinfo(found);
		return reason_set(why, "%s:%s: neither IPv4 nor IPv6", host, service);
	}
	*address = (struct address){ .len = found->ai_addrlen, .n_sources = 1 };
	memcpy(&address->socket, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	if (is_ipv4_loopback(address))
		address->n_sources = LOOPBACK_SOURCES;
	address->n_per_source = usable_ports();
	write_text(address);
	return STATUS_OK;
}

/* IP_BIND_ADDRESS_NO_PORT leaves the port to connect(). */
static enum status bind_source(int fd, uint32_t source)
{
	static const int on = 1;
	struct sockaddr_in from = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + source),
	};

	if (setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof(on)) < 0 ||
	    bind(fd, (struct sockaddr *)&from, sizeof(from)) < 0)
		return STATUS_ERRNO;
	return STATUS_OK;
}

enum status address_connect(const struct address *address, int fd, uint32_t source)
{
	if (address->n_sources > 1 && bind_source(fd, source) != STATUS_OK)
		return STATUS_ERRNO;
	if (connect(fd, &address->socket.any, address->len) < 0 && errno != EINPROGRESS)
		return STATUS_ERRNO;
	return STATUS_OK;
}
