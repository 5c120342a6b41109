/*
 * What the module "jobs" does, by message id. Numbers are big-endian u32; a job is
 * known by its number. A job of id GATED ends when the file of option gate is there, and
 * makes the file gate-reached when it begins to wait.
 */
#ifndef TESTS_SYSTEM_JOBS_H
#define TESTS_SYSTEM_JOBS_H

enum {
	JOBS_PLAIN = 1,    /* number, key; the same back when the job is done */
	JOBS_GATED = 2,    /* the same, when the gate is open */
	JOBS_IN_ORDER = 3, /* number: GATED, with the connection's id as the key */
	JOBS_LOOSE = 4,    /* number: GATED, and of no connection */
	JOBS_BAD = 5,      /* number, JOBS_CALL_...: a job that calls what it may not */
	JOBS_NOTHING = 6,  /* rnl_work() without functions -> REFUSED */
	JOBS_CLOSE = 7,    /* number: GATED, then rnl_close() */
	JOBS_REFUSED = 8,  /* what comes back when rnl_work() refuses: status */
	JOBS_AGAIN = 9,    /* number: PLAIN, whose done submits number - 1, and so on to 0 */
	JOBS_PING = 10,    /* the same back, at once */
	JOBS_SILENT = 11,  /* number, key: GATED, without a reply */
	JOBS_CRASH = 12,   /* number: a job whose done function calls abort() */
	JOBS_ABORT = 13,   /* a job that calls abort() when somebody waits at the gate */
	JOBS_FAULT = 14,   /* the same, but it writes where it may not */
	JOBS_DEPTH = 15,   /* the same, but it uses up its stack */
	JOBS_STALL = 16,   /* the handler itself waits at the gate */
};

enum { JOBS_CALL_LOG, JOBS_CALL_AGE, JOBS_CALL_IDLE, JOBS_CALL_STOP_TIMER };

#endif
