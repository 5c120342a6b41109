/*
 * A client: a blocking socket whose every wait has a deadline, and frames put
 * together byte by byte, by code that shares nothing with the daemon's.
 */
#ifndef TESTS_SYSTEM_CLIENT_H
#define TESTS_SYSTEM_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "system/wait.h"

/* Bytes that grow. Zeroed at first; bytes_free() at the end. */
struct bytes {
	uint8_t *data;
	size_t len, size;
};

void bytes_add(struct bytes *bytes, const void *data, size_t len);
void bytes_add_be32(struct bytes *bytes, uint32_t value);
void bytes_add_le32(struct bytes *bytes, uint32_t value);
void bytes_add_tlv(struct bytes *bytes, uint32_t id, const void *payload, size_t len);
void bytes_add_ltv(struct bytes *bytes, uint32_t id, const void *payload, size_t len);
/* A TLV frame whose payload is len bytes that depend on seed, the first four being seed. */
void bytes_add_filled(struct bytes *bytes, uint32_t id, uint32_t seed, size_t len);
void bytes_free(struct bytes *bytes);

/* Connect to 127.0.0.1:port, or fail the test. */
int client_connect(uint16_t port);

/* The same with a small receive buffer, for a client that does not read, or slowly. */
int client_connect_small(uint16_t port);

/* Connect; -1 when that is refused or reset. */
int client_try_connect(uint16_t port);

/* Send it all. */
void client_send(int fd, const void *data, size_t len);

/* Send all of one, or as much as is taken until the connection ends: false. */
bool client_try_send(int fd, const void *data, size_t len);

/* Send until the peer takes no more for ms; the number of bytes that were taken. */
size_t client_send_until_stalled(int fd, const void *data, size_t len, int ms);

/* Receive exactly len bytes. */
void client_receive(int fd, void *data, size_t len);

/* Receive exactly these bytes. */
void client_expect(int fd, const struct bytes *expected);

/* Send and receive at the same time, so that neither side can block the other. */
void client_exchange(int fd, const struct bytes *request, const struct bytes *expected);

/* One TLV frame: its id and at most size bytes of payload, whose length is returned. */
size_t client_receive_tlv(int fd, uint32_t *id, void *payload, size_t size);

/* The end in order: EOF, and nothing before it. */
void client_expect_eof(int fd);

/* The end in disorder: a reset. What arrives before it is passed over. */
void client_expect_reset(int fd);

/* Any end; what arrives before it is passed over. Returns how many bytes that was. */
size_t client_expect_end(int fd);

/* Echo a frame with this text and expect it back: the connection is served. */
void client_ping(int fd, const char *text);

/* Whether a ping is answered; false: the connection ended. */
bool client_try_ping(int fd);

/* Close so that the peer gets a reset. */
void client_reset(int fd);

/* Wait until the daemon has read every byte that was sent (not only its kernel received them).
 */
void client_await_read(int fd);

/*
 * A port that nobody uses now, outside the range the kernel picks from; another with each call.
 * It is this process's, as far as tests go, until it ends.
 */
uint16_t client_free_port(void);

#endif
