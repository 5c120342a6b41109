#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/units.h"

#include "settings/address.h"

static enum status port_parse(const char *text, in_port_t *port)
{
	int64_t number;

	/* units_parse_number takes a sign, which no port has. */
	if (strspn(text, "0123456789") != strlen(text) ||
	    units_parse_number(text, &number) != STATUS_OK || number > UINT16_MAX)
		return STATUS_INVALID;
	*port = htons((uint16_t)number);
	return STATUS_OK;
}

static enum status ipv4_parse(
    const char *host, const char *port, struct sockaddr_storage *address, socklen_t *len)
{
	struct sockaddr_in in = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, host, &in.sin_addr) != 1 ||
	    port_parse(port, &in.sin_port) != STATUS_OK)
		return STATUS_INVALID;
	memcpy(address, &in, sizeof(in));
	*len = sizeof(in);
	return STATUS_OK;
}

static enum status ipv6_parse(
    const char *host, const char *port, struct sockaddr_storage *address, socklen_t *len)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET6, host, &in6.sin6_addr) != 1 ||
	    port_parse(port, &in6.sin6_port) != STATUS_OK)
		return STATUS_INVALID;
	memcpy(address, &in6, sizeof(in6));
	*len = sizeof(in6);
	return STATUS_OK;
}

bool address_is_unix(const char *text)
{
	return strncmp(text, ADDRESS_UNIX, strlen(ADDRESS_UNIX)) == 0;
}

/* Absolute, for the daemon leaves the directory it was started in. */
static enum status unix_parse(
    const char *path, struct sockaddr_storage *address, socklen_t *len)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	if (path[0] != '/' || path[1] == '\0' || strlen(path) >= sizeof(un.sun_path))
		return STATUS_INVALID;
	strcpy(un.sun_path, path);
	memcpy(address, &un, sizeof(un));
	*len = sizeof(un);
	return STATUS_OK;
}

enum status address_parse(const char *text, struct sockaddr_storage *address, socklen_t *len)
{
	char host[ADDRESS_TEXT_SIZE];
	char *colon;

	if (strlen(text) >= sizeof(host))
		return STATUS_INVALID;
	memset(address, 0, sizeof(*address));
	if (address_is_unix(text))
		return unix_parse(text + strlen(ADDRESS_UNIX), address, len);
	strcpy(host, text);
	colon = strrchr(host, ':');
	if (colon == NULL)
		return STATUS_INVALID;
	*colon = '\0';
	if (host[0] != '[')
		return ipv4_parse(host, colon + 1, address, len);
	if (colon[-1] != ']')
		return STATUS_INVALID;
	colon[-1] = '\0';
	return ipv6_parse(host + 1, colon + 1, address, len);
}

const char *address_format(const struct sockaddr_storage *address, char buf[ADDRESS_TEXT_SIZE])
{
	char host[INET6_ADDRSTRLEN];

	if (address->ss_family == AF_INET) {
		struct sockaddr_in in;

		memcpy(&in, address, sizeof(in));
		inet_ntop(AF_INET, &in.sin_addr, host, sizeof(host));
		snprintf(buf, ADDRESS_TEXT_SIZE, "%s:%u", host, ntohs(in.sin_port));
	} else if (address->ss_family == AF_INET6) {
		struct sockaddr_in6 in6;

		memcpy(&in6, address, sizeof(in6));
		inet_ntop(AF_INET6, &in6.sin6_addr, host, sizeof(host));
		snprintf(buf, ADDRESS_TEXT_SIZE, "[%s]:%u", host, ntohs(in6.sin6_port));
	} else if (address->ss_family == AF_UNIX) {
		struct sockaddr_un un;

		memcpy(&un, address, sizeof(un));
		snprintf(buf, ADDRESS_TEXT_SIZE, ADDRESS_UNIX "%.*s", (int)sizeof(un.sun_path),
		    un.sun_path);
	} else {
		snprintf(buf, ADDRESS_TEXT_SIZE, "unknown");
	}
	return buf;
}
