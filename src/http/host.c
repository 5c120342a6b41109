#include "config.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "http/host.h"

#define DIGITS "0123456789"

/* More than any name or address has, with its port. */
#define HOST_SIZE 272

/* Nothing, or a port. */
static bool is_port(const char *text)
{
	size_t n;

	if (text[0] == '\0')
		return true;
	n = strspn(text + 1, DIGITS);
	return text[0] == ':' && n <= 5 && text[1 + n] == '\0';
}

/* Copy the first len bytes; false: they are too many, or no text. */
static bool cut(const char *text, size_t len, char host[HOST_SIZE])
{
	if (len >= HOST_SIZE || memchr(text, '\0', len) != NULL)
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

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

bool host_is_accepted(const char *text, size_t len, const char *const *names, size_t n_names)
{
	struct in_addr address;
	char host[HOST_SIZE];
	size_t host_len;

	while (len > 0 && is_blank(text[len - 1]))
		len--;
	if (!cut(text, len, host))
		return false;
	if (host[0] == '[')
		return is_ipv6(host);
	host_len = strcspn(host, ":");
	if (!is_port(host + host_len))
		return false;
	host[host_len] = '\0';
	if (inet_pton(AF_INET, host, &address) == 1 || strcasecmp(host, "localhost") == 0)
		return true;
	for (size_t i = 0; i < n_names; i++) {
		if (names[i][0] != '\0' && strcasecmp(host, names[i]) == 0)
			return true;
	}
	return false;
}

const char *host_of_target(const char *target, size_t *len)
{
	static const char scheme[] = "http://";
	const char *host = target + strlen(scheme);

	if (strncasecmp(target, scheme, strlen(scheme)) != 0)
		return NULL;
	*len = strcspn(host, "/");
	return host;
}
