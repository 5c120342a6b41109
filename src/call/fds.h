/*
 * The descriptors that the master gives to the HTTP helper, beside /dev/null as its standard
 * input and output, and a pipe to the master's log as its standard error.
 */
#ifndef RUNNEL_CALL_FDS_H
#define RUNNEL_CALL_FDS_H

#define HTTP_FD_LISTENER 3
#define HTTP_FD_MASTER 4

#endif
