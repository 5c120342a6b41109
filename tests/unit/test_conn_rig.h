/*
 * A worker's data path in one process: a loop, a table, a listener, and a module
 * whose hooks a test sets. There is one rig; rig_set_up() makes it anew for each
 * test and rig_tear_down() checks that nothing is left.
 *
 * The far end of a connection is a peer, whose frames are put together and taken
 * apart here by code that shares nothing with the daemon's.
 */
#ifndef RUNNEL_TESTS_UNIT_TEST_CONN_RIG_H
#define RUNNEL_TESTS_UNIT_TEST_CONN_RIG_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <runnel/module.h>

#include "base/clock.h"
#include "conn/conn.h"
#include "conn/listener.h"
#include "conn/table.h"
#include "settings/settings.h"

/* For what takes milliseconds on a quiet machine, and must not fail on a busy one. */
#define DEADLINE_MS 20000

/* Bytes of a frame's header. */
#define HEAD 8

typedef enum rnl_verdict handle_f(struct rnl_conn *conn, const struct rnl_msg *msg);
typedef void hook_f(struct rnl_conn *conn);

struct rig {
	struct ev_loop *loop;
	ev_timer pulse;          /* each millisecond while rig_wait() waits */
	struct slot_page *pages; /* two: the second is another worker's; owned */
	struct conn_table *table;
	struct listen_settings
	    settings; /* read on each use, so a test may change them at any time */
	struct listener listener;
	struct rnl_module module;
	struct listener_module modules[1];
	handle_f *handle;                /* of all ids but RIG_UNKNOWN; at first rig_echo() */
	hook_f *open, *writable, *close; /* at first NULL */
	bool is_watch_refused;           /* the kernel watches no more descriptors */
	unsigned n_accepts_refused;      /* the next accept4(2) so often finds no descriptor */
	unsigned n_handled, n_opened, n_writable, n_closed;
	char log[64]; /* the log file's path */
};

/* An id without handler. */
#define RIG_UNKNOWN UINT32_MAX

extern struct rig rig;

void rig_set_up(void);

/* Every connection must have been closed exactly once, and no memory be held. */
void rig_tear_down(void);

/* The reply is what was asked. */
handle_f rig_echo;

/* One turn of the loop, which does not sleep. */
void rig_turn(void);

/* One turn of the loop, which sleeps for a millisecond at most. */
void rig_wait(void);

#define RIG_UNTIL(condition)                                                                   \
	do {                                                                                   \
		uint64_t rig_end_ms = clock_ms() + DEADLINE_MS;                                \
		while (!(condition)) {                                                         \
			if (clock_ms() > rig_end_ms)                                           \
				ck_abort_msg("not within %d ms: %s", DEADLINE_MS, #condition); \
			rig_wait();                                                            \
		}                                                                              \
	} while (0)

/* Run the loop for a time in which something must not happen, or must go on happening. */
#define RIG_FOR_MS(ms, condition)                                                         \
	do {                                                                              \
		for (uint64_t rig_end_ms = clock_ms() + (ms); clock_ms() < rig_end_ms;) { \
			ck_assert(condition);                                             \
			rig_wait();                                                       \
		}                                                                         \
	} while (0)

#define rig_counter(name) counter_read(rig.table->seat->counters.name)
#define rig_closed(reason) rig_counter(closed[CLOSE_REASON_##reason])

/* How many lines of the log hold text. */
unsigned rig_n_logged(const char *text);

/* A queue may hold so much. */
void rig_limit_queue(uint32_t max_messages, uint32_t max_bytes);

struct peer {
	int fd;                /* -1: closed */
	struct rnl_conn *conn; /* the near end, which may be gone */
	uint64_t id;
	uint8_t *got; /* all that was read, owned */
	size_t n_got, got_size;
	bool is_over; /* the end was read: */
	int end;      /* 0: EOF, or errno */
};

/* Over a socketpair that takes some kilobytes. Returns peer. */
struct peer *peer_open(struct peer *peer);

/* Over loopback TCP. */
struct peer *peer_open_tcp(struct peer *peer);

/* Closes what is open, frees all. */
void peer_end(struct peer *peer);

/* Close the far end, by a reset if it is TCP. */
void peer_reset(struct peer *peer);

/* Write it all, running the loop while it does not fit. */
void peer_write(struct peer *peer, const void *bytes, size_t len);

/*
 * Write one frame whose payload is len bytes that depend on the id; or n frames, with ids from
 * first on.
 */
void peer_send(struct peer *peer, uint32_t id, size_t len);
void peer_send_many(struct peer *peer, uint32_t first, unsigned n, size_t len);

/* Read what has come: all, or up to n bytes of it. */
void peer_read(struct peer *peer);
void peer_read_some(struct peer *peer, size_t n);

/* Whether reading now, all there is, has found the end. */
bool peer_has_end(struct peer *peer);

/* The whole frames that were read; what is behind the last must be the start of one. */
unsigned peer_n_frames(const struct peer *peer);

/* Frame i of those: returns its payload. */
const uint8_t *peer_frame(const struct peer *peer, unsigned i, uint32_t *id, size_t *len);

/* What was read is n whole frames with ids from first on, as made by fill(); and nothing else. */
void peer_expect(const struct peer *peer, uint32_t first, unsigned n, size_t len);

/* The payload of peer_send(): len bytes that depend on the id. */
void fill(uint8_t *payload, uint32_t id, size_t len);

/* conn_send() with such a payload. */
enum rnl_status send_filled(struct rnl_conn *conn, uint32_t id, size_t len);

/* Send frames with ids from first on until one is refused; how many were taken. */
unsigned send_until_refused(struct rnl_conn *conn, uint32_t first, size_t len);

/*
 * Send until the kernel takes no more, and let the queue be settled. Ids from first on; how
 * many.
 */
unsigned send_until_blocked(struct rnl_conn *conn, uint32_t first, size_t len);

#endif
