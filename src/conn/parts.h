/*
 * What the files of this room share: the steps of a connection's turn, in the
 * order of the data path.
 */
#ifndef RUNNEL_CONN_PARTS_H
#define RUNNEL_CONN_PARTS_H

#include "conn/conn.h"

/* conn.c: as conn_new(), with an id that is given, not counted, and without its open hooks. */
enum status conn_make(struct conn_table *table, const struct listener *listener, int fd,
    const struct endpoint *peer, uint64_t id, struct rnl_conn **conn) MUST_CHECK;

/* conn.c: undo that: without close hooks, not counted. Its descriptor is closed. */
void conn_unmake(struct rnl_conn *conn);

/* conn.c: write down what the worker is about to do with it. */
void conn_do(struct rnl_conn *conn, enum doing_what what, unsigned int module);

/* read.c: read once and serve the frames; or, LINGERING, read and drop. */
void conn_read(struct rnl_conn *conn);

/*
 * read.c: serve frames of a view of its input, as many as its turn allows, and keep the rest.
 * began_ns is table_turn().
 */
void conn_serve(struct rnl_conn *conn, const struct view *view, uint64_t began_ns);

/* send.c: write all that is queued, as far as the kernel takes it. */
void conn_drain(struct rnl_conn *conn);

/* send.c: queue a shared frame for a connection that is open, or refuse it. */
enum rnl_status conn_push(struct rnl_conn *conn, struct shared_frame *frame);

/* send.c: worker-send-memory has no room for a message in its framing. Returns RNL_EFULL. */
enum rnl_status conn_refuse_copy(struct rnl_conn *conn);

/* send.c: its framing has no frame for this message: log that. Returns RNL_EINVAL. */
enum rnl_status conn_refuse_message(struct rnl_conn *conn, uint32_t id, size_t len);

/*
 * send.c: if there is room again, resume what waited for it: the module's sends and the
 * requests.
 */
void conn_relieve(struct rnl_conn *conn);

/*
 * conn.c: it is stopping, and so many bytes more were read of what had come by then. All of it
 * is its last input.
 */
void conn_count_off(struct rnl_conn *conn, size_t n_bytes);

/* conn.c: one of the reasons why its requests were not served has ended. */
void conn_go_on(struct rnl_conn *conn);

/* conn.c: why a connection whose socket failed with this errno ends. */
enum close_reason conn_reason_of(int error);

/* deadline.c: see to it that conn_expire() is called in time. */
void conn_set_deadline(struct rnl_conn *conn);

/* heartbeat.c: it is time for a heartbeat. */
void conn_beat(struct rnl_conn *conn);

/* heartbeat.c: nothing has come for heartbeat-timeout. */
void conn_judge_silence(struct rnl_conn *conn);
/* connect.c: an outgoing connection has begun; it has ended. Before the modules' hooks. */
void connector_up(struct rnl_conn *conn);
void connector_down(struct rnl_conn *conn);

/* conn.c: the last step of each turn. It may be gone afterwards. */
void conn_settle(struct rnl_conn *conn);

#endif
