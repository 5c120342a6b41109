#include "config.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "http/host.h"

#define DIGITS "0123456789"

/* More than any name or address has. */
#define HOST_SIZE 256

/* Nothing, or a port. */
static bool is_port(const char *text)
{
	size_t n;

	if (text[0] == '\0')
		return true;
	n = strspn(text + 1, DIGITS);
	return text[0] == ':' && n <= 5 && text[1 + n] == '\0';
}

/* Copy the first len bytes; false: they are too many. */
static bool cut(const char *text, size_t len, char host[HOST_SIZE])
{
	if (len >= HOST_SIZE)
		return false;
	memcpy(host, text, len);
	host[len] = '\0';
	return true;
}

static bool is_ipv6(const char *text)
{
	const char *end = strchr(text, ']');
	struct in6_addr address;
	char host[HOST_SIZE];

	return end != NULL && is_port(end + 1) &&
	       cut(text + 1, (size_t)(end - text - 1), host) &&
	       inet_pton(AF_INET6, host, &address) == 1;
}

bool host_is_accepted(const char *text, const char *const *names, size_t n_names)
{
	size_t len = strcspn(text, ":");
	struct in_addr address;
	char host[HOST_SIZE];

	if (text[0] == '[')
		return is_ipv6(text);
	if (!is_port(text + len) || !cut(text, len, host))
		return false;
	if (inet_pton(AF_INET, host, &address) == 1 || strcasecmp(host, "localhost") == 0)
		return true;
	for (size_t i = 0; i < n_names; i++) {
		if (names[i][0] != '\0' && strcasecmp(host, names[i]) == 0)
			return true;
	}
	return false;
}
