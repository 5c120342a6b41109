/*
 * Standard input, output and error.
 */
#ifndef RUNNEL_BASE_STREAMS_H
#define RUNNEL_BASE_STREAMS_H

/* Make /dev/null of all three: a daemon lets the terminal go. */
void streams_to_null(void);

/* Open /dev/null where a stream is closed, so that no socket or file gets its number. */
void streams_ensure(void);

#endif
