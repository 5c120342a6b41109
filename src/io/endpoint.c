#include "config.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "io/endpoint.h"

void endpoint_set(struct endpoint *endpoint, const struct sockaddr_storage *addr)
{
	*endpoint = (struct endpoint){
		.is_ipv6 = addr->ss_family == AF_INET6,
		.is_unix = addr->ss_family == AF_UNIX,
	};
	if (endpoint->is_unix)
		return;
	if (endpoint->is_ipv6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;

		memcpy(endpoint->address, &in6->sin6_addr, sizeof(in6->sin6_addr));
		endpoint->port = ntohs(in6->sin6_port);
	} else {
		const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

		memcpy(endpoint->address, &in->sin_addr, sizeof(in->sin_addr));
		endpoint->port = ntohs(in->sin_port);
	}
}

enum status endpoint_local(int fd, struct endpoint *endpoint)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);

	if (getsockname(fd, (struct sockaddr *)&addr, &len) < 0)
		return STATUS_ERRNO;
	endpoint_set(endpoint, &addr);
	return STATUS_OK;
}

const char *endpoint_format(const struct endpoint *endpoint, char text[ENDPOINT_TEXT_SIZE])
{
	struct sockaddr_storage addr = { .ss_family = endpoint->is_ipv6 ? AF_INET6 : AF_INET };

	if (endpoint->is_unix)
		return strcpy(text, "unix");
	if (endpoint->is_ipv6) {
		struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&addr;

		memcpy(&in6->sin6_addr, endpoint->address, sizeof(in6->sin6_addr));
		in6->sin6_port = htons(endpoint->port);
	} else {
		struct sockaddr_in *in = (struct sockaddr_in *)&addr;

		memcpy(&in->sin_addr, endpoint->address, sizeof(in->sin_addr));
		in->sin_port = htons(endpoint->port);
	}
	return address_format(&addr, text);
}
