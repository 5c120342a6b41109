/*
 * Servers for the tests of runnel-bench: a small one that echoes TLV frames of 20
 * bytes (--echo 12) and does one thing wrong, and the floor.
 */
#ifndef RUNNEL_TESTS_SYSTEM_BENCH_SERVER_H
#define RUNNEL_TESTS_SYSTEM_BENCH_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The size of a frame that the small server understands. */
#define BENCH_FRAME 20

/* The size of the one frame (--echo 16M) that FAULT_SATED echoes on each connection. */
#define BENCH_SATED (8 + ((size_t)16 << 20))

/* A connection that shows its fault at a request does so at its fourth, and is right before. */
enum fault {
	FAULT_NONE,
	FAULT_TRICKLE,      /* none, but each reply comes byte by byte */
	FAULT_WRONG_ID,     /* one bit is wrong: in the id */
	FAULT_WRONG_LENGTH, /* in the length */
	FAULT_WRONG_BYTE,   /* in the last byte of the payload */
	FAULT_SWAP,         /* two replies in the wrong order, at the first request */
	FAULT_TWICE,        /* each reply comes twice */
	FAULT_UNASKED,      /* says hello */
	FAULT_CLOSE,        /* closes the connection instead of a reply */
	FAULT_HALF,         /* closes it after half a reply */
	FAULT_RESET,        /* resets it instead of a reply */
	FAULT_HANG,         /* no reply, and none after it */
	FAULT_SILENT,       /* never a reply */
	FAULT_DEAF,         /* never reads */
	FAULT_SIP,          /* reads a little from time to time; no reply */
	FAULT_SATED,        /* echoes BENCH_SATED bytes and reads no more */
	FAULT_DROP,         /* accepts and closes */
	FAULT_DIE,          /* the server ends at its tenth request */
	FAULT_FULL,         /* never accepts, and the backlog is full */
};

/* In shared memory: what the small server has seen. */
struct bench_server_counts {
	uint32_t accepted, requests;
};

struct bench_server {
	pid_t pid;
	char address[32]; /* "127.0.0.1:PORT" */
	struct bench_server_counts *counts;
};

/* Start one on a free port; it serves when this returns. It ends with the test. */
void bench_server_start(struct bench_server *server, enum fault fault);
void bench_server_start_floor(struct bench_server *server);

void bench_server_end(struct bench_server *server);

/* No server: its address is bound by the descriptor that is returned, and nobody listens. */
int bench_server_hold_port(struct bench_server *server);

#endif
