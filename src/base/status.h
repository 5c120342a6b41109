/*
 * How an expected failure is told from room to room. Each value is one thing
 * that a caller can decide on; system calls keep errno beside STATUS_ERRNO.
 */
#ifndef RUNNEL_BASE_STATUS_H
#define RUNNEL_BASE_STATUS_H

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))

enum status {
	STATUS_OK = 0,
	STATUS_NOMEM,   /* an allocation failed */
	STATUS_ERRNO,   /* a system call failed, errno says how */
	STATUS_INVALID, /* the input breaks a rule; a text says which */
};

/* Why something was refused, for a person: "runnel.conf:12: listen main: ...". */
struct reason {
	char text[512];
};

/* Write a reason; a longer text is cut. Returns STATUS_INVALID, for `return reason_set(...)`.
 */
enum status reason_set(struct reason *reason, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
