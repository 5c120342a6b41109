/*
 * A server that a daemon connects to, played by the test: each connection is a
 * blocking socket, to be used with client.h.
 */
#ifndef TESTS_SYSTEM_BACKEND_H
#define TESTS_SYSTEM_BACKEND_H

#include <stddef.h>
#include <stdint.h>

#define BACKEND_CROWD 8
struct backend {
	int fd; /* listening */
	uint16_t port;
	int crowd[BACKEND_CROWD]; /* what keeps it from answering; 0: nothing */
};

/* Listens on a port of its own. */
void backend_open(struct backend *backend);

/* The same, and who connects gets no answer: it takes no more than there are already. */
void backend_open_crowded(struct backend *backend);

/* The next connection, or the test fails. */
int backend_accept(const struct backend *backend);

void backend_close(struct backend *backend);

/* A request as it came to a backend, or a reply that a client got. */
#define MESSAGE_SIZE 512
struct message {
	uint32_t id;
	size_t len;
	uint8_t payload[MESSAGE_SIZE];
};

/* Receive one TLV frame. */
struct message message_receive(int fd);

/* Send it as it is. */
void message_send(int fd, const struct message *message);

/* Send a text. */
void message_say(int fd, uint32_t id, const char *text);

/* The payload from offset on is this text, and the id this. */
void message_expect(
    const struct message *message, uint32_t id, size_t offset, const char *text);

#endif
