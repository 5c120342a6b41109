#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "system/client.h"
#include "system/probe.h"

void probe_send(int fd, uint32_t command, unsigned n, ...)
{
	struct bytes request = { 0 };
	va_list words;

	bytes_add_be32(&request, command);
	bytes_add_be32(&request, n * 4);
	va_start(words, n);
	for (unsigned i = 0; i < n; i++)
		bytes_add_be32(&request, va_arg(words, uint32_t));
	va_end(words);
	client_send(fd, request.data, request.len);
	bytes_free(&request);
}

uint32_t probe_result(int fd)
{
	uint8_t word[4];
	uint32_t id;

	ck_assert_uint_eq(client_receive_tlv(fd, &id, word, sizeof(word)), 4);
	ck_assert_uint_eq(id, PROBE_RESULT);
	return (uint32_t)word[0] << 24 | (uint32_t)word[1] << 16 | (uint32_t)word[2] << 8 |
	       word[3];
}

const char *probe_text(int fd, uint32_t command, char text[PROBE_TEXT_SIZE])
{
	uint32_t id;
	size_t len = client_receive_tlv(fd, &id, text, PROBE_TEXT_SIZE - 1);

	ck_assert_uint_eq(id, command);
	text[len] = '\0';
	return text;
}

struct identity probe_who(int fd)
{
	char text[PROBE_TEXT_SIZE];
	struct identity identity;

	probe_send(fd, PROBE_WHO, 0);
	probe_text(fd, PROBE_WHO, text);
	ck_assert_int_eq(sscanf(text, "%" SCNu64 " %u %63s %63s", &identity.id,
			     &identity.worker, identity.peer, identity.listener),
	    4);
	return identity;
}

int probe_connect_to_worker(uint16_t port, unsigned worker)
{
	uint64_t end_ms = wait_now_ms() + DEADLINE_MS;

	for (;;) {
		int fd = client_connect(port);

		if (probe_who(fd).worker == worker)
			return fd;
		close(fd);
		ck_assert_msg(
		    wait_now_ms() < end_ms, "no connection came to worker %u", worker);
	}
}
