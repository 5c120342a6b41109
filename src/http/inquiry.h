/*
 * What is asked of the master, over the socket that it gave this process: the control protocol,
 * as runneld(8) describes it, without ever waiting. One request of a kind is under way at a
 * time, however many want its answer, and an answer is good for a moment.
 */
#ifndef RUNNEL_HTTP_INQUIRY_H
#define RUNNEL_HTTP_INQUIRY_H

#include <jansson.h>
#include <stdbool.h>

enum inquiry { INQUIRY_STATUS, INQUIRY_METRICS };
#define INQUIRY_N 2

struct inquiries;

/*
 * An answer has come. NULL: a failure, which error describes, or time has run out. Both are
 * borrowed.
 */
typedef void inquiry_answer_f(
    enum inquiry kind, const json_t *answer, const char *error, void *arg);

/* fd: of a socket, non-blocking; borrowed. Out of memory ends the process. */
struct inquiries *inquiries_new(int fd, inquiry_answer_f *on_answer, void *arg);

/* Is the last answer recent enough to be used once more? */
bool inquiry_is_fresh(const struct inquiries *inquiries, enum inquiry kind);

/*
 * Ask, if it is not being asked already. False: the master has not answered the last time for
 * so long that there is no use in waiting.
 */
bool inquiry_ask(struct inquiries *inquiries, enum inquiry kind);

/* Read what there is. False: the master is gone, or does not speak the protocol. */
bool inquiries_read(struct inquiries *inquiries);

/*
 * Tell of what is late, and ask now and then without need, so that the master knows that this
 * process is not stuck.
 */
void inquiries_tick(struct inquiries *inquiries);

/* Milliseconds until the next tick has something to do. */
int inquiries_timeout_ms(const struct inquiries *inquiries);

void inquiries_destroy(struct inquiries **inquiries);

#endif
