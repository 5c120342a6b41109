/*
 * What the module "probe" does, by message id. Numbers are big-endian; "conn" is
 * the u64 id of a connection of the same worker. A command that sends nothing
 * else answers PROBE_RESULT, u32.
 */
#ifndef TESTS_SYSTEM_PROBE_H
#define TESTS_SYSTEM_PROBE_H

enum {
	PROBE_RESULT = 1,     /* u32: a number, or a status as int32 */
	PROBE_ECHO = 7,       /* the same back */
	PROBE_BUSY = 8,       /* u32 microseconds of work, then the same back */
	PROBE_WHO = 10,       /* text: "id worker peer listener" */
	PROBE_FIND = 11,      /* conn -> 1 when it is found */
	PROBE_COUNT = 12,     /* -> how many connections the worker has */
	PROBE_COUNTS = 13,    /* text: "asked taken refused writable" of this connection */
	PROBE_OPTIONS = 14,   /* text: "number size duration flag text" */
	PROBE_MALFORMED = 15, /* rnl_malformed(); no answer */
	/* Sending. PROBE_PUSH carries u32 number, and zeros up to its size. */
	PROBE_PUSH = 20,
	PROBE_SEND_TO = 21,    /* conn, u32 n: pushes 0 to n-1 -> how many were taken */
	PROBE_TIMER_SEND = 22, /* conn, u32 n: the same from a timer; no answer */
	PROBE_BROADCAST = 23,  /* u32 n: pushes 0 to n-1 to all of the worker; no answer */
	PROBE_SHARED = 24,     /* u32 n, u32 size: the same, each in one copy */
	PROBE_FLOOD = 25,      /* u32 n, u32 size: n pushes of size bytes -> taken */
	PROBE_SIZED = 26,      /* u32 size: one push of size bytes -> status */
	PROBE_PARTS = 27,      /* an echo, of one part for each byte and empty parts between */
	PROBE_IN_PLACE = 28, /* an echo, written where it stands, in more room than it needs */
	PROBE_FORGET = 29,   /* room is reserved and forgotten, then an echo */
	/* Closing. */
	PROBE_CLOSE = 40,         /* u32 n: n pushes of 1,000 bytes, then rnl_close() */
	PROBE_CLOSE_VERDICT = 41, /* an echo, then RNL_CLOSE */
	PROBE_ABORT = 42,         /* an echo, then rnl_abort() */
	PROBE_ABORT_VERDICT = 43, /* an echo, then RNL_ABORT */
	PROBE_CLOSE_OTHER = 44,   /* conn -> 0 */
	PROBE_ABORT_OTHER = 45,   /* conn -> 0 */
	PROBE_TIMER_CLOSE = 46,   /* conn: rnl_close() from a timer; no answer */
	PROBE_CLOSE_ALL = 47,     /* an echo to all of the worker, then rnl_close() of all */
	PROBE_ABORT_ALL = 48,     /* rnl_abort() of all */
	PROBE_EXIT = 49,          /* u32: _exit() with it */
	PROBE_CRASH = 50,         /* abort() */
	PROBE_MISUSE = 51,        /* u32 PROBE_MISUSE_...: a call that may not be made */
	/* Chains of handlers; each stage adds its letter, b, h or a, to a text. */
	PROBE_CHAIN = 60,       /* text: the stages that ran before the answer */
	PROBE_CHAIN_DONE = 61,  /* the stage before answers, and says RNL_DONE */
	PROBE_CHAIN_CLOSE = 62, /* the stage before says RNL_CLOSE */
	PROBE_CHAIN_BARE = 63,  /* has stages before and after, but no handler */
};

enum {
	PROBE_MISUSE_RELEASE,
	PROBE_MISUSE_COMMIT,
	PROBE_MISUSE_TIMER,
	PROBE_MISUSE_GET,
	PROBE_MISUSE_NEXT,
	PROBE_MISUSE_END
};

#endif
