/*
 * A connection on its way from one worker to another: everything but the
 * descriptor as one message. It keeps its id, its place in a frame, and what its
 * modules have saved.
 */
#ifndef RUNNEL_CONN_MOVING_H
#define RUNNEL_CONN_MOVING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "conn/conn.h"

/* The longest message. A connection that needs more does not move. */
#define MOVING_SIZE (64 * 1024)

/* Longest description of a listener, with its end. */
#define MOVING_OFFER_SIZE 4096

/*
 * What two listeners have in common that can pass connections on to each other:
 * name, framing with its parameters, and modules. False: its connections do not move, since a module
 * of it cannot save and restore them.
 */
bool moving_describe(const struct listener *listener, char text[MOVING_OFFER_SIZE]);

/*
 * Write the message of a connection that is between two turns with nothing to
 * send. Calls the save hooks. Returns its length; 0: it does not move now.
 */
size_t moving_pack(struct rnl_conn *conn, uint8_t message[MOVING_SIZE]);

/*
 * Make the connection of a message on fd, which is the table's from now on, also
 * on failure. It counts from now on, but is not served yet: moving_resume() or
 * moving_undo() has to follow before the loop goes on. STATUS_INVALID: no such listener, or a message
 * of another version; STATUS_NOMEM, STATUS_ERRNO.
 */
enum status moving_unpack(struct conn_table *table, const struct listener listeners[],
    size_t n_listeners, const uint8_t *message, size_t len, int fd,
    struct rnl_conn **conn) MUST_CHECK;

/*
 * Go on with the connection of the message. Calls the restore hooks; a module that
 * refuses ends the connection. It may be gone afterwards.
 */
void moving_resume(struct rnl_conn *conn, const uint8_t *message, size_t len);

/* It goes back where it was: close the descriptor here, and call no hook. */
void moving_undo(struct rnl_conn *conn);

#endif
