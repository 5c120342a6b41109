/*
 * The descriptors that the master gives to the HTTP helper, beside /dev/null as its standard
 * output and a pipe to the master's log as its standard error.
 */
#ifndef RUNNEL_CALL_FDS_H
#define RUNNEL_CALL_FDS_H

/* A pipe, which nobody writes to. Its end says: take no more connections, and end. */
#define HTTP_FD_LIFE 0

/* A socket that listens. */
#define HTTP_FD_LISTENER 3

/* A client of the control protocol. Its end: the master is gone. */
#define HTTP_FD_MASTER 4

#endif
